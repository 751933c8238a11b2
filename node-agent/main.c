/* SPDX-License-Identifier: Apache-2.0 */
/* flamelet: whose CPU time it is, on a whole node, pod by pod. */
#include "base/err.h"
#include "cli/commands.h"

/* The first one is what `flamelet` without a command does. */
static const struct command commands[] = {
	{ "record", COMMAND_RECORD, cmd_record, "profile this machine into files" },
	{ "agent", COMMAND_AGENT, cmd_agent, "profile all the time, send to an OTLP endpoint" },
	{ "doctor", COMMAND_DOCTOR, cmd_doctor, "what this host lacks, and what to do" },
	{ "version", COMMAND_VERSION, cmd_version, "the version" },
};

int main(int argc, char **argv)
{
	(void)argc;
	return commands_run(commands, array_len(commands), argv);
}

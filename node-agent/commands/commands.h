/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of flamelet, and how the requested one is found and run. */
#ifndef COMMANDS_COMMANDS_H
#define COMMANDS_COMMANDS_H

#include "config/options.h"

#include <stddef.h>

enum exit_status {
	STATUS_OK = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_NO_SAMPLES = 3,
};

struct command {
	const char *name;
	enum command_id id;
	int (*run)(const struct options *options); /* returns the exit status */
	const char *help; /* one line */
};

int cmd_record(const struct options *options);
int cmd_top(const struct options *options);
int cmd_agent(const struct options *options);
int cmd_allow_perf(const struct options *options);
int cmd_copy_heap(const struct options *options);
int cmd_diff(const struct options *options);
int cmd_query(const struct options *options);
int cmd_timeline(const struct options *options);
int cmd_findings(const struct options *options);
int cmd_ui(const struct options *options);
int cmd_ls(const struct options *options);
int cmd_pin(const struct options *options);
int cmd_dump(const struct options *options);
int cmd_export(const struct options *options);
int cmd_doctor(const struct options *options);
int cmd_health(const struct options *options);
int cmd_version(const struct options *options);

/* Runs the command in the arguments of main(), or the first command if none is named. Understands
 * "--help", "help COMMAND" and "--version" as well. `argv` ends with NULL. Returns the exit
 * status. */
int commands_run(const struct command *commands, size_t nr_commands, char **argv);

#endif

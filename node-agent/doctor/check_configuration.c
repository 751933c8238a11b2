/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether the agent would accept the configuration file. The doctor itself reads only the
 * options that it needs. */
#include "agent/target.h"
#include "base/cleanup.h"
#include "config/option_fields.h"
#include "config/option_loader.h"
#include "doctor/doctor.h"

#include <string.h>

#define MESSAGE_MAX_BYTES 4096

static int load_as_agent(const struct options *options, struct strbuf *message)
{
	_cleanup_(options_done) struct options agent = { 0 };
	char option[] = "-c", *args[] = { option, options->config_file };
	const struct options_input input = {
		.command = COMMAND_AGENT,
		.args = args,
		.nr_args = array_len(args),
		.service_account_dir = options->input.service_account_dir,
	};

	int r = options_load(&input, &agent, message);
	return r < 0 ? r : target_check_selection(&agent, message);
}

void check_configuration(const struct doctor_host *host, struct doctor_report *report)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);

	if (!host->options->config_file)
		return;
	int r = load_as_agent(host->options, &message);
	if (r < 0)
		doctor_report_add(report, FINDING_FAIL, "configuration",
				  "correct it: an agent does not start with it, and a running "
				  "agent keeps its old options",
				  "%s", message.len > 0 ? message.data : strerror(-r));
	else
		doctor_report_ok(report, "configuration", "%s", host->options->config_file);
}

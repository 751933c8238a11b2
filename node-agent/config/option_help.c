/* SPDX-License-Identifier: Apache-2.0 */
#include "config/option_help.h"

#include "config/option_table.h"

#define USUAL_COLUMNS 29 /* "      --container NAME|ID,..." */
#define ALL_COLUMNS 34 /* "      --debuginfod-cache-max BYTES" */

struct command_help {
	enum command_id command;
	const char *text;
};

/* The usage and examples above the options. */
static const struct command_help command_helps[] = {
	{ COMMAND_RECORD,
	  "flamelet [record] [OPTION]... [-- COMMAND]   profile this machine, write files\n"
	  "\n"
	  "  flamelet                                   the whole machine for 10 s\n"
	  "  flamelet -d 30s -p 1234 -o cpu.svg         one process, as a flame graph\n"
	  "  flamelet --pod shop/cart -o cart.pb.gz     one pod, for go tool pprof\n"
	  "  flamelet -o m.svg -- make -j4              a command, until it ends\n" },
	{ COMMAND_AGENT,
	  "flamelet agent [OPTION]...   profile continuously and send the profiles\n"
	  "\n"
	  "  flamelet agent --otlp-endpoint http://127.0.0.1:4318\n"
	  "  flamelet agent -c /etc/flamelet.yaml       with lines like \"frequency: 19\"\n"
	  "  OTEL_EXPORTER_OTLP_ENDPOINT=https://otel:4318 flamelet agent\n" },
	{ COMMAND_DOCTOR,
	  "flamelet doctor [OPTION]...   check whether this host can be profiled\n"
	  "\n"
	  "  flamelet doctor\n"
	  "  flamelet doctor -c /etc/flamelet.yaml      also checks kubelet and endpoint\n"
	  "  flamelet doctor --json | jq .ok\n" },
	{ COMMAND_EXPORT,
	  "flamelet export FILE... [OPTION]...   send recorded pprof files\n"
	  "\n"
	  "  flamelet export cpu.pb.gz --otlp-endpoint http://127.0.0.1:4318\n"
	  "  flamelet export a.pb.gz b.pb.gz --otlp-endpoint grpc://otel:4317 --at now\n"
	  "  flamelet export *.gz --exporter pyroscope --otlp-endpoint http://pyro:4040\n" },
	{ COMMAND_HEALTH,
	  "flamelet health [OPTION]...   check that the agent on this machine is alive\n"
	  "\n"
	  "  flamelet health --listen unix:/run/flamelet/http.sock\n"
	  "  flamelet health --ready -c /etc/flamelet.yaml   at the address in the file\n" },
	{ COMMAND_ALLOW_PERF,
	  "flamelet allow-perf [OPTION]...   lower kernel.perf_event_paranoid to 2\n"
	  "\n"
	  "Debian and Ubuntu set it to 3 or 4, which prevents profiling without\n"
	  "CAP_SYS_ADMIN. The change lasts until the next boot.\n"
	  "\n"
	  "  flamelet allow-perf\n"
	  "  flamelet allow-perf --paranoid-file /host/perf_event_paranoid   in a container\n" },
	{ COMMAND_VERSION, "flamelet version   print the version and the architecture\n" },
};

static void append_option(const struct option *option, int columns, struct strbuf *out)
{
	const char *metavar = option->metavar ? option->metavar : "";
	size_t start = out->len;

	if (option->letter)
		strbuf_appendf(out, "  -%c, --%s %s", option->letter, option->name, metavar);
	else
		strbuf_appendf(out, "      --%s %s", option->name, metavar);
	int missing = columns - (int)(out->len - start);
	strbuf_appendf(out, "%*s  %s", missing > 0 ? missing : 0, "", option->help);
	if (option->fallback)
		strbuf_appendf(out, " (default %s)", option->fallback);
	strbuf_append_char(out, '\n');
}

void options_help(enum command_id command, bool all, struct strbuf *out)
{
	for (size_t i = 0; i < array_len(command_helps); i++) {
		if (command_helps[i].command == command)
			strbuf_append_str(out, command_helps[i].text);
	}
	if (command == COMMAND_VERSION)
		return;
	strbuf_append_char(out, '\n');
	for (size_t i = 0; i < nr_option_rows; i++) {
		const struct option *option = &option_table[i];

		if ((option->commands & command) && (all || option->is_usual))
			append_option(option, all ? ALL_COLUMNS : USUAL_COLUMNS, out);
	}
	strbuf_append_str(out, "\nExit status: 0 ok, 1 failed, 2 wrong usage");
	strbuf_append_str(out, command == COMMAND_RECORD ? ", 3 no samples\n" : "\n");
}

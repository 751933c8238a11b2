/* SPDX-License-Identifier: Apache-2.0 */
#include "config/option_help.h"

#include "config/option_table.h"

#define USUAL_COLUMNS 29 /* "      --container NAME|ID,..." */
#define ALL_COLUMNS 34 /* "      --debuginfod-cache-max BYTES" */

/* What -o of record and query can write, below all options. */
static const char files_help[] =
	"\nFILE: .html (a page), .svg (a picture), .pb.gz or .pprof, .folded or .txt,\n"
	".speedscope.json, .firefox.json, .json, .csv; - writes folded text to standard\n"
	"output. docs/formats.md describes them.\n";

struct command_help {
	enum command_id command;
	const char *text;
};

/* The usage and examples above the options. */
static const struct command_help command_helps[] = {
	{ COMMAND_RECORD,
	  "flamelet [record] [OPTION]... [-- COMMAND]   profile this machine, write files\n"
	  "\n"
	  "  flamelet                                   10 s of this machine, as a page\n"
	  "  flamelet -d 30s -p 1234 -o cpu.svg         one process, as a flame graph\n"
	  "  flamelet --pod shop/cart -o cart.pb.gz     one pod, for go tool pprof\n"
	  "  flamelet -o m.svg -- make -j4              a command, until it ends\n" },
	{ COMMAND_AGENT,
	  "flamelet agent [OPTION]...   profile continuously and send the profiles\n"
	  "\n"
	  "  flamelet agent --otlp-endpoint http://127.0.0.1:4318\n"
	  "  flamelet agent --store /var/lib/flamelet/record   keep it on this machine\n" },
	{ COMMAND_DOCTOR,
	  "flamelet doctor [OPTION]...   check whether this host can be profiled\n"
	  "\n"
	  "  flamelet doctor\n"
	  "  flamelet doctor -c /etc/flamelet.yaml      also checks kubelet and endpoint\n"
	  "  flamelet doctor --json | jq .ok\n" },
	{ COMMAND_QUERY,
	  "flamelet query [RANGE] [OPTION]...   show what the local record has\n"
	  "\n"
	  "  flamelet query -10m                        the last ten minutes\n"
	  "  flamelet query 14:05..14:07 -o spike.html  two minutes, as a flame graph\n"
	  "  flamelet query -1h --group pod,comm -o by-pod.svg\n"
	  "  flamelet query -1h -s '{namespace=\"shop\",pod=~\"web.*\"}' -o web.pb.gz\n"
	  "  flamelet query all --store ./copied        files of another machine\n"
	  "\n"
	  "RANGE: -10m, -10m..-5m, 14:05, 14:05..14:07, 14:05+30s, RFC 3339, all, an event\n"
	  "(@e12, @worst); default -1h. -10m counts from the record's newest second.\n" },
	{ COMMAND_TOP, "flamelet top [OPTION]...   show which applications use the CPU, and where\n"
		       "\n"
		       "  flamelet top                               live; ? lists the keys\n"
		       "  flamelet top --by pod --namespace shop     the pods of a namespace\n"
		       "  flamelet top --once --json | jq .rows      for scripts\n"
		       "  flamelet top --range 14:05..14:07          from the local record\n" },
	{ COMMAND_FINDINGS,
	  "flamelet findings [RANGE|FILE] [OPTION]...   name known causes of CPU time\n"
	  "\n"
	  "  flamelet findings -10m                     the last ten minutes of the record\n"
	  "  flamelet findings 14:05..14:07 --pod shop/cart\n"
	  "  flamelet findings cpu.pb.gz                a recorded pprof file\n"
	  "  flamelet findings -1h --json | jq -r '.findings[].title'\n"
	  "\n"
	  "RANGE: as flamelet query has it (default -1h). docs/findings.md lists the rules.\n" },
	{ COMMAND_DIFF,
	  "flamelet diff BEFORE AFTER [OPTION]...   show what changed\n"
	  "\n"
	  "  flamelet diff -10m..-5m -5m                two ranges of the record\n"
	  "  flamelet diff @e7 -o diff.html             an event and the time before it\n"
	  "  flamelet diff before.pb.gz after.pb.gz     two files: pprof or .folded\n"
	  "  flamelet diff -1h -s '{pod=\"web-1\"}' --against '{pod=\"web-2\"}'\n"
	  "\n"
	  "A single range (see flamelet query) is compared with the time before it.\n" },
	{ COMMAND_TIMELINE,
	  "flamelet timeline [RANGE] [OPTION]...   what the node did over time, as CSV\n"
	  "\n"
	  "  flamelet timeline -10m --step 1s           CPU time, memory, pressure (vitals)\n"
	  "  flamelet timeline -1h --by pod             samples of each pod\n"
	  "  flamelet timeline -1h --by pod --throttled --json | jq .lines\n"
	  "\n"
	  "RANGE: as flamelet query has it (default: -1h).\n" },
	{ COMMAND_LS,
	  "flamelet ls [RANGE] [OPTION]...   list what the local record has\n"
	  "\n"
	  "  flamelet ls\n"
	  "  flamelet ls -1d --store /mnt/node-1 --store /mnt/node-2\n"
	  "  flamelet ls --json | jq .events\n"
	  "\n"
	  "It lists files, events and pins. All commands take the name of an event, such\n"
	  "as @e12, as a RANGE, and ranges of flamelet query (default here: all).\n" },
	{ COMMAND_UI, "flamelet ui [OPTION]...   show the local record in a browser\n"
		      "\n"
		      "  flamelet ui                                prints the address to open\n"
		      "  flamelet ui --store ./copied               files of other machines\n"
		      "  flamelet ui --listen 127.0.0.1:7070        a port for ssh -L or kubectl\n"
		      "  flamelet ui --listen unix:/run/flamelet/ui.sock\n"
		      "\n"
		      "Only this machine can connect, and only with the token in the address.\n" },
	{ COMMAND_DUMP,
	  "flamelet dump -p PID [OPTION]...   print the stacks of all threads of a process\n"
	  "\n"
	  "  flamelet dump -p 1234\n"
	  "  flamelet dump -p 1234 --json | jq '.threads[].stack[0].function'\n"
	  "\n"
	  "Running and sleeping threads are shown, with native frames and those of Python,\n"
	  "Java and Node.js. The process is stopped for about a millisecond, twice.\n" },
	{ COMMAND_PIN,
	  "flamelet pin RANGE [OPTION]...   keep a range of the record past its limits\n"
	  "\n"
	  "  flamelet pin @e12                          an event that flamelet ls shows\n"
	  "  flamelet pin 14:00..14:10 --note \"checkout was slow\"\n"
	  "  flamelet pin --list\n"
	  "  flamelet pin --remove p3\n"
	  "\n"
	  "RANGE: as flamelet query has it, such as -10m or @worst.\n" },
	{ COMMAND_EXPORT,
	  "flamelet export FILE... [OPTION]...   send recorded pprof files\n"
	  "flamelet export --store DIR [RANGE] [OPTION]...   send a range of a local record\n"
	  "\n"
	  "  flamelet export cpu.pb.gz --otlp-endpoint http://127.0.0.1:4318\n"
	  "  flamelet export a.pb.gz b.pb.gz --otlp-endpoint grpc://otel:4317 --at now\n"
	  "  flamelet export *.gz --exporter pyroscope --otlp-endpoint http://pyro:4040\n"
	  "  flamelet export --store ./copied 14:05+2m --otlp-endpoint http://otel:4318\n" },
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
	{ COMMAND_COPY_HEAP,
	  "flamelet copy-heap --directory DIR   put libflamelet-heap.so there\n"
	  "\n"
	  "For an init container: pods of the node preload the library from there. A file\n"
	  "that is in use is replaced, not changed.\n"
	  "\n"
	  "  flamelet copy-heap --directory /host/heap\n" },
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

static bool is_usual(const struct option *option, enum command_id command)
{
	return option->is_usual && !(option->unusual_in & command);
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

		if ((option->commands & command) && (all || is_usual(option, command)))
			append_option(option, all ? ALL_COLUMNS : USUAL_COLUMNS, out);
	}
	if (all && (command & (COMMAND_RECORD | COMMAND_QUERY)))
		strbuf_append_str(out, files_help);
	strbuf_append_str(out, "\nExit status: 0 ok, 1 failed, 2 wrong usage");
	strbuf_append_str(out, command & (COMMAND_RECORD | COMMAND_QUERY | COMMAND_TOP |
					  COMMAND_DIFF | COMMAND_TIMELINE | COMMAND_FINDINGS)
				       ? ", 3 no samples\n"
				       : "\n");
}

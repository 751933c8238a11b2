/* SPDX-License-Identifier: Apache-2.0 */
#include "config/option_loader.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "config/option_help.h"
#include "config/option_table.h"
#include "options_fixture.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static void defaults_depend_on_the_command(void **state)
{
	_cleanup_(options_done) struct options record = load_ok(COMMAND_RECORD, "");
	_cleanup_(options_done) struct options agent = load_ok(COMMAND_AGENT, "");
	(void)state;

	assert_int_equal(record.frequency_hz, 99);
	assert_int_equal(record.duration_ns, 10 * NSEC_PER_SEC);
	assert_int_equal(record.kubelet_verify, HTTP_VERIFY_FULL);
	assert_int_equal(record.symbol_memory_max, 256 << 20);
	assert_int_equal(record.unwind_memory_max, 256 << 20);
	assert_int_equal(record.tables_memory_max, 1 << 30);
	assert_null(record.unwind_cache_dir);
	assert_int_equal(record.capture, OPTION_CAPTURE_AUTO);
	assert_int_equal(record.stack_copy_bytes, 32768);
	assert_int_equal(record.demangle, OPTION_DEMANGLE_SHORT);
	assert_true(record.inlines);
	assert_int_equal(record.runtimes, 7);
	assert_string_equal(record.debug_dir, "/usr/lib/debug");
	assert_null(record.debuginfod_urls);
	assert_string_equal(record.debuginfod_cache_dir, "/var/cache/flamelet/debuginfod");
	assert_int_equal(record.debuginfod_cache_max, 1 << 30);
	assert_int_equal(record.log_level, LOG_LEVEL_INFO);
	assert_null(record.direct->endpoint);
	assert_int_equal(agent.frequency_hz, 19);
	assert_int_equal(agent.duration_ns, 0);
	assert_int_equal(agent.direct->timeout_ns, 10 * NSEC_PER_SEC);
	assert_int_equal(agent.export_interval_ns, 15 * NSEC_PER_SEC);
}

static void top_has_options_of_its_own(void **state)
{
	_cleanup_(options_done) struct options plain = load_ok(COMMAND_TOP, "");
	_cleanup_(options_done) struct options top = load_ok(
		COMMAND_TOP, "-i 5s -n 3 --by pod --once --range -10m -s {pod=\"a\"} --json -p 7");
	(void)state;

	assert_int_equal(plain.frequency_hz, 49);
	assert_int_equal(plain.interval_ns, 2 * NSEC_PER_SEC);
	assert_int_equal(plain.by, OPTION_BY_APPLICATION);
	assert_int_equal(plain.iterations, 0);
	assert_int_equal(plain.rows, 10);
	assert_int_equal(plain.ranges.nr, 0);
	assert_int_equal(top.interval_ns, 5 * NSEC_PER_SEC);
	assert_int_equal(top.iterations, 3);
	assert_int_equal(top.by, OPTION_BY_POD);
	assert_true(top.once && top.json);
	assert_string_equal(top.ranges.items[0], "-10m");
}

static void long_and_short_spellings_mean_the_same(void **state)
{
	static const char *const spellings[] = {
		"-d 2m -F 49 -o a.svg -o - -p 7,9 -C 0-2,8 -qI",
		"-d2m -F49 -oa.svg -o- -p7 -p9 -C0-2 -C8 -q -I",
		"--duration 2m --frequency 49 --output a.svg --output - --pid 7,9 --cpu 0-2,8 "
		"--quiet --idle",
		"--duration=2m --frequency=49 --output=a.svg --output=- --pid=7,9 --cpu=0-2,8 "
		"--quiet=yes --idle",
		"-d 1s -d 2m -F 49 -o a.svg -o - -p 7,9,7 -C 0,1,2,8,0 -Iq",
	};
	(void)state;

	for (size_t i = 0; i < array_len(spellings); i++) {
		_cleanup_(options_done) struct options o = load_ok(COMMAND_RECORD, spellings[i]);

		assert_int_equal(o.duration_ns, 120 * NSEC_PER_SEC);
		assert_int_equal(o.frequency_hz, 49);
		assert_int_equal(o.outputs.nr, 2);
		assert_string_equal(o.outputs.items[0], "a.svg");
		assert_string_equal(o.outputs.items[1], "-");
		assert_int_equal(o.pids.nr, 2);
		assert_int_equal(o.pids.items[1], 9);
		assert_int_equal(o.cpus.nr, 4);
		assert_int_equal(o.cpus.items[3], 8);
		assert_true(o.quiet);
		assert_true(o.include_idle);
	}
}

static void a_format_is_for_names_that_tell_none(void **state)
{
	static const char *const spellings[] = {
		"-o - --format pprof",
		"--format pprof -o /dev/fd/3",
		"-o a.svg -o - --format=pprof",
		"--format pprof",
	};
	(void)state;

	for (size_t i = 0; i < array_len(spellings); i++) {
		_cleanup_(options_done) struct options o = load_ok(COMMAND_RECORD, spellings[i]);

		assert_string_equal(o.output_format, "pprof");
	}
}

static void an_answer_with_a_format_goes_to_standard_output(void **state)
{
	static const struct {
		unsigned int command;
		const char *words;
		size_t nr;
	} cases[] = {
		{ COMMAND_QUERY, "--format pprof -10m", 1 },
		{ COMMAND_DIFF, "--format pprof -10m", 1 },
		{ COMMAND_QUERY, "-10m", 0 },
		{ COMMAND_QUERY, "--format pprof -o - -o -", 2 },
		{ COMMAND_RECORD, "--format pprof", 0 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(options_done) struct options o = load_ok(cases[i].command,
								   cases[i].words);

		assert_int_equal(o.outputs.nr, cases[i].nr);
		for (size_t j = 0; j < o.outputs.nr; j++)
			assert_string_equal(o.outputs.items[j], "-");
	}
}

static void a_command_follows_two_dashes(void **state)
{
	_cleanup_(options_done) struct options o = load_ok(
		COMMAND_RECORD, "-d 0 --pod shop/cart --comm nginx -- make -d --pod");
	(void)state;

	assert_int_equal(o.duration_ns, 0);
	assert_int_equal(o.pods.nr, 1);
	assert_string_equal(o.pods.items[0], "shop/cart");
	assert_string_equal(o.comms.items[0], "nginx");
	assert_int_equal(o.command.nr, 3);
	assert_string_equal(o.command.items[0], "make");
	assert_string_equal(o.command.items[2], "--pod");
}

static void lists_may_be_repeated_or_have_commas(void **state)
{
	_cleanup_(options_done) struct options o = load_ok(
		COMMAND_AGENT, "--namespace a,b --namespace=c --pod x/y,z --container web,db "
			       "--selector app=a,b --selector !c --exclude-selector=d "
			       "--pod-label team,a/* --pod-annotation * --cgroup /a,b");
	(void)state;

	assert_int_equal(o.namespaces.nr, 3);
	assert_string_equal(o.namespaces.items[1], "b");
	assert_string_equal(o.namespaces.items[2], "c");
	assert_int_equal(o.pods.nr, 2);
	assert_int_equal(o.containers.nr, 2);
	assert_int_equal(o.selectors.nr, 2);
	assert_string_equal(o.selectors.items[0], "app=a,b");
	assert_int_equal(o.excluded_selectors.nr, 1);
	assert_int_equal(o.pod_labels.nr, 2);
	assert_string_equal(o.pod_labels.items[1], "a/*");
	assert_int_equal(o.pod_annotations.nr, 1);
	assert_int_equal(o.cgroups.nr, 1);
	assert_string_equal(o.pod_logs, "/var/log");
	assert_null(o.listen);
}

static void files_to_send_are_words(void **state)
{
	_cleanup_(options_done) struct options o = load_ok(
		COMMAND_EXPORT, "a.gz --at now b.gz --json --wait 0 -- --c.gz -");
	_cleanup_(options_done) struct options usual = load_ok(COMMAND_EXPORT, "a.gz");
	(void)state;

	assert_int_equal(o.files.nr, 4);
	assert_string_equal(o.files.items[1], "b.gz");
	assert_string_equal(o.files.items[2], "--c.gz");
	assert_string_equal(o.files.items[3], "-");
	assert_true(o.at_now);
	assert_true(o.json);
	assert_int_equal(o.wait_ns, 0);
	assert_false(usual.at_now);
	assert_int_equal(usual.wait_ns, 60 * NSEC_PER_SEC);
	assert_int_equal(usual.log_level, LOG_LEVEL_INFO);
}

static void a_range_to_send_may_count_back(void **state)
{
	_cleanup_(options_done) struct options one = load_ok(COMMAND_EXPORT, "--store d -1m");
	_cleanup_(options_done) struct options both = load_ok(COMMAND_EXPORT,
							      "-30s..-20s --store d --json");
	(void)state;

	assert_int_equal(one.files.nr, 1);
	assert_string_equal(one.files.items[0], "-1m");
	assert_int_equal(both.files.nr, 1);
	assert_string_equal(both.files.items[0], "-30s..-20s");
	assert_true(both.json);
}

static void help_needs_nothing_else_to_be_right(void **state)
{
	_cleanup_(options_done) struct options o = load_ok(COMMAND_AGENT,
							   "--help -c /etc/hostname");
	(void)state;

	assert_true(o.help);
}

struct refusal {
	enum command_id command;
	const char *words;
	const char *message;
};

static const struct refusal refusals[] = {
	{ COMMAND_QUERY, "--kind cpu,offcpu",
	  "--kind: invalid value \"cpu,offcpu\"; expected cpu, offcpu, lock, contentions, "
	  "growth, alloc, alloc-objects, heap, heap-objects or irq" },
	{ COMMAND_RECORD, "--objects",
	  "--objects and --heap-library are for allocations; add --kind alloc or --kind heap" },
	{ COMMAND_FINDINGS, "--kind offcpu",
	  "--kind is an option of record, not of findings; see flamelet findings --help" },
	{ COMMAND_TOP, "--kind offcpu", "--kind: top shows cpu or cpu,offcpu" },
	{ COMMAND_TOP, "-i 500ms",
	  "-i: invalid value \"500ms\"; expected a time of at least 1s, for example 2s" },
	{ COMMAND_TOP, "-n 0",
	  "-n: invalid value \"0\"; expected a number from 1 to 1000000, for example 10" },
	{ COMMAND_TOP, "--by node",
	  "--by: invalid value \"node\"; expected application, workload, pod, container, process, "
	  "thread, comm or function" },
	{ COMMAND_TOP, "-o a.svg",
	  "-o is an option of record, not of top; see flamelet top --help" },
	{ COMMAND_RECORD, "-d 10x",
	  "-d: invalid value \"10x\"; expected 0 or a time, for example "
	  "500ms, 10s or 2m" },
	{ COMMAND_RECORD, "--duration=-1",
	  "--duration: invalid value \"-1\"; expected 0 or a time, for example 500ms, 10s or 2m" },
	{ COMMAND_RECORD, "-d 9000000000",
	  "-d: invalid value \"9000000000\"; expected 0 or a time, for example 500ms, 10s or 2m" },
	{ COMMAND_RECORD, "-d",
	  "-d: the value is missing; expected 0 or a time, for example "
	  "500ms, 10s or 2m" },
	{ COMMAND_RECORD, "-F 0",
	  "-F: invalid value \"0\"; expected a number of Hz from 1 to "
	  "10000, for example 99" },
	{ COMMAND_RECORD, "-F 10001",
	  "-F: invalid value \"10001\"; expected a number of Hz from 1 to 10000, for example 99" },
	{ COMMAND_RECORD, "-o out.doc",
	  "-o: \"out.doc\" has no known extension (.svg); change the name or add --format" },
	{ COMMAND_RECORD, "--format svg -o out.svg",
	  "--format has no effect: the name \"out.svg\" already implies the format; leave --format "
	  "out, or write -o -" },
	{ COMMAND_RECORD, "--format htm -o -",
	  "--format: invalid value \"htm\"; expected svg, html, pprof, folded, speedscope, "
	  "firefox, json, csv or view" },
	{ COMMAND_RECORD, "--reason disk,poll",
	  "--reason, --min-block and --waker are for waits; add --kind offcpu" },
	{ COMMAND_RECORD, "--min-block 1ms --kind cpu",
	  "--reason, --min-block and --waker are for waits; add --kind offcpu" },
	{ COMMAND_RECORD, "--waker",
	  "--reason, --min-block and --waker are for waits; add --kind offcpu" },
	{ COMMAND_RECORD, "--reason futex --kind lock",
	  "--reason, --min-block and --waker are for waits; add --kind offcpu" },
	{ COMMAND_RECORD, "--reason lock --kind offcpu",
	  "--reason: invalid value \"lock\"; expected preempted, run-queue, disk, "
	  "page-fault, reclaim, network, pipe, poll, futex, kernel-lock, sleep, child, signal, "
	  "idle, other, running or throttled; or all or none" },
	{ COMMAND_AGENT, "--kind cpu,wall",
	  "--kind: wall is for recordings; an agent has both halves of it with cpu,offcpu" },
	{ COMMAND_RECORD, "--kind cpu,wall",
	  "--kind: a recording has one kind; record one after the other, or all of them with "
	  "flamelet agent" },
	{ COMMAND_RECORD, "-p 0",
	  "-p: invalid value \"0\"; expected process or thread ids from 1 to 4194304, for example "
	  "1234,5678" },
	{ COMMAND_RECORD, "-p 1,",
	  "-p: invalid value \"1,\"; expected process or thread ids from 1 to 4194304, for example "
	  "1234,5678" },
	{ COMMAND_RECORD, "-p 4194305",
	  "-p: invalid value \"4194305\"; expected process or thread ids from 1 to 4194304, for "
	  "example 1234,5678" },
	{ COMMAND_RECORD, "-C 3-1",
	  "-C: invalid value \"3-1\"; expected CPU numbers from 0 to "
	  "8191, for example 0-3,8" },
	{ COMMAND_RECORD, "-C 0-",
	  "-C: invalid value \"0-\"; expected CPU numbers from 0 to 8191, "
	  "for example 0-3,8" },
	{ COMMAND_RECORD, "-C 0-99999999999999999999",
	  "-C: invalid value \"0-99999999999999999999\"; expected CPU numbers from 0 to 8191, for "
	  "example 0-3,8" },
	{ COMMAND_RECORD, "-C 0;1",
	  "-C: invalid value \"0;1\"; expected CPU numbers from 0 to "
	  "8191, for example 0-3,8" },
	{ COMMAND_RECORD, "--pod a/b/c",
	  "--pod: invalid value \"a/b/c\"; expected names of pods, for example cart-0 or "
	  "shop/cart-0" },
	{ COMMAND_RECORD, "--pod /b",
	  "--pod: invalid value \"/b\"; expected names of pods, for example cart-0 or "
	  "shop/cart-0" },
	{ COMMAND_RECORD, "--container Main",
	  "--container: invalid value \"Main\"; expected names of containers, or 12 to 64 hex "
	  "digits of their IDs" },
	{ COMMAND_AGENT, "--namespace a,,b",
	  "--namespace: invalid value \"a,,b\"; expected names of namespaces, for example "
	  "shop,billing" },
	{ COMMAND_AGENT, "--exclude-namespace a.b",
	  "--exclude-namespace: invalid value \"a.b\"; expected names of namespaces, for example "
	  "shop,billing" },
	{ COMMAND_AGENT, "--selector=",
	  "--selector: invalid value \"\"; expected a label selector, for example \"app=web,tier "
	  "in (a,b),!canary\"" },
	{ COMMAND_AGENT, "--pod-label *a",
	  "--pod-label: invalid value \"*a\"; expected keys of labels or annotations, for example "
	  "team or example.com/*" },
	{ COMMAND_AGENT, "--pod-logs log",
	  "--pod-logs: invalid value \"log\"; expected an absolute path" },
	{ COMMAND_AGENT, "--listen :9090",
	  "--listen: invalid value \":9090\"; expected 127.0.0.1:PORT, [::1]:PORT, localhost:PORT "
	  "or unix:/PATH; other hosts can only get --metrics-listen" },
	{ COMMAND_AGENT, "--metrics-listen unix:/x",
	  "--metrics-listen: invalid value \"unix:/x\"; expected *:PORT, 0.0.0.0:PORT, [::]:PORT "
	  "or 10.1.2.3:PORT; for a Unix socket, use --listen" },
	{ COMMAND_HEALTH, "--metrics-listen *:1",
	  "--metrics-listen is an option of agent, not of health; see flamelet health --help" },
	{ COMMAND_RECORD, "--kind cpu,offcpu",
	  "--kind: a recording has one kind; record one after the other, or all of them with "
	  "flamelet agent" },
	{ COMMAND_RECORD, "--kind lock,offcpu",
	  "--kind: a recording has one kind; record one after the other, or all of them with "
	  "flamelet agent" },
	{ COMMAND_RECORD, "--kind offcpu,runq",
	  "--kind: runq stands for offcpu with --reason preempted,run-queue,throttled; leave it "
	  "out" },
	{ COMMAND_RECORD, "--kind runq --reason disk",
	  "--kind: runq stands for offcpu with --reason preempted,run-queue,throttled; leave it "
	  "out" },
	{ COMMAND_AGENT, "--kind none",
	  "--kind: invalid value \"none\"; expected cpu, offcpu, lock, wall, growth, alloc, heap, "
	  "irq or runq; for the agent, several of them; for a recording also hw:cycles, "
	  "hw:instructions, "
	  "hw:cache-misses, hw:branch-misses, sw:page-faults, sw:major-faults, "
	  "sw:context-switches or sw:migrations" },
	{ COMMAND_RECORD, "--kind hw:",
	  "--kind: invalid value \"hw:\"; expected cpu, offcpu, lock, wall, growth, alloc, heap, "
	  "irq or runq; for the agent, several of them; for a recording also hw:cycles, "
	  "hw:instructions, "
	  "hw:cache-misses, hw:branch-misses, sw:page-faults, sw:major-faults, "
	  "sw:context-switches or sw:migrations" },
	{ COMMAND_AGENT, "--kind cpu,hw:cycles",
	  "--kind: hw:EVENT and sw:EVENT are for recordings; use flamelet record" },
	{ COMMAND_RECORD, "--kind hw:cycles,sw:page-faults",
	  "--kind: a recording has one kind; record one after the other, or all of them with "
	  "flamelet agent" },
	{ COMMAND_RECORD, "--kind growth --event-period 7",
	  "--event-period is for events; add --kind hw:cycles or another event" },
	{ COMMAND_RECORD, "--kind hw:cycles --event-period 0",
	  "--event-period: invalid value \"0\"; expected a number of events from 1 to "
	  "1000000000000" },
	{ COMMAND_RECORD, "--kind irq -p 1",
	  "--kind: irq is of the whole machine, since interrupts belong to no process; select "
	  "nothing but CPUs" },
	{ COMMAND_RECORD, "--kind irq -- true",
	  "--kind: irq is of the whole machine, since interrupts belong to no process; select "
	  "nothing but CPUs" },
	{ COMMAND_AGENT, "--ready",
	  "--ready is an option of health, not of agent; see flamelet agent --help" },
	{ COMMAND_RECORD, "--listen localhost:1",
	  "--listen is an option of ui, not of record; see flamelet record --help" },
	{ COMMAND_RECORD, "--comm 0123456789abcdef",
	  "--comm: invalid value \"0123456789abcdef\"; expected a process name of at most 15 "
	  "bytes, as ps -o comm shows it" },
	{ COMMAND_RECORD, "--duratoin 3",
	  "unknown option --duratoin; did you mean --duration? See flamelet record "
	  "--help" },
	{ COMMAND_RECORD, "--freq 3",
	  "unknown option --freq; did you mean --frequency? See flamelet record --help" },
	{ COMMAND_AGENT, "--otlp-endpont=x",
	  "unknown option --otlp-endpont; did you mean --otlp-endpoint? "
	  "See flamelet agent --help" },
	{ COMMAND_RECORD, "--json",
	  "--json is an option of doctor, not of record; see flamelet record --help" },
	{ COMMAND_AGENT, "-q",
	  "-q is an option of record, not of agent; see flamelet agent --help" },
	{ COMMAND_RECORD, "-qz", "unknown option -z; see flamelet record --help" },
	{ COMMAND_RECORD, "make",
	  "unexpected argument \"make\"; to profile a command, put it after --: flamelet record -- "
	  "make" },
	{ COMMAND_AGENT, "now", "unexpected argument \"now\"; see flamelet agent --help" },
	{ COMMAND_RECORD, "--", "no command after --; for example: flamelet record -- make -j4" },
	{ COMMAND_AGENT, "-- make", "only flamelet record can run a command after --" },
	{ COMMAND_EXPORT, "--at now",
	  "no file given; usage: flamelet export FILE.pb.gz, or flamelet export "
	  "--store DIR RANGE" },
	{ COMMAND_EXPORT, "--",
	  "no file given; usage: flamelet export FILE.pb.gz, or flamelet export "
	  "--store DIR RANGE" },
	{ COMMAND_EXPORT, "-1m --store d -2m",
	  "with --store, only a range can be given, in one word, such as 14:05..14:07; to send "
	  "files, leave --store out" },
	{ COMMAND_EXPORT, "--store d -x", "unknown option -x; see flamelet export --help" },
	{ COMMAND_EXPORT, "a.gz --at then",
	  "--at: invalid value \"then\"; expected recorded or now" },
	{ COMMAND_EXPORT, "a.gz --wait long",
	  "--wait: invalid value \"long\"; expected 0 or a time, for example 500ms, 10s or 2m" },
	{ COMMAND_EXPORT, "a.gz --frequency 9",
	  "--frequency is an option of record, not of export; see flamelet export --help" },
	{ COMMAND_AGENT, "--wait 1m",
	  "--wait is an option of export, not of agent; see flamelet agent --help" },
	{ COMMAND_RECORD, "-q --quiet=perhaps",
	  "--quiet: invalid value \"perhaps\"; expected true or false" },
	{ COMMAND_AGENT, "--otlp-header s3cret",
	  "--otlp-header: invalid value; expected an HTTP header like \"Name: value\"" },
	{ COMMAND_AGENT, "--export-interval 0",
	  "--export-interval: invalid value \"0\"; expected a time longer than 0, for example "
	  "500ms, 10s or 2m" },
	{ COMMAND_AGENT, "--kubelet-ca-file /nonexistent",
	  "--kubelet-ca-file: cannot read \"/nonexistent\": No such file or directory" },
	{ COMMAND_AGENT, "--kubelet-verify no",
	  "--kubelet-verify: invalid value \"no\"; expected full, ca-only, pinned or insecure" },
	{ COMMAND_AGENT, "--log-level loud",
	  "--log-level: invalid value \"loud\"; expected error, warn, info or debug" },
	{ COMMAND_AGENT, "--symbol-memory-max 12K",
	  "--symbol-memory-max: invalid value \"12K\"; expected a size of at least 1M, for example "
	  "256M or 1G" },
	{ COMMAND_RECORD, "--symbol-memory 12M",
	  "unknown option --symbol-memory; did you mean --symbol-memory-max? "
	  "See flamelet record --help" },
	{ COMMAND_DOCTOR, "--capture ebpf",
	  "--capture: invalid value \"ebpf\"; expected auto, bpf or perf" },
	{ COMMAND_AGENT, "--stack-copy 64K",
	  "--stack-copy: invalid value \"64K\"; expected a multiple of 8 from 1024 to 65528 bytes, "
	  "for example 32K" },
	{ COMMAND_RECORD, "--demangle Full",
	  "--demangle: invalid value \"Full\"; expected none, short or full" },
	{ COMMAND_RECORD,
	  "--demangle=", "--demangle: invalid value \"\"; expected none, short or full" },
	{ COMMAND_AGENT, "--inlines", "--inlines: the value is missing; expected on or off" },
	{ COMMAND_RECORD, "--debug-dir debug",
	  "--debug-dir: invalid value \"debug\"; expected an absolute path" },
	{ COMMAND_DOCTOR, "--debuginfod-cache-max 1G",
	  "--debuginfod-cache-max is an option of record, not of doctor; "
	  "see flamelet doctor --help" },
};

static void a_bad_command_line_is_answered_with_what_to_write(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(refusals); i++)
		expect_refused(refusals[i].command, refusals[i].words, refusals[i].message);
}

static void two_loads_differ_by_name(void **state)
{
	static const char first[] = "--namespace a,b --cpu 1,2 --node-name n --listen localhost:1";
	static const struct {
		const char *words;
		const char *reloadable, *fixed;
	} cases[] = {
		{ first, "", "" },
		{ "--namespace=a --namespace=b -C 1-2 --node-name n --listen localhost:1", "", "" },
		{ "--namespace b,a --cpu 1,2 --node-name n --listen localhost:1", "--namespace",
		  "" },
		{ "--namespace a --cpu 1 --node-name m --listen localhost:1", "--namespace",
		  "--cpu, --node-name" },
		{ "--namespace a,b,c --cpu 1,3 --idle --log-level warn --listen localhost:1",
		  "--namespace", "--cpu, --idle, --node-name, --log-level" },
		{ "--pod c --pod-label d", "--namespace, --pod, --pod-label",
		  "--cpu, --listen, --node-name" },
	};
	_cleanup_(options_done) struct options before = load_ok(COMMAND_AGENT, first);
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(options_done) struct options after = load_ok(COMMAND_AGENT,
								       cases[i].words);
		_cleanup_(strbuf_done) struct strbuf reloadable = strbuf_with_max(1000);
		_cleanup_(strbuf_done) struct strbuf fixed = strbuf_with_max(1000);

		options_diff(&before, &after, true, &reloadable);
		options_diff(&before, &after, false, &fixed);
		assert_string_equal(strbuf_str(&reloadable), cases[i].reloadable);
		assert_string_equal(strbuf_str(&fixed), cases[i].fixed);
	}
}

static size_t count_lines(const char *text)
{
	size_t nr = 0;

	for (; *text; text++)
		nr += *text == '\n';
	return nr;
}

static void help_fits_a_small_terminal(void **state)
{
	static const enum command_id commands[] = {
		COMMAND_RECORD,	  COMMAND_AGENT,  COMMAND_DOCTOR,     COMMAND_VERSION,
		COMMAND_EXPORT,	  COMMAND_HEALTH, COMMAND_ALLOW_PERF, COMMAND_QUERY,
		COMMAND_LS,	  COMMAND_TOP,	  COMMAND_DIFF,	      COMMAND_TIMELINE,
		COMMAND_DUMP,	  COMMAND_PIN,	  COMMAND_FINDINGS,   COMMAND_UI,
		COMMAND_COPY_HEAP
	};
	(void)state;

	for (size_t i = 0; i < array_len(commands); i++) {
		_cleanup_(strbuf_done) struct strbuf help = strbuf_with_max(10000);

		options_help(commands[i], false, &help);
		assert_in_range(count_lines(strbuf_str(&help)), 1, 24);
		for (const char *line = strbuf_str(&help); *line; line = strchr(line, '\n') + 1)
			assert_in_range(strcspn(line, "\n"), 0, 80);
	}
}

static void all_options_are_in_the_long_help(void **state)
{
	_cleanup_(strbuf_done) struct strbuf help = strbuf_with_max(40000);
	(void)state;

	options_help(COMMAND_RECORD, true, &help);
	options_help(COMMAND_AGENT, true, &help);
	options_help(COMMAND_DOCTOR, true, &help);
	options_help(COMMAND_EXPORT, true, &help);
	options_help(COMMAND_HEALTH, true, &help);
	options_help(COMMAND_ALLOW_PERF, true, &help);
	options_help(COMMAND_TOP, true, &help);
	options_help(COMMAND_DIFF, true, &help);
	options_help(COMMAND_TIMELINE, true, &help);
	options_help(COMMAND_LS, true, &help);
	options_help(COMMAND_PIN, true, &help);
	for (size_t i = 0; i < nr_option_rows; i++) {
		assert_non_null(strstr(strbuf_str(&help), option_table[i].name));
		assert_in_range(strlen(option_table[i].help), 5, 60);
	}
}

static void no_command_takes_a_name_or_letter_twice(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_option_rows; i++) {
		const struct option *option = &option_table[i];

		for (size_t j = 0; j < i; j++) {
			const struct option *other = &option_table[j];

			if (!(option->commands & other->commands))
				continue;
			assert_string_not_equal(option->name, other->name);
			assert_true(!option->letter || option->letter != other->letter);
		}
	}
}

int main(void)
{
#define CLEAN_TEST(name) cmocka_unit_test_setup(name, start_clean)
	const struct CMUnitTest tests[] = {
		CLEAN_TEST(defaults_depend_on_the_command),
		CLEAN_TEST(top_has_options_of_its_own),
		CLEAN_TEST(long_and_short_spellings_mean_the_same),
		CLEAN_TEST(a_format_is_for_names_that_tell_none),
		CLEAN_TEST(an_answer_with_a_format_goes_to_standard_output),
		CLEAN_TEST(a_command_follows_two_dashes),
		CLEAN_TEST(lists_may_be_repeated_or_have_commas),
		CLEAN_TEST(files_to_send_are_words),
		CLEAN_TEST(a_range_to_send_may_count_back),
		CLEAN_TEST(help_needs_nothing_else_to_be_right),
		CLEAN_TEST(a_bad_command_line_is_answered_with_what_to_write),
		CLEAN_TEST(two_loads_differ_by_name),
		CLEAN_TEST(help_fits_a_small_terminal),
		CLEAN_TEST(all_options_are_in_the_long_help),
		CLEAN_TEST(no_command_takes_a_name_or_letter_twice),
	};

	return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}

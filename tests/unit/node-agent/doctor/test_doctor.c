/* SPDX-License-Identifier: Apache-2.0 */
#include "base/capabilities.h"
#include "base/cleanup.h"
#include "base/fileio.h"
#include "doctor/doctor.h"
#include "remove_tree.h"
#include "tests/standin/kubelet_standin.h"
#include "tests/standin/standin.h"
#include "hostile_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_BYTES 256

/* A host made of files. */
static char root_dir[] = "/tmp/flamelet-doctor-XXXXXX";
static const struct options nothing_configured = { 0 };
static const struct options only_bpf = { .capture = OPTION_CAPTURE_BPF };
static const struct options only_perf = { .capture = OPTION_CAPTURE_PERF };
static struct doctor_host host = { .options = &nothing_configured };

static const char *const dirs[] = {
	"self",	      "self/ns", "self/attr",  "self/attr/apparmor", "sys",
	"sys/kernel", "kernel",	 "kernel/btf", "kernel/security"
};

static const char *in_root(const char *name)
{
	static char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", root_dir, name);
	return path;
}

static void write_file(const char *name, const char *text)
{
	assert_int_equal(file_write_atomic(in_root(name), text, strlen(text)), 0);
}

static int make_root(void **state)
{
	(void)state;
	if (!mkdtemp(root_dir))
		return -1;
	host.proc_dir = root_dir;
	host.sys_dir = root_dir;
	for (size_t i = 0; i < array_len(dirs); i++) {
		if (mkdir(in_root(dirs[i]), 0755) < 0)
			return -1;
	}
	return 0;
}

static int remove_root(void **state)
{
	(void)state;
	remove_tree(root_dir);
	return 0;
}

typedef void (*check_fn)(const struct doctor_host *host, struct doctor_report *report);

/* Runs one check and compares its first finding; `detail` and `remedy` are what these contain. */
static void expect_finding(check_fn check, enum finding_level level, const char *detail,
			   const char *remedy)
{
	_cleanup_(doctor_report_done) struct doctor_report report = { 0 };

	check(&host, &report);
	assert_int_equal(report.error, 0);
	assert_true(report.nr_findings >= 1);
	assert_int_equal(report.findings[0].level, level);
	assert_non_null(strstr(report.findings[0].detail, detail));
	assert_non_null(strstr(report.findings[0].remedy, remedy));
	assert_true(level != FINDING_OK || report.findings[0].remedy[0] == '\0');
}

static void the_kernels_version_is_told_and_never_a_failure(void **state)
{
	static const struct {
		const char *release;
		enum finding_level level;
		const char *detail;
	} cases[] = {
		{ "5.10.0", FINDING_OK, "5.10.0" },
		{ "6.1.0-18-amd64", FINDING_OK, "6.1.0-18-amd64" },
		{ "10.0", FINDING_OK, "10.0" },
		{ "5.9.16", FINDING_WARN, "capture backend bpf needs 5.10" },
		{ "3.10.0-1160.el7.x86_64", FINDING_WARN, "capture backend bpf needs 5.10" },
		{ "3.9.9", FINDING_WARN, "older than 3.10, the oldest supported" },
		{ "2.6.32", FINDING_WARN, "older than 3.10, the oldest supported" },
		{ "5", FINDING_WARN, "not a known version" },
		{ "", FINDING_WARN, "not a known version" },
		{ "linux", FINDING_WARN, "not a known version" },
		{ "5.x", FINDING_WARN, "not a known version" },
		{ "99999999999999999999.1", FINDING_WARN, "not a known version" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		host.kernel_release = cases[i].release;
		expect_finding(check_kernel, cases[i].level, cases[i].detail, "");
	}
}

/* A finding that rules out bpf is a failure only if the options allow no other path. */
static void expect_bpf_ruled_out(check_fn check, const char *detail, const char *remedy)
{
	host.options = &nothing_configured;
	expect_finding(check, FINDING_WARN, detail, remedy);
	expect_finding(check, FINDING_WARN, "rules out the capture backend bpf", remedy);
	host.options = &only_perf;
	expect_finding(check, FINDING_WARN, detail, remedy);
	host.options = &only_bpf;
	expect_finding(check, FINDING_FAIL, detail, remedy);
	host.options = &nothing_configured;
}

static void a_kernel_without_types_rules_bpf_out(void **state)
{
	(void)state;
	unlink(in_root("kernel/btf/vmlinux"));
	expect_bpf_ruled_out(check_btf, "kernel/btf/vmlinux: No such file",
			     "CONFIG_DEBUG_INFO_BTF");
	write_file("kernel/btf/vmlinux", "x");
	expect_finding(check_btf, FINDING_OK, "kernel/btf/vmlinux", "");
}

static void only_the_strictest_lockdown_rules_bpf_out(void **state)
{
	static const char *const harmless[][2] = {
		{ "[none] integrity confidentiality\n", "none" },
		{ "none [integrity] confidentiality\n", "integrity" },
		{ "none [secrecy\n", "secrecy" },
		{ "none integrity confidentiality\n", "off (not supported" },
		{ "[confidentiality\n", "confidentiality" },
		{ "[", "" },
		{ "", "off (not supported" },
	};
	(void)state;

	unlink(in_root("kernel/security/lockdown"));
	expect_finding(check_lockdown, FINDING_OK, "off (not supported", "");
	for (size_t i = 0; i < array_len(harmless); i++) {
		write_file("kernel/security/lockdown", harmless[i][0]);
		expect_finding(check_lockdown, FINDING_OK, harmless[i][1], "");
	}
	write_file("kernel/security/lockdown", "none integrity [confidentiality]\n");
	expect_bpf_ruled_out(check_lockdown, "may not read memory", "without lockdown");
}

static void a_missing_capability_is_named_with_what_it_costs(void **state)
{
	(void)state;
	host.capabilities = UINT64_MAX;
	expect_finding(check_capabilities, FINDING_OK, "all present", "");
	host.capabilities = ~CAPABILITY(BPF) & ~CAPABILITY(SYS_ADMIN);
	expect_bpf_ruled_out(check_capabilities,
			     "CAP_BPF is missing: ", "BPF to securityContext.capabilities.add");
	host.capabilities = ~CAPABILITY(PERFMON) & ~CAPABILITY(SYS_ADMIN);
	expect_finding(check_capabilities, FINDING_FAIL, "rules out both capture backends",
		       "PERFMON to securityContext.capabilities.add");
	host.capabilities = ~CAPABILITY(SYSLOG);
	expect_finding(check_capabilities, FINDING_WARN, "CAP_SYSLOG is missing: kernel functions",
		       "SYSLOG");
	host.capabilities = 0;
	expect_finding(check_capabilities, FINDING_FAIL, "none: this user is not root",
		       "run it with sudo; in a pod, add BPF, PERFMON, ");
	/* SYS_ADMIN stands for BPF, PERFMON and CHECKPOINT_RESTORE */
	host.capabilities = CAPABILITY(SYS_ADMIN) | CAPABILITY(SYS_PTRACE) |
			    CAPABILITY(DAC_READ_SEARCH) | CAPABILITY(SYSLOG);
	expect_finding(check_capabilities, FINDING_OK, "all present", "");
}

/* A kernel on which only these capture backends can be opened. */
static enum backend_set working_backends;

static int try_capture(enum backend_set backend, struct strbuf *reterr_msg)
{
	if (backend & working_backends)
		return 0;
	strbuf_appendf(reterr_msg, "no %s today", backend == BACKEND_BPF ? "BPF" : "perf");
	return -EPERM;
}

static void the_capture_backend_is_what_the_agent_would_take(void **state)
{
	static const struct {
		const struct options *options;
		enum backend_set working;
		enum finding_level level;
		const char *detail;
	} cases[] = {
		{ &nothing_configured, BACKENDS_ALL, FINDING_OK, "bpf" },
		{ &nothing_configured, BACKEND_BPF, FINDING_OK, "bpf" },
		{ &nothing_configured, BACKEND_PERF, FINDING_WARN, "more CPU time: no BPF today" },
		{ &nothing_configured, BACKENDS_NONE, FINDING_FAIL,
		  "none: bpf: no BPF today; perf: no perf today" },
		{ &only_bpf, BACKEND_BPF, FINDING_OK, "bpf, as requested by --capture" },
		{ &only_bpf, BACKEND_PERF, FINDING_FAIL,
		  "--capture=bpf was requested: no BPF today" },
		{ &only_perf, BACKENDS_ALL, FINDING_OK, "perf, as requested by --capture" },
		{ &only_perf, BACKEND_BPF, FINDING_FAIL,
		  "--capture=perf was requested: no perf today" },
	};
	(void)state;

	host.try_capture = try_capture;
	for (size_t i = 0; i < array_len(cases); i++) {
		host.options = cases[i].options;
		working_backends = cases[i].working;
		expect_finding(check_capture_backend, cases[i].level, cases[i].detail, "");
	}
	host.options = &nothing_configured;
}

static int fail_silently(enum backend_set backend, struct strbuf *reterr_msg)
{
	(void)backend;
	(void)reterr_msg;
	return -EMFILE;
}

static void a_backend_that_fails_without_a_reason_has_the_errors_text(void **state)
{
	(void)state;
	host.try_capture = fail_silently;
	host.options = &nothing_configured;
	expect_finding(check_capture_backend, FINDING_FAIL,
		       "none: bpf: Too many open files; perf: Too many open files", "");
	host.options = &only_perf;
	expect_finding(check_capture_backend, FINDING_FAIL,
		       "--capture=perf was requested: Too many open files", "");
	host.options = &nothing_configured;
}

static void kernel_symbols_need_an_address(void **state)
{
	(void)state;
	write_file("kallsyms", "0000000000000000 A fixed_percpu_data\n"
			       "ffffffff81000000 T startup_64\n");
	expect_finding(check_kernel_symbols, FINDING_OK, "has addresses", "");

	write_file("sys/kernel/kptr_restrict", "1\n");
	write_file("kallsyms", "0000000000000000 A a\n0000000000000000 T b\n");
	expect_finding(check_kernel_symbols, FINDING_WARN, "(kernel.kptr_restrict is 1)", "SYSLOG");
	write_file("sys/kernel/kptr_restrict", "2\n");
	expect_finding(check_kernel_symbols, FINDING_WARN, "(kernel.kptr_restrict is 2)",
		       "sysctl kernel.kptr_restrict=1");
	write_file("sys/kernel/kptr_restrict", "much\n");
	write_file("kallsyms", "");
	expect_finding(check_kernel_symbols, FINDING_WARN, "(kernel.kptr_restrict is -1)",
		       "SYSLOG");
	write_file("kallsyms", "not a symbol table");
	expect_finding(check_kernel_symbols, FINDING_WARN, "addresses are hidden", "");
	unlink(in_root("kallsyms"));
	expect_finding(check_kernel_symbols, FINDING_WARN, "No such file", "CONFIG_KALLSYMS");
}

static void process_ids_must_be_the_hosts(void **state)
{
	(void)state;
	unlink(in_root("self/ns/pid"));
	expect_finding(check_pid_namespace, FINDING_WARN, "No such file", "mount /proc");
	assert_int_equal(symlink("pid:[4026532000]", in_root("self/ns/pid")), 0);
	expect_finding(check_pid_namespace, FINDING_WARN, "not the host's", "hostPID");
	unlink(in_root("self/ns/pid"));
	assert_int_equal(symlink("pid:[4026531836]", in_root("self/ns/pid")), 0);
	expect_finding(check_pid_namespace, FINDING_OK, "this is the host's", "");
}

static void probes_of_the_kernel_say_something_wherever_they_run(void **state)
{
	static const check_fn probes[] = { check_bpf,	     check_perf,   check_tracepoints,
					   check_waits,	     check_growth, check_interrupts,
					   check_allocations };
	(void)state;

	for (size_t i = 0; i < array_len(probes); i++) {
		_cleanup_(doctor_report_done) struct doctor_report report = { 0 };

		probes[i](&host, &report);
		assert_in_range(report.nr_findings, 1, 5);
		assert_int_equal(report.findings[0].remedy[0] == '\0',
				 report.findings[0].level == FINDING_OK);
	}
}

static void programs_with_probes_of_allocations_are_counted(void **state)
{
	const char *proc_dir = host.proc_dir;
	(void)state;

	expect_finding(check_probes, FINDING_OK, "no program has them", "");
	host.proc_dir = in_root("nonexistent");
	expect_finding(check_probes, FINDING_WARN, "No such file", "--kind alloc");
	host.proc_dir = proc_dir;
}

static void the_sandbox_is_shown(void **state)
{
	(void)state;
	write_file("self/status", "Name:\tx\nNoNewPrivs:\t1\nSeccomp:\t2\n");
	expect_finding(check_sandbox, FINDING_OK, "a seccomp filter, no_new_privs is on", "");
	write_file("self/attr/apparmor/current", "unconfined\n");
	expect_finding(check_sandbox, FINDING_OK, "no_new_privs is on, AppArmor unconfined", "");
	write_file("self/attr/apparmor/current", "cri-containerd.apparmor.d (enforce)\n");
	expect_finding(check_sandbox, FINDING_WARN, "AppArmor cri-containerd.apparmor.d (enforce)",
		       "appArmorProfile");
	write_file("self/attr/apparmor/current", "");
	write_file("self/status", "NoNewPrivs:\t7\nSeccomp:\tx\nSeccomp_filters:\t0\n");
	expect_finding(check_sandbox, FINDING_OK, "unknown", "");
	unlink(in_root("self/status"));
	expect_finding(check_sandbox, FINDING_OK, "unknown", "");
}

static void few_open_files_are_a_warning(void **state)
{
	static const struct {
		const char *limits;
		enum finding_level level;
		const char *detail;
	} cases[] = {
		{ "Max open files  1024  65536  files  \n", FINDING_OK, "enough" },
		{ "Max open files  1024  unlimited  files  \n", FINDING_OK, "no limit" },
		{ "Limit\nMax open files  1024  4096  files\n", FINDING_WARN, "limited to 4096" },
		{ "Max open files  unlimited  65535  files", FINDING_WARN, "limited to 65535" },
		{ "Max open files\n", FINDING_WARN, "self/limits" },
		{ "Max open files  1024\n", FINDING_WARN, "self/limits" },
		{ "Max open files  1024  many\n", FINDING_WARN, "self/limits" },
		{ "Max openfiles  1024  65536\n", FINDING_WARN, "No such file" },
		{ "", FINDING_WARN, "No such file" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		write_file("self/limits", cases[i].limits);
		expect_finding(check_open_files, cases[i].level, cases[i].detail, "");
	}
	unlink(in_root("self/limits"));
	expect_finding(check_open_files, FINDING_WARN, "No such file", "mount /proc");
}

static void a_nodes_name_is_needed_where_there_is_a_kubelet(void **state)
{
	struct options options = { 0 };
	(void)state;

	host.options = &options;
	expect_finding(check_node_name, FINDING_OK, "not configured", "");
	options.kubelet_url = (char[]){ "https://10.0.0.1:10250" };
	expect_finding(check_node_name, FINDING_WARN, "unknown", "spec.nodeName");
	options.node_name = (char[]){ "worker-1" };
	expect_finding(check_node_name, FINDING_OK, "worker-1", "");
	host.options = &nothing_configured;
}

static void log_directories_are_needed_where_there_is_a_kubelet(void **state)
{
	struct options options = { .pod_logs = (char[]){ "/nonexistent" } };
	(void)state;

	expect_finding(check_pod_logs, FINDING_OK, "not configured", "");
	host.options = &options;
	expect_finding(check_pod_logs, FINDING_OK, "none in /nonexistent", "");
	options.kubelet_url = (char[]){ "https://10.0.0.1:10250" };
	expect_finding(check_pod_logs, FINDING_WARN, "/nonexistent/pods: No such file",
		       "--pod-logs");

	options.pod_logs = root_dir;
	assert_int_equal(mkdir(in_root("pods"), 0755), 0);
	assert_int_equal(mkdir(in_root("pods/shop_web_u-1"), 0755), 0);
	expect_finding(check_pod_logs, FINDING_OK, "names 1 pods and 0 containers", "");
	host.options = &nothing_configured;
}

static void no_kubelet_is_fine(void **state)
{
	(void)state;
	expect_finding(check_kubelet, FINDING_OK, "not configured", "");
}

static void a_kubelet_that_is_no_kubelet_or_away_fails(void **state)
{
	struct standin server;
	char url[PATH_BYTES];
	struct options options = { .kubelet_url = url };
	(void)state;

	if (standin_start(&server) < 0)
		skip(); /* no Python */
	host.options = &options;
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", server.port);
	expect_finding(check_kubelet, FINDING_FAIL, url, "");
	standin_stop(&server);
	expect_finding(check_kubelet, FINDING_FAIL, url, "");
	host.options = &nothing_configured;
}

static void a_kubelet_is_there_when_it_lists_pods(void **state)
{
	struct kubelet_standin server;
	struct options options = {
		.node_name = (char[]){ "worker-1" },
		.kubelet_url = server.url,
		.kubelet_ca_file = server.ca_file,
		.kubelet_token_file = server.token_file,
	};
	(void)state;

	if (kubelet_standin_start(&server, "127.0.0.1:0", "worker-1",
				  FIXTURES_DIR "/kubelet/pods.json") < 0)
		skip(); /* no Python or no openssl */
	host.options = &options;
	expect_finding(check_kubelet, FINDING_OK, " pods", "");
	options.kubelet_token_file = NULL;
	expect_finding(check_kubelet, FINDING_FAIL, "401", "");
	options.node_name = (char[]){ "worker-2" };
	expect_finding(check_kubelet, FINDING_FAIL, "certificate", "");
	kubelet_standin_stop(&server);
	host.options = &nothing_configured;
}

static void the_report_is_text_for_people(void **state)
{
	_cleanup_(doctor_report_done) struct doctor_report report = { 0 };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(10000);
	(void)state;

	doctor_report_add(&report, FINDING_OK, "kernel", NULL, "%d.%d", 6, 1);
	doctor_report_add(&report, FINDING_WARN, "cgroups", "mount it", "bad\nname");
	doctor_report_append_text(&report, &out);
	assert_string_equal(strbuf_str(&out), "ok    kernel               6.1\n"
					      "warn  cgroups              bad\\x0aname\n"
					      "                           → mount it\n"
					      "failures: 0, warnings: 1\n");
}

static void the_report_is_json_for_scripts(void **state)
{
	_cleanup_(doctor_report_done) struct doctor_report report = { 0 };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(10000);
	(void)state;

	doctor_report_append_json(&report, &out);
	assert_string_equal(strbuf_str(&out),
			    "{\"ok\":true,\"version\":\"" FLAMELET_VERSION "\",\"checks\":[]}\n");
	strbuf_clear(&out);
	doctor_report_add(&report, FINDING_OK, "kernel", NULL, "6.1");
	doctor_report_add(&report, FINDING_FAIL, "kubelet", "a \"b\"", "c\\d");
	doctor_report_append_json(&report, &out);
	assert_string_equal(
		strbuf_str(&out),
		"{\"ok\":false,\"version\":\"" FLAMELET_VERSION "\",\"checks\":["
		"{\"name\":\"kernel\",\"result\":\"ok\",\"detail\":\"6.1\",\"remedy\":\"\"},"
		"{\"name\":\"kubelet\",\"result\":\"fail\",\"detail\":\"c\\\\d\","
		"\"remedy\":\"a \\\"b\\\"\"}]}\n");
}

static void a_report_has_an_end(void **state)
{
	_cleanup_(doctor_report_done) struct doctor_report report = { 0 };
	(void)state;

	for (int i = 0; i < 1000; i++)
		doctor_report_add(&report, FINDING_OK, "kernel", NULL, "%d", i);
	assert_int_equal(report.error, -ENOSPC);
	assert_in_range(report.nr_findings, 10, 100);
}

static void json_strings_are_escaped_and_printable(void **state)
{
	static const char *const cases[][2] = {
		{ "", "\"detail\":\"\"," },
		{ "plain ä", "\"detail\":\"plain ä\"," },
		{ "\"\\/", "\"detail\":\"\\\"\\\\/\"," },
		{ "\n\t\001", "\"detail\":\"\\\\x0a\\\\x09\\\\x01\"," },
		{ "\xff", "\"detail\":\"\\\\xff\"," },
		{ "\xc3", "\"detail\":\"\\\\xc3\"," },
		{ "\xed\xa0\x80", "\"detail\":\"\\\\xed\\\\xa0\\\\x80\"," },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(doctor_report_done) struct doctor_report report = { 0 };
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(1000);

		doctor_report_add(&report, FINDING_OK, "kernel", NULL, "%s", cases[i][0]);
		doctor_report_append_json(&report, &out);
		assert_non_null(strstr(strbuf_str(&out), cases[i][1]));
	}
}

static void any_detail_is_reported_printable(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		_cleanup_(doctor_report_done) struct doctor_report report = { 0 };
		_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(4096);
		_cleanup_(strbuf_done) struct strbuf json = strbuf_with_max(4096);
		const char *name = hostile_names[i].name;

		doctor_report_add(&report, FINDING_WARN, "kernel", name, "%s", name);
		doctor_report_append_text(&report, &text);
		doctor_report_append_json(&report, &json);
		assert_printable(text.data, text.len, true);
		assert_printable(json.data, json.len, true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernels_version_is_told_and_never_a_failure),
		cmocka_unit_test(a_kernel_without_types_rules_bpf_out),
		cmocka_unit_test(only_the_strictest_lockdown_rules_bpf_out),
		cmocka_unit_test(a_missing_capability_is_named_with_what_it_costs),
		cmocka_unit_test(the_capture_backend_is_what_the_agent_would_take),
		cmocka_unit_test(a_backend_that_fails_without_a_reason_has_the_errors_text),
		cmocka_unit_test(kernel_symbols_need_an_address),
		cmocka_unit_test(process_ids_must_be_the_hosts),
		cmocka_unit_test(probes_of_the_kernel_say_something_wherever_they_run),
		cmocka_unit_test(programs_with_probes_of_allocations_are_counted),
		cmocka_unit_test(the_sandbox_is_shown),
		cmocka_unit_test(few_open_files_are_a_warning),
		cmocka_unit_test(a_nodes_name_is_needed_where_there_is_a_kubelet),
		cmocka_unit_test(log_directories_are_needed_where_there_is_a_kubelet),
		cmocka_unit_test(no_kubelet_is_fine),
		cmocka_unit_test(a_kubelet_that_is_no_kubelet_or_away_fails),
		cmocka_unit_test(a_kubelet_is_there_when_it_lists_pods),
		cmocka_unit_test(the_report_is_text_for_people),
		cmocka_unit_test(the_report_is_json_for_scripts),
		cmocka_unit_test(a_report_has_an_end),
		cmocka_unit_test(json_strings_are_escaped_and_printable),
		cmocka_unit_test(any_detail_is_reported_printable),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}

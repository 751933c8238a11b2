/* SPDX-License-Identifier: Apache-2.0 */
#include "privilege/refusal.h"

#include "base/capabilities.h"
#include "base/cleanup.h"
#include "base/fileio.h"
#include "remove_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "unit.h"

#define BOTH (CAPABILITY(BPF) | CAPABILITY(PERFMON))
#define ADMIN CAPABILITY(SYS_ADMIN)

struct refusal_case {
	struct refusal refusal;
	const char *cause; /* a part of it; NULL: none */
	const char *remedy;
};

static void expect(const struct refusal_case *wanted, struct refusal_words words)
{
	if (!wanted->cause) {
		assert_null(words.cause);
		return;
	}
	assert_non_null(words.cause);
	assert_non_null(strstr(words.cause, wanted->cause));
	assert_non_null(strstr(words.remedy, wanted->remedy));
}

static void perf_events_are_refused_for_one_of_four_reasons(void **state)
{
	static const struct refusal_case cases[] = {
		{ { -EACCES, 0, 2, false }, "CAP_PERFMON is missing", "add PERFMON to" },
		{ { -EACCES, CAPABILITY(BPF), 4, true }, "CAP_PERFMON is missing", "PERFMON" },
		{ { -EPERM, 0, -1, true }, "CAP_PERFMON is missing", "PERFMON" },
		{ { -EACCES, BOTH, 3, false }, "perf_event_paranoid above 2", "paranoid=2" },
		{ { -EACCES, BOTH, 3, true }, "requires CAP_SYS_ADMIN", "perfEventParanoid" },
		{ { -EPERM, BOTH, 2, true }, "a seccomp filter", "allow perf_event_open" },
		{ { -ENOSYS, BOTH, 2, true }, "a seccomp filter", "allow perf_event_open" },
		{ { -EPERM, ADMIN, 4, true }, "a seccomp filter", "allow perf_event_open" },
		{ { -EACCES, BOTH, 2, true }, "a security module", "audit" },
		{ { -EACCES, ADMIN, 4, false }, "a security module", "audit" },
		{ { -EPERM, BOTH, -1, false }, "memory", "perf_event_mlock_kb" },
		{ { -ENOSYS, BOTH, 2, false }, NULL, NULL },
		{ { -EMFILE, BOTH, 3, true }, NULL, NULL },
		{ { -EMFILE, 0, 3, false }, NULL, NULL },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++)
		expect(&cases[i], refusal_explain_perf(&cases[i].refusal));
}

static void bpf_is_refused_for_one_of_four_reasons(void **state)
{
	static const struct refusal_case cases[] = {
		{ { -EPERM, CAPABILITY(PERFMON), 2, false }, "CAP_BPF", "BPF and PERFMON" },
		{ { -EPERM, CAPABILITY(BPF), 2, true }, "CAP_PERFMON", "BPF and PERFMON" },
		{ { -EPERM, BOTH, 2, true }, "a seccomp filter", "allow bpf" },
		{ { -ENOSYS, ADMIN, 2, true }, "a seccomp filter", "allow bpf" },
		{ { -EPERM, BOTH, 4, false }, "locked down", "log" },
		{ { -ENOSYS, BOTH, 2, false }, "without BPF", "CONFIG_BPF_SYSCALL" },
		{ { -ENOSYS, 0, 2, false }, "without BPF", "CONFIG_BPF_SYSCALL" },
		{ { -E2BIG, BOTH, 2, true }, NULL, NULL },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++)
		expect(&cases[i], refusal_explain_bpf(&cases[i].refusal));
}

static void write_file(const char *dir, const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(file_write_atomic(path, text, strlen(text)), 0);
}

static void proc_tells_of_the_sysctl_and_of_the_filter(void **state)
{
	static const struct {
		const char *paranoid, *seccomp;
		int wanted_paranoid;
		bool is_filtered;
	} cases[] = {
		{ "4\n", "Name:\tx\nSeccomp:\t2\n", 4, true },
		{ "2\n", "Name:\tx\nSeccomp:\t0\n", 2, false },
		{ "-1\n", "Name:\tx\n", -1, false },
		{ "", "", -1, false },
		{ "99999999999\n", "Seccomp:\tyes\n", -1, false },
	};
	char dir[] = "/tmp/flamelet-test-XXXXXX", path[256];
	(void)state;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(refusal_of(dir, -EPERM).paranoid, -1);
	snprintf(path, sizeof(path), "%s/self", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/sys", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/sys/kernel", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	for (size_t i = 0; i < array_len(cases); i++) {
		write_file(dir, "sys/kernel/perf_event_paranoid", cases[i].paranoid);
		write_file(dir, "self/status", cases[i].seccomp);
		struct refusal refusal = refusal_of(dir, -EPERM);

		assert_int_equal(refusal.error, -EPERM);
		assert_int_equal(refusal.paranoid, cases[i].wanted_paranoid);
		assert_int_equal(refusal.is_filtered, cases[i].is_filtered);
		assert_int_equal(refusal.capabilities, capabilities_effective());
	}
	remove_tree(dir);
}

static void a_message_is_one_line_and_bpf_messages_that_know_better_stay(void **state)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(1000);
	(void)state;

	refusal_append_perf(-EMFILE, &message);
	assert_string_equal(strbuf_str(&message), "perf_event_open: Too many open files");
	refusal_explain_load(-E2BIG, &message);
	assert_string_equal(strbuf_str(&message), "perf_event_open: Too many open files");
	refusal_explain_load(-EPERM, &message);
	assert_non_null(strstr(strbuf_str(&message), "the BPF programs cannot be loaded: "
						     "Operation not permitted: "));
	assert_null(strstr(strbuf_str(&message), "Too many"));
	assert_null(strchr(strbuf_str(&message), '\n'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perf_events_are_refused_for_one_of_four_reasons),
		cmocka_unit_test(bpf_is_refused_for_one_of_four_reasons),
		cmocka_unit_test(proc_tells_of_the_sysctl_and_of_the_filter),
		cmocka_unit_test(a_message_is_one_line_and_bpf_messages_that_know_better_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/capabilities.h"
#include "base/cleanup.h"
#include "privilege/privileges.h"
#include "unit.h"

struct privilege_case {
	enum backend_set wanted;
	uint64_t capabilities;
	bool is_root;
	const char *args;
	size_t args_len;
	const char *message; /* NULL: allowed */
};

static void without_privileges_there_is_one_message_with_the_remedy(void **state)
{
#define ARGS(text) text, sizeof(text)
	static const struct privilege_case cases[] = {
		{ BACKENDS_ALL, UINT64_MAX, true, ARGS("flamelet"), NULL },
		{ BACKENDS_ALL, CAPABILITY(SYS_ADMIN), false, ARGS("flamelet"), NULL },
		{ BACKEND_BPF, CAPABILITY(BPF) | CAPABILITY(PERFMON), false, ARGS("flamelet"),
		  NULL },
		{ BACKENDS_ALL, CAPABILITY(PERFMON), false, ARGS("flamelet"), NULL },
		{ BACKEND_PERF, CAPABILITY(PERFMON), false, ARGS("flamelet"), NULL },
		{ BACKEND_PERF, CAPABILITY(BPF), false, ARGS("flamelet"),
		  "profiling needs root, or CAP_BPF and CAP_PERFMON; run: sudo /usr/bin/flamelet" },
		{ BACKENDS_ALL, 0, false, ARGS("flamelet\0record\0-o\0a b.svg"),
		  "profiling needs root, or CAP_BPF and CAP_PERFMON; run: sudo /usr/bin/flamelet "
		  "record -o 'a b.svg'" },
		{ BACKENDS_ALL, CAPABILITY(BPF), false, ARGS("./flamelet"),
		  "profiling needs root, or CAP_BPF and CAP_PERFMON; run: sudo /usr/bin/flamelet" },
		{ BACKENDS_ALL, 0, false, NULL, 0,
		  "profiling needs root, or CAP_BPF and CAP_PERFMON; run: sudo /usr/bin/flamelet" },
		{ BACKENDS_ALL, 0, false,
		  ARGS("f\0agent\0--otlp-header\0A: s3cret\0--otlp-header=s3cret\0-F\0001"),
		  "profiling needs root, or CAP_BPF and CAP_PERFMON; run: sudo /usr/bin/flamelet "
		  "agent --otlp-header … --otlp-header=… -F 1" },
		{ BACKEND_BPF,
		  CAPABILITY(SYS_PTRACE) | CAPABILITY(DAC_READ_SEARCH) | CAPABILITY(PERFMON), true,
		  ARGS("flamelet"),
		  "root lacks the capabilities that profiling needs; in a pod, set "
		  "securityContext.capabilities.add: [BPF, CHECKPOINT_RESTORE, SYSLOG]" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(1000);
		const struct privileges_process process = {
			.wanted = cases[i].wanted,
			.capabilities = cases[i].capabilities,
			.is_root = cases[i].is_root,
			.program = "/usr/bin/flamelet",
			.args = cases[i].args,
			.args_len = cases[i].args_len,
		};

		assert_int_equal(privileges_check_process(&process, &message),
				 cases[i].message ? -EPERM : 0);
		assert_string_equal(strbuf_str(&message), cases[i].message ? cases[i].message : "");
	}
}

static void this_process_can_be_asked(void **state)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(10000);
	(void)state;

	int r = privileges_check(BACKENDS_ALL, &message);
	assert_int_equal(r == 0, message.len == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_privileges_there_is_one_message_with_the_remedy),
		cmocka_unit_test(this_process_can_be_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

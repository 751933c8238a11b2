/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/json.h"
#include "findings/findings_text.h"
#include "stacks.h"
#include "torture.h"

#include "unit.h"

#include <string.h>

#define MAX_BYTES (1 << 20)
#define COLUMNS 100

static const struct stack_line lines[] = {
	{ "reaper", "main;wait4;do_syscall_64_[k];do_wait_[k];queued_read_lock_slowpath_[k]", 30 },
	{ "\x1b[31m\"quoted\\", "main;copy_process_[k];queued_write_lock_slowpath_[k]", 10 },
	{ "other", "main;work", 60 },
};

static void findings_are_printed_with_their_evidence(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_BYTES);
	_cleanup_(findings_done) struct findings findings = { 0 };
	(void)state;

	assert_int_equal(findings_init(&findings, profile), 0);
	findings_append_text(&findings, COLUMNS, &text);
	assert_string_equal(
		strbuf_str(&text),
		"Waiting for the kernel's tasklist_lock in do_wait takes 40.0 % of the CPU time\n"
		"   samples     40 of 100; 0.40 CPUs on average\n"
		"   called by   do_wait 75 %, copy_process 25 %\n"
		"   time of     reaper 75 %, \\x1b[31m\"quoted\\ (pid 1) 25 %\n"
		"   for example queued_read_lock_slowpath < do_wait < do_syscall_64 < wait4 < "
		"main\n"
		"   next        reduce polling: waitpid of many children, kill() and getpriority() "
		"of groups\n"
		"               perf lock contention -ab -- sleep 5\n"
		"   more        docs/findings.md#tasklist-lock\n");
}

static void a_long_stack_is_wrapped_and_ends(void **state)
{
	static const struct stack_line line = {
		"a",
		"r;q;p;a_function_with_a_name_that_is_long;another_function_with_a_long_name;o;n;m;"
		"l;k;j;i;h;g;f_[k];native_queued_spin_lock_slowpath_[k]",
		100
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(&line, 1);
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_BYTES);
	_cleanup_(findings_done) struct findings findings = { 0 };
	(void)state;

	assert_int_equal(findings_init(&findings, profile), 0);
	findings_append_text(&findings, 60, &text);
	assert_non_null(strstr(strbuf_str(&text),
			       "   for example native_queued_spin_lock_slowpath < f < g < h\n"
			       "               < i < j < k < l < m < n < o\n"
			       "               < another_function_with_a_long_name < …\n"));
}

static void functions_that_repeat_are_counted(void **state)
{
	static const struct stack_line line = {
		"a", "main;[unknown];[unknown];[unknown];walk;native_queued_spin_lock_slowpath_[k]",
		100
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(&line, 1);
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_BYTES);
	_cleanup_(findings_done) struct findings findings = { 0 };
	(void)state;

	assert_int_equal(findings_init(&findings, profile), 0);
	findings_append_text(&findings, 100, &text);
	assert_non_null(strstr(strbuf_str(&text), "   for example native_queued_spin_lock_slowpath "
						  "< walk < [unknown] ×3 < main\n"));
}

static void no_findings_say_what_was_looked_at(void **state)
{
	static const struct stack_line line = { "other", "main;work", 1234 };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(&line, 1);
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_BYTES);
	_cleanup_(findings_done) struct findings findings = { 0 };
	(void)state;

	assert_int_equal(findings_init(&findings, profile), 0);
	findings_append_brief(&findings, 3, COLUMNS, &text);
	assert_int_equal(text.len, 0);
	findings_append_text(&findings, COLUMNS, &text);
	assert_non_null(strstr(strbuf_str(&text), "no findings: none of the "));
	assert_non_null(strstr(strbuf_str(&text), " rules matches these 1,234 samples; "));
}

static void a_brief_line_fits_the_terminal(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_BYTES);
	_cleanup_(findings_done) struct findings findings = { 0 };
	(void)state;

	assert_int_equal(findings_init(&findings, profile), 0);
	findings_append_brief(&findings, 3, 80, &text);
	assert_string_equal(strbuf_str(&text), "findings        Waiting for the kernel's taskli…"
					       "ait takes 40.0 % of the CPU time\n");
	strbuf_clear(&text);
	findings_append_brief(&findings, 0, 80, &text);
	assert_int_equal(text.len, 0);
}

static double number(const struct json_value *object, const char *key)
{
	double value = -1;

	assert_true(json_number(json_find(object, key), &value));
	return value;
}

static void json_has_all_evidence(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_BYTES);
	_cleanup_(findings_done) struct findings findings = { 0 };
	_cleanup_(json_freep) struct json_value *root = NULL;
	(void)state;

	assert_int_equal(findings_init(&findings, profile), 0);
	findings_append_json(&findings, &text);
	assert_int_equal(json_parse(strbuf_str(&text), text.len, MAX_BYTES * 16, &root), 0);
	assert_int_equal(number(root, "samples"), 100);
	assert_int_equal(json_nr_children(json_find(root, "rules")),
			 nr_finding_rules + nr_wait_rules);
	assert_int_equal(json_nr_children(json_find(root, "findings")), 1);

	const struct json_value *finding = json_first_child(json_find(root, "findings"));
	assert_string_equal(json_text(json_find(finding, "id")), "tasklist-lock");
	assert_int_equal(number(finding, "samples"), 40);
	assert_int_equal(number(finding, "of"), 100);
	assert_int_equal(json_nr_children(json_find(finding, "callers")), 2);
	const struct json_value *programs = json_find(finding, "programs");
	assert_int_equal(json_nr_children(programs), 2);
	const struct json_value *second = json_next_sibling(json_first_child(programs));
	assert_string_equal(json_text(json_find(second, "name")), "\\x1b[31m\"quoted\\ (pid 1)");
	assert_int_equal(json_nr_children(json_find(finding, "stack")), 5);
	assert_string_equal(json_text(json_first_child(json_find(finding, "stack"))),
			    "queued_read_lock_slowpath");
	assert_string_equal(json_text(json_find(finding, "more")),
			    "docs/findings.md#tasklist-lock");
}

static void want_of_memory_is_kept_in_the_buffer(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	_cleanup_(findings_done) struct findings findings = { 0 };
	(void)state;

	assert_int_equal(findings_init(&findings, profile), 0);
	for (unsigned int n = 1;; n++) {
		_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_BYTES);

		torture_begin(n);
		findings_append_text(&findings, COLUMNS, &text);
		findings_append_json(&findings, &text);
		if (!torture_end())
			break;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(findings_are_printed_with_their_evidence),
		cmocka_unit_test(a_long_stack_is_wrapped_and_ends),
		cmocka_unit_test(functions_that_repeat_are_counted),
		cmocka_unit_test(no_findings_say_what_was_looked_at),
		cmocka_unit_test(a_brief_line_fits_the_terminal),
		cmocka_unit_test(json_has_all_evidence),
		cmocka_unit_test(want_of_memory_is_kept_in_the_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

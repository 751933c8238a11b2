/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/folded.h"

#include "hostile_names.h"
#include "stacks.h"
#include "torture.h"

#define PLENTY_BYTES (1 << 20)

static void assert_folded(const struct stack_line *lines, size_t nr, const char *expected)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines, nr);
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	assert_int_equal(folded_encode(profile, &out), 0);
	assert_string_equal(strbuf_str(&out), expected);
}

static void a_line_has_the_process_the_stack_and_the_count(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "sh", "main;run;do_syscall_64_[k]", 3 } };

	assert_folded(lines, 1, "sh;main;run;do_syscall_64_[k] 3\n");
}

static void marks_tell_what_code_a_frame_is(void **state)
{
	(void)state;
	const struct stack_line lines[] = {
		{ "go", "main.main_[g];main.run_[g]", 1 },
		{ "js", "node::Start;run_[j];read_[k]", 2 },
		{ "py", "Py_RunMain;work_[p];read_[k]", 3 },
		{ "rs", "main_[r];[too deep]", 3 },
	};

	assert_folded(lines, array_len(lines),
		      "go;main.main_[g];main.run_[g] 1\n"
		      "js;node::Start;run_[j];read_[k] 2\n"
		      "py;Py_RunMain;work_[p];read_[k] 3\n"
		      "rs;main_[r];[too deep] 3\n");
}

static void inlined_functions_are_frames_of_their_own(void **state)
{
	(void)state;
	const struct stack_line lines[] = {
		{ "a", "main;fill_[i];push_[i];grow", 1 },
		{ "a", "main;fill_[i]", 2 },
		{ "a", "main;fill", 3 },
		{ "b", "main_[r];push_[i];entry_[k];read_[i]", 4 },
	};

	assert_folded(lines, array_len(lines),
		      "a;main;fill 3\n"
		      "a;main;fill_[i] 2\n"
		      "a;main;fill_[i];push_[i];grow 1\n"
		      "b;main_[r];push_[i];entry_[k];read_[i] 4\n");
}

/* FRAME_JIT is the only one that lines with marks can say. */
static void all_jit_compilers_have_one_mark(void **state)
{
	(void)state;
	static const enum frame_kind kinds[] = { FRAME_JVM, FRAME_V8JS, FRAME_JIT };
	const struct stack_line line = { "java", "main_[j]", 1 };

	for (size_t i = 0; i < array_len(kinds); i++) {
		_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(&line, 1);
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		profile->locations[1].kind = kinds[i];
		assert_int_equal(folded_encode(profile, &out), 0);
		assert_string_equal(strbuf_str(&out), "java;main_[j] 1\n");
	}
}

static void no_samples_make_no_lines(void **state)
{
	(void)state;
	assert_folded(NULL, 0, "");
}

static void a_sample_without_frames_is_its_process(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "sh", "", 2 } };

	assert_folded(lines, 1, "sh 2\n");
}

static void lines_are_sorted_and_equal_ones_summed(void **state)
{
	(void)state;
	const struct stack_line lines[] = {
		{ "b", "main", 1 }, { "a", "main;x", 2 }, { "b", "main", 10 },
		{ "a", "main", 3 }, { "a", "main;x", 4 }, { "a", "main_[k]", 5 },
	};

	assert_folded(lines, array_len(lines),
		      "a;main 3\n"
		      "a;main;x 6\n"
		      "a;main_[k] 5\n"
		      "b;main 11\n");
}

static void separators_in_names_are_replaced(void **state)
{
	(void)state;
	static const struct {
		const char *comm;
		const char *expected;
	} cases[] = {
		{ "a;b", "a:b;main 1\n" },
		{ "a\nb 9", "a\\x0ab 9;main 1\n" },
		{ "a\r\n", "a\\x0d\\x0a;main 1\n" },
		{ "\x1b[2J", "\\x1b[2J;main 1\n" },
		{ "", "[unnamed];main 1\n" },
		{ "\x7f", "\\x7f;main 1\n" },
		{ "\x9b;\xff;", "\\x9b:\\xff:;main 1\n" },
		{ "caf\xc3\xa9", "caf\xc3\xa9;main 1\n" },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		const struct stack_line line = { cases[i].comm, "main", 1 };

		assert_folded(&line, 1, cases[i].expected);
	}
}

static void any_name_leaves_printable(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		const struct stack_line line = { hostile_names[i].name, hostile_names[i].name, 1 };
		_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(&line, 1);
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
		char expected[256];

		snprintf(expected, sizeof(expected), "%s;%s 1\n", hostile_names[i].printable,
			 hostile_names[i].printable);
		assert_int_equal(folded_encode(profile, &out), 0);
		assert_string_equal(strbuf_str(&out), expected);
		assert_printable(out.data, out.len, true);
	}
}

static void the_buffer_s_limit_is_kept(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "sh", "main", 3 }, { "sh", "other", 3 } };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines, 2);

	for (size_t max = 0; max < 21; max++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(max);

		assert_int_equal(folded_encode(profile, &out), -ENOSPC);
		assert_int_equal(strbuf_error(&out), -ENOSPC);
	}
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(21);
	assert_int_equal(folded_encode(profile, &out), 0);
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "sh", "main", 3 }, { "sh", "other", 3 } };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines, 2);

	for (unsigned int n = 1;; n++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		torture_begin(n);
		int r = folded_encode(profile, &out);
		bool has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
		assert_int_equal(strbuf_error(&out), r);
		if (!has_failed)
			return;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_has_the_process_the_stack_and_the_count),
		cmocka_unit_test(marks_tell_what_code_a_frame_is),
		cmocka_unit_test(inlined_functions_are_frames_of_their_own),
		cmocka_unit_test(all_jit_compilers_have_one_mark),
		cmocka_unit_test(no_samples_make_no_lines),
		cmocka_unit_test(a_sample_without_frames_is_its_process),
		cmocka_unit_test(lines_are_sorted_and_equal_ones_summed),
		cmocka_unit_test(separators_in_names_are_replaced),
		cmocka_unit_test(any_name_leaves_printable),
		cmocka_unit_test(the_buffer_s_limit_is_kept),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Replies of a worker that was taken over by what it read. */
#include "runtime/worker/runtime_worker.h"

#include <string.h>

#include "unit.h"

static const struct runtime_file cpython = { .kind = RUNTIME_CPYTHON };

static struct runtime_found good_found(void)
{
	return (struct runtime_found){
		.state = RUNTIME_READY,
		.layout.cpython = { .kind = RUNTIME_CPYTHON, .nr_place = CPYTHON_MAX_PLACE },
		.process = { .kind = RUNTIME_CPYTHON },
		.is_shared = 1,
		.has_process = 1,
		.reason = "odd, but all right",
	};
}

static int check(const struct runtime_found *found)
{
	struct runtime_found copy;

	return runtime_answer_process(found, sizeof(*found), &cpython, &copy);
}

static void a_sound_answer_is_copied(void **state)
{
	const struct runtime_found found = good_found();
	struct runtime_found copy;
	(void)state;

	assert_int_equal(runtime_answer_process(&found, sizeof(found), &cpython, &copy), 0);
	assert_int_equal(copy.layout.cpython.nr_place, CPYTHON_MAX_PLACE);
	assert_string_equal(copy.reason, found.reason);
}

static void a_process_without_values_of_its_own_has_a_kind(void **state)
{
	struct runtime_found found = good_found(), copy;
	(void)state;

	found.has_process = 0;
	found.process.kind = RUNTIME_V8;
	found.process.words[0] = 1;
	assert_int_equal(runtime_answer_process(&found, sizeof(found), &cpython, &copy), 0);
	assert_int_equal(copy.process.kind, RUNTIME_CPYTHON);
	assert_int_equal(copy.process.words[0], 0);
}

static void a_reason_becomes_printable(void **state)
{
	struct runtime_found found = good_found(), copy;
	(void)state;

	memset(found.reason, '\n', sizeof(found.reason));
	assert_int_equal(runtime_answer_process(&found, sizeof(found), &cpython, &copy), 0);
	assert_int_equal(strspn(copy.reason, "?"), sizeof(copy.reason) - 1);
}

static void what_is_not_ready_needs_no_layout(void **state)
{
	struct runtime_found found = { .state = RUNTIME_PENDING };
	(void)state;

	assert_int_equal(check(&found), 0);
	found.state = RUNTIME_UNSUPPORTED;
	assert_int_equal(check(&found), 0);
}

static void a_marked_one_is_unsupported_and_has_a_layout(void **state)
{
	struct runtime_found found = good_found();
	(void)state;

	found.is_marked = 1;
	assert_int_equal(check(&found), -EBADMSG);
	found.state = RUNTIME_UNSUPPORTED;
	assert_int_equal(check(&found), 0);
	found.layout.cpython.nr_place = 0;
	assert_int_equal(check(&found), -EBADMSG);
	found = good_found();
	found.state = RUNTIME_UNSUPPORTED;
	found.is_marked = 2;
	assert_int_equal(check(&found), -EBADMSG);
	found.is_marked = 1;
	found.has_process = 0;
	assert_int_equal(check(&found), -EBADMSG);
}

static void values_out_of_range_are_refused(void **state)
{
	struct runtime_found found = good_found();
	(void)state;

	assert_int_equal(runtime_answer_process(&found, sizeof(found) - 1, &cpython, &found),
			 -EBADMSG);
	found.state = RUNTIME_NR_STATES;
	assert_int_equal(check(&found), -EBADMSG);
	found = good_found();
	found.is_shared = 2;
	assert_int_equal(check(&found), -EBADMSG);
	found = good_found();
	found.is_likely = 2;
	assert_int_equal(check(&found), -EBADMSG);
	found = good_found();
	found.has_process = 2;
	assert_int_equal(check(&found), -EBADMSG);
	found = good_found();
	found.layout.kind = RUNTIME_V8;
	assert_int_equal(check(&found), -EBADMSG);
	found = good_found();
	found.process.kind = RUNTIME_V8;
	assert_int_equal(check(&found), -EBADMSG);
	found = good_found();
	found.process.code[RUNTIME_MAX_CODE - 1] = (struct runtime_code){ .start = 2, .end = 1 };
	assert_int_equal(check(&found), -EBADMSG);
}

static void layouts_of_cpython_are_checked(void **state)
{
	struct runtime_found found = good_found();
	struct cpython_layout *layout = &found.layout.cpython;
	(void)state;

	layout->nr_place = 0;
	assert_int_equal(check(&found), -EBADMSG);
	layout->nr_place = CPYTHON_MAX_PLACE + 1;
	assert_int_equal(check(&found), -EBADMSG);
	layout->nr_place = 1;
	layout->chain = CPYTHON_CHAIN_BY_SHIM + 1;
	assert_int_equal(check(&found), -EBADMSG);
	layout->chain = CPYTHON_CHAIN_BY_SHIM;
	layout->instr_kind = CPYTHON_INSTR_POINTER + 1;
	assert_int_equal(check(&found), -EBADMSG);
	layout->instr_kind = CPYTHON_INSTR_POINTER;
	assert_int_equal(check(&found), 0);
}

static void files_are_checked(void **state)
{
	struct runtime_file_answer answer = { .file.kind = RUNTIME_V8, .nr_segments = 1 }, copy;
	(void)state;

	assert_int_equal(runtime_answer_file(&answer, sizeof(answer), 1 << RUNTIME_V8, &copy), 0);
	assert_int_equal(runtime_answer_file(&answer, sizeof(answer), 1 << RUNTIME_CPYTHON, &copy),
			 -EBADMSG);
	assert_int_equal(runtime_answer_file(&answer, sizeof(answer) - 1, UINT32_MAX, &copy),
			 -EBADMSG);
	answer.nr_segments = RUNTIME_MAX_SEGMENTS + 1;
	assert_int_equal(runtime_answer_file(&answer, sizeof(answer), UINT32_MAX, &copy), -EBADMSG);
	answer.nr_segments = 0;
	answer.file.kind = RUNTIME_NR_KINDS;
	assert_int_equal(runtime_answer_file(&answer, sizeof(answer), UINT32_MAX, &copy), -EBADMSG);
	answer.file.kind = RUNTIME_NONE;
	assert_int_equal(runtime_answer_file(&answer, sizeof(answer), 0, &copy), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sound_answer_is_copied),
		cmocka_unit_test(a_process_without_values_of_its_own_has_a_kind),
		cmocka_unit_test(a_reason_becomes_printable),
		cmocka_unit_test(what_is_not_ready_needs_no_layout),
		cmocka_unit_test(a_marked_one_is_unsupported_and_has_a_layout),
		cmocka_unit_test(values_out_of_range_are_refused),
		cmocka_unit_test(layouts_of_cpython_are_checked),
		cmocka_unit_test(files_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

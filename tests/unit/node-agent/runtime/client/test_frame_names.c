/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/client/frame_names.h"

#include "base/cleanup.h"

#include <string.h>

#include "unit.h"

#define SECOND UINT64_C(1000000000)

static const uint64_t python[] = { RUNTIME_TAG(RUNTIME_FRAME_CPYTHON, 7, 12), 0x1000 };
static const uint64_t java[] = { RUNTIME_TAG(RUNTIME_FRAME_JVM_COMPILED, 7, 12), 0x1000 };
static const uint64_t script[] = { RUNTIME_TAG(RUNTIME_FRAME_V8_CODE, 7, 12), 0x1000, 0x2000 };

static const struct frame_choice of_python = { .kind = RUNTIME_CPYTHON };
static const struct frame_choice of_copies = { .kind = RUNTIME_CPYTHON, .is_copied = true };
static const struct frame_choice of_java = { .kind = RUNTIME_HOTSPOT };
static const struct frame_choice of_script = { .kind = RUNTIME_V8 };

static uint32_t add(struct frame_names *frames, const uint64_t *words, uint64_t now_ns, bool is_new)
{
	uint32_t number;
	bool is_added;

	assert_int_equal(frame_names_get(frames, words, now_ns, &number, &is_added), 0);
	assert_int_equal(is_added, is_new);
	return number;
}

static void equal_frames_have_one_number(void **state)
{
	_cleanup_(frame_names_done) struct frame_names frames = { 0 };
	const uint64_t entered[] = { python[0] | UINT64_C(1) << 62, python[1] };
	const uint64_t other[] = { python[0] + 1, python[1] };
	(void)state;

	uint32_t first = add(&frames, python, SECOND, true);
	assert_int_equal(add(&frames, python, SECOND, false), first);
	assert_int_equal(add(&frames, entered, SECOND, false), first);
	assert_int_not_equal(add(&frames, other, SECOND, true), first);
	assert_int_not_equal(add(&frames, java, SECOND, true), first);
	assert_int_equal(frames.nr_rows, 3);
}

static void frames_are_taken_by_their_kind(void **state)
{
	_cleanup_(frame_names_done) struct frame_names frames = { 0 };
	uint32_t numbers[4];
	(void)state;

	uint32_t first = add(&frames, python, SECOND, true);
	uint32_t second = add(&frames, script, SECOND, true);
	assert_false(frame_names_wait(&frames, &of_java));
	assert_true(frame_names_wait(&frames, &of_script));
	assert_int_equal(frame_names_take(&frames, &of_script, numbers, 4), 1);
	assert_int_equal(numbers[0], second);
	assert_int_equal(frame_names_take(&frames, &of_python, numbers, 4), 1);
	assert_int_equal(numbers[0], first);
	assert_int_equal(frame_names_take(&frames, &of_python, numbers, 4), 0);
	frame_names_put_back(&frames, numbers, 1);
	assert_true(frame_names_wait(&frames, &of_python));
}

static void copied_frames_are_taken_apart_from_others(void **state)
{
	_cleanup_(frame_names_done) struct frame_names frames = { 0 };
	const uint64_t other[] = { python[0] + 1, python[1] };
	uint32_t numbers[4];
	(void)state;

	uint32_t first = add(&frames, python, SECOND, true);
	assert_false(frame_names_wait(&frames, &of_copies));
	uint32_t second = add(&frames, other, SECOND, true);
	frame_names_set_copied(&frames, second, true);
	assert_true(frame_names_wait(&frames, &of_copies));
	assert_int_equal(frame_names_take(&frames, &of_python, numbers, 4), 1);
	assert_int_equal(numbers[0], first);
	assert_int_equal(frame_names_take(&frames, &of_copies, numbers, 4), 1);
	assert_int_equal(numbers[0], second);
	frame_names_set_copied(&frames, second, false);
	frame_names_put_back(&frames, numbers, 1);
	assert_int_equal(frame_names_take(&frames, &of_python, numbers, 4), 1);
	assert_int_equal(numbers[0], second);
}

static void a_frame_without_a_name_is_tried_again_a_few_times(void **state)
{
	_cleanup_(frame_names_done) struct frame_names frames = { 0 };
	uint64_t now_ns = SECOND;
	uint32_t number;
	(void)state;

	for (unsigned int i = 0; i < FRAME_NAMES_MAX_TRIES; i++) {
		add(&frames, python, now_ns, true);
		assert_int_equal(frame_names_take(&frames, &of_python, &number, 1), 1);
		frame_names_set(&frames, number, NULL, 0, now_ns);
		add(&frames, python, now_ns, false);
		now_ns += FRAME_NAMES_RETRY_NS;
	}
	add(&frames, python, now_ns, false);
}

static void a_frame_with_a_name_is_not_read_again(void **state)
{
	_cleanup_(frame_names_done) struct frame_names frames = { 0 };
	uint32_t number;
	(void)state;

	add(&frames, python, SECOND, true);
	assert_int_equal(frame_names_take(&frames, &of_python, &number, 1), 1);
	size_t nr_bytes = frames.nr_bytes;
	frame_names_set(&frames, number, "12345", 5, SECOND);
	assert_int_equal(frames.nr_bytes, nr_bytes + 5);
	assert_memory_equal(frame_names_find(&frames, number)->names, "12345", 5);
	add(&frames, python, 100 * SECOND, false);
}

static void the_number_of_frames_is_limited(void **state)
{
	_cleanup_(frame_names_done) struct frame_names frames = { 0 };
	uint64_t words[] = { python[0], 0 };
	uint32_t number;
	bool is_added;
	(void)state;

	for (words[1] = 0; words[1] < FRAME_NAMES_MAX; words[1]++)
		add(&frames, words, SECOND, true);
	assert_int_equal(frame_names_get(&frames, words, SECOND, &number, &is_added), -ENOSPC);
	words[1] = 0;
	add(&frames, words, SECOND, false);
	assert_null(frame_names_find(&frames, FRAME_NAMES_MAX));
}

static void tags_have_kinds(void **state)
{
	(void)state;
	assert_int_equal(frame_names_kind(python[0]), RUNTIME_CPYTHON);
	assert_int_equal(frame_names_kind(java[0]), RUNTIME_HOTSPOT);
	assert_int_equal(frame_names_kind(script[0]), RUNTIME_V8);
	assert_int_equal(frame_names_kind(RUNTIME_TAG(RUNTIME_FRAME_MARK, 0, 0)), RUNTIME_NONE);
	assert_int_equal(frame_names_kind(0x7f0000001000), RUNTIME_NONE);
	assert_int_equal(frame_names_kind(RUNTIME_TAG(0x3f, 0, 0)), RUNTIME_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_frames_have_one_number),
		cmocka_unit_test(frames_are_taken_by_their_kind),
		cmocka_unit_test(copied_frames_are_taken_apart_from_others),
		cmocka_unit_test(a_frame_without_a_name_is_tried_again_a_few_times),
		cmocka_unit_test(a_frame_with_a_name_is_not_read_again),
		cmocka_unit_test(the_number_of_frames_is_limited),
		cmocka_unit_test(tags_have_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_translation.h"

#include "base/cleanup.h"
#include "unit.h"

#define MAX_FRAMES 4

/* Operations, as in the sources of V8. */
enum { RESULT, NO_RESULT, BUILTIN, ARGUMENTS = 10, BEGIN = 14, CAPTURED = 18 };
enum { NOTHING = 37, LITERAL, SLOT = 40 };
enum { REPEAT = 44, REPEAT_1 = 46, REPEAT_2, REPEAT_3, REPEAT_255 = 255 };

#define NUMBER(n) (2 * (n)) /* one with a sign */

/* Two translations, of one function and of two. The second one repeats two operations, has one of
 * its own in place of the third one, and repeats the fourth one. */
static const uint8_t bytes[] = { BEGIN,	  0,	     NUMBER(1), NUMBER(1), RESULT,   182,
				 1,	  NUMBER(2), NUMBER(0), 6,	   0,	     NUMBER(1),
				 LITERAL, 4,	     SLOT,	3,	   NOTHING,
#define SECOND 17
				 BEGIN,	  SECOND,    NUMBER(3), NUMBER(3), REPEAT_2, BUILTIN,
				 4,	  4,	     4,		REPEAT,	   1,	     NO_RESULT,
				 1,	  NUMBER(5), NUMBER(6), 2,	   BEGIN };

static int read_at(size_t len, size_t index, struct v8_translated *frames)
{
	return v8_translation_read(bytes, len, index, frames, MAX_FRAMES);
}

static void frames_are_read_in_their_order(void **state)
{
	(void)state;
	struct v8_translated frames[MAX_FRAMES];

	assert_int_equal(read_at(sizeof(bytes), 0, frames), 1);
	assert_int_equal(frames[0].bytecode_offset, 91);
	assert_int_equal(frames[0].shared, 2);
	assert_int_equal(frames[0].bytecode, 0);
}

static void operations_may_be_repeated(void **state)
{
	(void)state;
	static const uint8_t inlined[] = { BEGIN,     0,	 NUMBER(2), NUMBER(2), RESULT,
					   NUMBER(9), NUMBER(2), NUMBER(0), 6,	       0,
					   2,	      LITERAL,	 4,	    NO_RESULT, NUMBER(7),
					   NUMBER(3), NUMBER(1), 0,	    NOTHING,   BEGIN,
					   19,	      NUMBER(2), NUMBER(2), RESULT,    NUMBER(8),
					   NUMBER(2), NUMBER(0), 6,	    0,	       2,
					   REPEAT,    2,	 SLOT,	    1 };
	struct v8_translated frames[MAX_FRAMES];

	assert_int_equal(v8_translation_read(inlined, sizeof(inlined), 19, frames, MAX_FRAMES), 2);
	assert_int_equal(frames[0].bytecode_offset, 8);
	assert_int_equal(frames[0].shared, 2);
	assert_int_equal(frames[1].bytecode_offset, 7);
	assert_int_equal(frames[1].shared, 3);
	assert_int_equal(frames[1].bytecode, 1);
	/* The first frame is that of the earlier translation. */
	assert_int_equal(read_at(sizeof(bytes), SECOND, frames), 2);
	assert_int_equal(frames[0].bytecode_offset, 91);
	assert_int_equal(frames[1].bytecode_offset, 0);
	assert_int_equal(frames[1].shared, 5);
	assert_int_equal(frames[1].bytecode, 6);
}

static void frames_of_arguments_are_left_out(void **state)
{
	(void)state;
	static const uint8_t mixed[] = { BEGIN,	    0, 6, 4, NO_RESULT, 2, 2, 2, 2,
					 ARGUMENTS, 2, 1, 1, NO_RESULT, 6, 4, 2, 2 };
	struct v8_translated frames[MAX_FRAMES];

	assert_int_equal(v8_translation_read(mixed, sizeof(mixed), 0, frames, MAX_FRAMES), 2);
	assert_int_equal(frames[0].bytecode_offset, 1);
	assert_int_equal(frames[1].bytecode_offset, 3);
	assert_int_equal(frames[1].shared, 2);
}

static void cut_translations_are_refused(void **state)
{
	(void)state;
	struct v8_translated frames[MAX_FRAMES];

	for (size_t len = 0; len < 12; len++)
		assert_int_equal(read_at(len, 0, frames), -ENOENT);
	for (size_t len = SECOND; len < sizeof(bytes) - 1; len++)
		assert_int_equal(read_at(len, SECOND, frames), -ENOENT);
	assert_int_equal(read_at(sizeof(bytes), sizeof(bytes), frames), -ENOENT);
	assert_int_equal(read_at(sizeof(bytes), SIZE_MAX, frames), -ENOENT);
	assert_int_equal(read_at(sizeof(bytes), 4, frames), -ENOENT);
}

static void damaged_translations_are_refused(void **state)
{
	(void)state;
	static const uint8_t damaged[][12] = {
		{ BEGIN, 0, 2, NUMBER(0) }, /* no frames */
		{ BEGIN, 0, 2, 3, NO_RESULT, 2, 2, 2, 2 }, /* fewer than none */
		{ BEGIN, 0, 2, NUMBER(MAX_FRAMES + 1), NO_RESULT, 2, 2, 2, 2 },
		{ BEGIN, 1, 2, 2, NO_RESULT, 2, 2, 2, 2 }, /* the earlier one is outside */
		{ BEGIN, 0, 2, 2, REPEAT_1, NO_RESULT, 2, 2, 2, 2 }, /* there is no earlier one */
		{ BEGIN, 0, 2, 2, REPEAT, 0, NO_RESULT, 2, 2, 2, 2 },
		{ BEGIN, 0, 2, 2, REPEAT_255, NO_RESULT, 2, 2, 2, 2 },
		{ BEGIN, 0, 2, 2, BEGIN, 0, 2, 2, NO_RESULT, 2, 2, 2 },
		{ BEGIN, 0, 2, 2, BUILTIN, 2, 2, 2 }, /* no function */
		{ BEGIN, 0, 2, 2, NO_RESULT, 255, 255, 255, 255, 255, 255, 255 },
		{ CAPTURED, 0, 2, 2, NO_RESULT, 2, 2, 2, 2 },
	};
	struct v8_translated frames[MAX_FRAMES];

	for (size_t i = 0; i < array_len(damaged); i++)
		assert_int_equal(
			v8_translation_read(damaged[i], sizeof(damaged[i]), 0, frames, MAX_FRAMES),
			-ENOENT);
}

static void the_earlier_translation_ends_where_the_next_one_begins(void **state)
{
	(void)state;
	static const uint8_t beyond[] = { BEGIN,     0, NUMBER(1), NUMBER(1), LITERAL,	4,
					  BEGIN,     6, NUMBER(1), NUMBER(1), REPEAT_3, NOTHING,
					  NO_RESULT, 0, 0,	   0,	      0 };
	struct v8_translated frames[MAX_FRAMES];

	assert_int_equal(v8_translation_read(beyond, sizeof(beyond), 6, frames, MAX_FRAMES),
			 -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_read_in_their_order),
		cmocka_unit_test(operations_may_be_repeated),
		cmocka_unit_test(frames_of_arguments_are_left_out),
		cmocka_unit_test(cut_translations_are_refused),
		cmocka_unit_test(damaged_translations_are_refused),
		cmocka_unit_test(the_earlier_translation_ends_where_the_next_one_begins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

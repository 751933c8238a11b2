/* SPDX-License-Identifier: Apache-2.0 */
#include "base/flat.h"

#include "base/cleanup.h"
#include "unit.h"

#include <string.h>

#define MAX_BYTES 1024
#define BYTES(literal) literal, sizeof(literal) - 1
#define NUMBER_7 "\x07\0\0\0\0\0\0\0"
#define NUMBER_2 "\x02\0\0\0\0\0\0\0"

static void what_was_put_is_taken(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	size_t len;
	(void)state;

	flat_put_number(&out, UINT64_MAX);
	flat_put_number(&out, true);
	flat_put_text(&out, "text");
	flat_put_text(&out, NULL);
	flat_put_bytes(&out, "a\0b", 3);
	flat_put_bytes(&out, NULL, 0);
	assert_int_equal(strbuf_error(&out), 0);

	struct flat_reader reader = flat_reader(out.data, out.len);
	assert_int_equal(flat_take_number(&reader, UINT64_MAX), UINT64_MAX);
	assert_true(flat_take_bool(&reader));
	assert_string_equal(flat_take_text(&reader, 4), "text");
	assert_string_equal(flat_take_text(&reader, 0), "");
	assert_memory_equal(flat_take_bytes(&reader, 3, &len), "a\0b", 4);
	assert_int_equal(len, 3);
	flat_take_bytes(&reader, SIZE_MAX, &len);
	assert_int_equal(len, 0);
	assert_int_equal(flat_reader_finish(&reader), 0);
}

static void a_string_that_is_wrong_is_empty_and_told(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		int result;
	} cases[] = {
		{ BYTES(NUMBER_2 "ab\0"), 0 },
		{ BYTES("\0\0\0\0\0\0\0\0\0"), 0 },
		{ BYTES(NUMBER_7 "abcdefg\0"), 0 },

		{ BYTES(""), -EBADMSG },
		{ BYTES("\x02\0\0\0\0\0\0"), -EBADMSG },
		{ BYTES(NUMBER_2), -EBADMSG },
		{ BYTES(NUMBER_2 "ab"), -EBADMSG },
		{ BYTES(NUMBER_2 "abc"), -EBADMSG },
		{ BYTES(NUMBER_2 "a\0\0"), -EBADMSG }, /* a NUL in it */
		{ BYTES(NUMBER_2 "ab\0c"), -EBADMSG }, /* more */
		{ BYTES("\x08\0\0\0\0\0\0\0abcdefgh\0"), -EBADMSG }, /* over the limit */
		{ BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\0"), -EBADMSG },
		{ BYTES("\xfe\xff\xff\xff\xff\xff\xff\xff\0"), -EBADMSG },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct flat_reader reader = flat_reader(cases[i].bytes, cases[i].len);
		const char *text = flat_take_text(&reader, 7);

		assert_int_equal(flat_reader_finish(&reader), cases[i].result);
		if (reader.is_bad)
			assert_string_equal(text, "");
	}
}

static void numbers_have_a_maximum(void **state)
{
	static const char bytes[] = NUMBER_7 NUMBER_7 NUMBER_2 NUMBER_2;
	struct flat_reader reader = flat_reader(bytes, sizeof(bytes) - 1);
	(void)state;

	assert_int_equal(flat_take_number(&reader, 7), 7);
	assert_false(reader.is_bad);
	assert_int_equal(flat_take_number(&reader, 6), 0);
	assert_true(reader.is_bad);

	reader = flat_reader(bytes + 16, 16);
	assert_false(flat_take_bool(&reader));
	assert_true(reader.is_bad);
}

static void after_the_first_fault_nothing_is_taken(void **state)
{
	static const char bytes[] = NUMBER_7 NUMBER_2 "ab\0";
	struct flat_reader reader = flat_reader(bytes, sizeof(bytes) - 1);
	size_t len = 1;
	(void)state;

	flat_take_number(&reader, 1);
	assert_string_equal(flat_take_text(&reader, 7), "");
	assert_int_equal(flat_take_number(&reader, UINT64_MAX), 0);
	assert_string_equal(flat_take_bytes(&reader, SIZE_MAX, &len), "");
	assert_int_equal(len, 0);
	assert_int_equal(flat_reader_finish(&reader), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_put_is_taken),
		cmocka_unit_test(a_string_that_is_wrong_is_empty_and_told),
		cmocka_unit_test(numbers_have_a_maximum),
		cmocka_unit_test(after_the_first_fault_nothing_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

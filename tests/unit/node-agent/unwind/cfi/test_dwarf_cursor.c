/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/cfi/dwarf_cursor.h"

#include "base/err.h"
#include "cfi_bytes.h"
#include "unit.h"

static struct dwarf_cursor over(struct byte_string bytes)
{
	return dwarf_cursor_over((const uint8_t *)bytes.data, bytes.len);
}

struct number_case {
	struct byte_string bytes;
	uint64_t value;
	bool is_bad;
};

static void unsigned_numbers_have_7_bits_a_byte(void **state)
{
	static const struct number_case cases[] = {
		{ BYTES("\x00"), 0, false },
		{ BYTES("\x7f"), 127, false },
		{ BYTES("\x80\x01"), 128, false },
		{ BYTES("\xe5\x8e\x26"), 624485, false },
		{ BYTES("\x81\x80\x00"), 1, false },
		{ BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), UINT64_MAX, false },
		{ BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), UINT64_MAX, false },
		{ BYTES("\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"), 1, false },
		{ BYTES(""), 0, true },
		{ BYTES("\x80"), 0, true },
		{ BYTES("\xff\xff"), 0, true },
		{ BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), 0, true },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		struct dwarf_cursor cursor = over(cases[i].bytes);

		assert_int_equal(dwarf_cursor_uleb(&cursor), cases[i].value);
		assert_int_equal(cursor.is_bad, cases[i].is_bad);
		assert_int_equal(dwarf_cursor_left(&cursor), 0);
	}
}

static void signed_numbers_are_extended_from_their_last_bit(void **state)
{
	static const struct number_case cases[] = {
		{ BYTES("\x02"), 2, false },
		{ BYTES("\x7e"), (uint64_t)-2, false },
		{ BYTES("\x78"), (uint64_t)-8, false },
		{ BYTES("\xff\x00"), 127, false },
		{ BYTES("\x81\x7f"), (uint64_t)-127, false },
		{ BYTES("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f"), (uint64_t)INT64_MIN, false },
		{ BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00"), INT64_MAX, false },
		{ BYTES(""), 0, true },
		{ BYTES("\xff"), 0, true },
		{ BYTES("\x80\x80"), 0, true },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		struct dwarf_cursor cursor = over(cases[i].bytes);

		assert_int_equal(dwarf_cursor_sleb(&cursor), cases[i].value);
		assert_int_equal(cursor.is_bad, cases[i].is_bad);
	}
}

struct fixed_case {
	size_t nr_bytes;
	uint64_t value;
	bool is_bad;
};

static void fixed_numbers_are_little_endian(void **state)
{
	static const struct fixed_case cases[] = {
		{ 1, 0x01, false },	  { 2, 0x0201, false },
		{ 4, 0x04030201, false }, { 7, 0x07060504030201, false },
		{ 8, 0, true },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		struct dwarf_cursor cursor = over(
			(struct byte_string)BYTES("\x01\x02\x03\x04\x05\x06\x07"));

		assert_int_equal(dwarf_cursor_fixed(&cursor, cases[i].nr_bytes), cases[i].value);
		assert_int_equal(cursor.is_bad, cases[i].is_bad);
	}
}

static void errors_stick_and_leave_nothing_to_read(void **state)
{
	struct dwarf_cursor cursor = over((struct byte_string)BYTES("\x01\x02\x03"));

	(void)state;
	assert_int_equal(dwarf_cursor_fixed(&cursor, 4), 0);
	assert_true(cursor.is_bad);
	assert_int_equal(dwarf_cursor_u8(&cursor), 0);
	assert_int_equal(dwarf_cursor_uleb(&cursor), 0);
	assert_int_equal(dwarf_cursor_sleb(&cursor), 0);
	assert_int_equal(dwarf_cursor_fixed(&cursor, 1), 0);
	assert_string_equal(dwarf_cursor_string(&cursor), "");
	assert_true(dwarf_cursor_take(&cursor, 1).is_bad);
	assert_true(cursor.is_bad);
}

static void parts_are_cursors_of_their_own(void **state)
{
	struct dwarf_cursor cursor = over((struct byte_string)BYTES("\x01\x02\x03"));
	struct dwarf_cursor part = dwarf_cursor_take(&cursor, 2);

	(void)state;
	assert_int_equal(dwarf_cursor_fixed(&part, 2), 0x0201);
	dwarf_cursor_u8(&part);
	assert_true(part.is_bad);
	assert_false(cursor.is_bad);
	assert_int_equal(dwarf_cursor_u8(&cursor), 3);
	assert_false(dwarf_cursor_take(&cursor, 0).is_bad);
	assert_true(dwarf_cursor_take(&cursor, UINT64_MAX).is_bad);
	assert_true(cursor.is_bad);
}

static void strings_end_inside(void **state)
{
	struct dwarf_cursor cursor = over((struct byte_string)BYTES("zR\0\0PL"));

	(void)state;
	assert_string_equal(dwarf_cursor_string(&cursor), "zR");
	assert_string_equal(dwarf_cursor_string(&cursor), "");
	assert_false(cursor.is_bad);
	assert_string_equal(dwarf_cursor_string(&cursor), "");
	assert_true(cursor.is_bad);
}

struct pointer_case {
	uint8_t encoding;
	struct byte_string bytes;
	uint64_t value;
	bool is_bad;
};

/* The section is at 0x1003, so that a pointer at its beginning is not aligned. */
static void pointers_count_from_what_their_encoding_says(void **state)
{
	static const struct pointer_case cases[] = {
		{ 0x00, BYTES("\x78\x56\x34\x12\0\0\0\x80"), 0x8000000012345678, false },
		{ 0x01, BYTES("\x80\x01"), 0x80, false },
		{ 0x02, BYTES("\xfe\xff"), 0xfffe, false },
		{ 0x03, BYTES("\xfe\xff\xff\xff"), 0xfffffffe, false },
		{ 0x04, BYTES("\x01\0\0\0\0\0\0\0"), 1, false },
		{ 0x08, BYTES("\x01\0\0\0\0\0\0\0"), 1, false },
		{ 0x09, BYTES("\x7e"), (uint64_t)-2, false },
		{ 0x0a, BYTES("\xfe\xff"), (uint64_t)-2, false },
		{ 0x0b, BYTES("\xfe\xff\xff\xff"), (uint64_t)-2, false },
		{ 0x0c, BYTES("\xfe\xff\xff\xff\xff\xff\xff\xff"), (uint64_t)-2, false },
		{ 0x10, BYTES("\x01\0\0\0\0\0\0\0"), 0x1004, false },
		{ 0x1b, BYTES("\xfd\xff\xff\xff"), 0x1000, false },
		{ 0x1b, BYTES("\0\0\0\0"), 0, false },
		{ 0x2b, BYTES("\x01\0\0\0"), 0x10001, false },
		{ 0x3b, BYTES("\xff\xff\xff\xff"), 0x1ffff, false },
		{ 0x50, BYTES("\xff\xff\xff\xff\xff\x07\0\0\0\0\0\0\0"), 7, false },
		{ 0x1b, BYTES("\x01\0\0"), 0, true },
		{ 0x10, BYTES("\x01\0\0\0\0\0\0"), 0, true },
		{ 0x01, BYTES("\x80"), 0, true },
		{ 0x09, BYTES(""), 0, true },
		{ 0x0a, BYTES("\x01"), 0, true },
		{ 0x50, BYTES("\xff\xff"), 0, true },
		{ 0x50, BYTES("\xff\xff\xff\xff\xff\x07\0\0\0\0\0\0"), 0, true },
		{ 0x05, BYTES("\x01\0\0\0\0\0\0\0"), 0, true },
		{ 0x0d, BYTES("\x01\0\0\0\0\0\0\0"), 0, true },
		{ 0x0f, BYTES("\x01\0\0\0\0\0\0\0"), 0, true },
		{ 0x4b, BYTES("\x01\0\0\0"), 0, true },
		{ 0x6b, BYTES("\x01\0\0\0"), 0, true },
		{ 0x9b, BYTES("\x01\0\0\0"), 0, true },
		{ 0x80, BYTES("\x01\0\0\0\0\0\0\0"), 0, true },
		{ 0xff, BYTES("\x01\0\0\0\0\0\0\0"), 0, true },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		struct dwarf_cursor cursor = over(cases[i].bytes);
		struct cfi_section section = {
			.data = cursor.pos,
			.len = cases[i].bytes.len,
			.address = 0x1003,
			.text_address = 0x10000,
			.data_address = 0x20000,
		};

		assert_int_equal(dwarf_cursor_pointer(&cursor, cases[i].encoding, &section),
				 cases[i].value);
		assert_int_equal(cursor.is_bad, cases[i].is_bad);
		assert_int_equal(dwarf_cursor_left(&cursor), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unsigned_numbers_have_7_bits_a_byte),
		cmocka_unit_test(signed_numbers_are_extended_from_their_last_bit),
		cmocka_unit_test(fixed_numbers_are_little_endian),
		cmocka_unit_test(errors_stick_and_leave_nothing_to_read),
		cmocka_unit_test(parts_are_cursors_of_their_own),
		cmocka_unit_test(strings_end_inside),
		cmocka_unit_test(pointers_count_from_what_their_encoding_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

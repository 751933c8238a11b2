/* SPDX-License-Identifier: Apache-2.0 */
#include "top/cells.h"

#include "hostile_names.h"
#include "unit.h"

#include "base/cleanup.h"

#define PLENTY_BYTES 65536

static const struct cells_style utf8 = { .is_utf8 = true };
static const struct cells_style ascii = { .is_utf8 = false };

static void assert_cells(const char *name, size_t columns, enum elide elide,
			 const struct cells_style *style, const char *expected)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	size_t width = cells_append(&out, name, columns, elide, style);
	assert_string_equal(strbuf_str(&out), expected);
	assert_int_equal(width, cells_width(expected));
	assert_true(width <= columns);
}

static void wide_and_combining_characters_are_counted(void **state)
{
	(void)state;
	assert_int_equal(cells_width(""), 0);
	assert_int_equal(cells_width("abc"), 3);
	assert_int_equal(cells_width("größe"), 5);
	assert_int_equal(cells_width("漢字"), 4);
	assert_int_equal(cells_width("e\xcc\x81"), 1); /* with an acute accent */
	assert_int_equal(cells_width("🔥"), 2);
	assert_int_equal(cells_width("\xff\xff"), 2); /* not UTF-8 */
}

static void a_name_that_fits_stays(void **state)
{
	(void)state;
	assert_cells("abc", 3, ELIDE_MIDDLE, &utf8, "abc");
	assert_cells("", 0, ELIDE_LEFT, &utf8, "");
}

static void a_long_name_is_shortened(void **state)
{
	(void)state;
	assert_cells("abcdefgh", 5, ELIDE_MIDDLE, &utf8, "ab…gh");
	assert_cells("abcdefgh", 5, ELIDE_LEFT, &utf8, "…efgh");
	assert_cells("abcdefgh", 5, ELIDE_LEFT, &ascii, "...gh");
	assert_cells("漢字漢字", 5, ELIDE_LEFT, &utf8, "…漢字");
	assert_cells("漢字漢字", 4, ELIDE_LEFT, &utf8, "…字"); /* half a character is none */
	assert_cells("abc", 1, ELIDE_LEFT, &utf8, "");
	assert_cells("abc", 0, ELIDE_MIDDLE, &utf8, "");
}

static void without_utf8_each_foreign_character_is_a_question_mark(void **state)
{
	(void)state;
	assert_cells("größe", 9, ELIDE_MIDDLE, &ascii, "gr??e");
	assert_cells("漢", 9, ELIDE_MIDDLE, &ascii, "?");
}

static void hostile_names_become_harmless(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		for (size_t columns = 0; columns < 30; columns++) {
			_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

			cells_append(&out, hostile_names[i].name, columns, ELIDE_MIDDLE, &utf8);
			assert_printable(strbuf_str(&out), out.len, false);
			assert_true(cells_width(strbuf_str(&out)) <= columns);
		}
	}
}

static void padding_fills_the_columns(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
	(void)state;

	cells_append_padded(&out, "漢", 4, ELIDE_MIDDLE, &utf8);
	strbuf_append_char(&out, '|');
	assert_string_equal(strbuf_str(&out), "漢  |");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wide_and_combining_characters_are_counted),
		cmocka_unit_test(a_name_that_fits_stays),
		cmocka_unit_test(a_long_name_is_shortened),
		cmocka_unit_test(without_utf8_each_foreign_character_is_a_question_mark),
		cmocka_unit_test(hostile_names_become_harmless),
		cmocka_unit_test(padding_fills_the_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

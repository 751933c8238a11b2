/* SPDX-License-Identifier: Apache-2.0 */
#include "top/screen.h"

#include "unit.h"

#include <string.h>

#define NR_ROWS 10

static enum screen_wish press(struct screen *screen, enum key_kind kind)
{
	const struct key key = { .kind = kind };

	return screen_press(screen, &key, NR_ROWS);
}

/* Presses the keys of a text, and returns the last wish. */
static enum screen_wish type(struct screen *screen, const char *text)
{
	enum screen_wish wish = WISH_NOTHING;

	for (; *text; text++) {
		const struct key key = { .kind = KEY_TEXT, .text = { *text } };

		wish = screen_press(screen, &key, NR_ROWS);
	}
	return wish;
}

static void the_selection_moves_within_the_rows(void **state)
{
	struct screen screen = { .nr_visible = 5 };
	(void)state;

	press(&screen, KEY_UP);
	assert_int_equal(screen.selected, 0);
	type(&screen, "jj");
	press(&screen, KEY_DOWN);
	assert_int_equal(screen.selected, 3);
	type(&screen, "k");
	assert_int_equal(screen.selected, 2);
	press(&screen, KEY_PAGE_DOWN);
	assert_int_equal(screen.selected, 6);
	press(&screen, KEY_PAGE_DOWN);
	assert_int_equal(screen.selected, 9);
	type(&screen, "j");
	assert_int_equal(screen.selected, 9);
	press(&screen, KEY_PAGE_UP);
	assert_int_equal(screen.selected, 5);
	press(&screen, KEY_END);
	assert_int_equal(screen.selected, 9);
	press(&screen, KEY_HOME);
	assert_int_equal(screen.selected, 0);
}

static void the_selection_stays_with_its_row_below_the_first_line(void **state)
{
	struct screen screen = { 0 };
	(void)state;

	assert_false(screen.is_following);
	type(&screen, "j");
	assert_true(screen.is_following);
	type(&screen, "k");
	assert_false(screen.is_following);
}

static void enter_opens_a_row_and_escape_goes_back(void **state)
{
	struct screen screen = { 0 };
	(void)state;

	type(&screen, "jj");
	assert_int_equal(press(&screen, KEY_ENTER), WISH_OPEN);
	screen.page = PAGE_FUNCTIONS;
	screen.opened_from = screen.selected;
	screen.selected = 7;
	assert_int_equal(press(&screen, KEY_ENTER), WISH_NOTHING);
	press(&screen, KEY_ESCAPE);
	assert_int_equal(screen.page, PAGE_ROWS);
	assert_int_equal(screen.selected, 2);
	press(&screen, KEY_ESCAPE);
	assert_int_equal(screen.page, PAGE_ROWS);
}

static void nothing_is_opened_of_an_empty_table(void **state)
{
	struct screen screen = { 0 };
	const struct key enter = { .kind = KEY_ENTER };
	(void)state;

	assert_int_equal(screen_press(&screen, &enter, 0), WISH_NOTHING);
}

static void the_sorted_column_goes_round_in_both_directions(void **state)
{
	struct screen screen = { 0 };
	(void)state;

	type(&screen, "<");
	assert_int_equal(screen.row_sort, SORT_NAME);
	type(&screen, "s>");
	assert_int_equal(screen.row_sort, SORT_APPLICATION);
	for (int i = 0; i < 7; i++) /* columns without waits */
		type(&screen, "s");
	assert_int_equal(screen.row_sort, SORT_APPLICATION);
	type(&screen, "r");
	assert_true(screen.is_reversed);
	screen.page = PAGE_FUNCTIONS;
	type(&screen, "s");
	assert_int_equal(screen.function_sort, SORT_TOTAL);
	assert_int_equal(screen.row_sort, SORT_APPLICATION);
}

static void w_shows_waits_where_they_are_known(void **state)
{
	struct screen screen = { 0 };
	(void)state;

	assert_int_equal(type(&screen, "w"), WISH_NOTHING);
	assert_false(screen.shows_waits);
	screen.has_waits = true;
	type(&screen, "s");
	assert_int_equal(screen.row_sort, SORT_WAIT);
	type(&screen, "s");
	assert_int_equal(screen.row_sort, SORT_DELAY);
	assert_int_equal(type(&screen, "w"), WISH_REFRESH);
	assert_true(screen.shows_waits);
	assert_int_equal(screen.row_sort, SORT_WAIT);
	type(&screen, "ss");
	assert_int_equal(screen.row_sort, SORT_DISK);
	type(&screen, "w");
	assert_false(screen.shows_waits);
	assert_int_equal(screen.row_sort, SORT_CPU);
}

static void t_changes_the_grouping_and_leaves_the_functions(void **state)
{
	struct screen screen = { .page = PAGE_FUNCTIONS, .by = BY_FUNCTION, .selected = 3 };
	(void)state;

	assert_int_equal(type(&screen, "t"), WISH_REGROUP);
	assert_int_equal(screen.by, BY_APPLICATION);
	assert_int_equal(screen.page, PAGE_ROWS);
	assert_int_equal(screen.selected, 0);
}

static void a_filter_is_typed_and_kept(void **state)
{
	struct screen screen = { .selected = 4 };
	(void)state;

	type(&screen, "/qt");
	assert_true(screen.is_typing); /* neither quits nor regroups */
	press(&screen, KEY_BACKSPACE);
	type(&screen, " x");
	assert_string_equal(screen.filter, "q x");
	assert_int_equal(screen.selected, 0);
	press(&screen, KEY_ENTER);
	assert_false(screen.is_typing);
	assert_string_equal(screen.filter, "q x");
	press(&screen, KEY_ESCAPE);
	assert_string_equal(screen.filter, "");
}

static void escape_gives_a_filter_up(void **state)
{
	struct screen screen = { 0 };
	(void)state;

	type(&screen, "/abc");
	press(&screen, KEY_ESCAPE);
	assert_false(screen.is_typing);
	assert_string_equal(screen.filter, "");
	type(&screen, "/");
	press(&screen, KEY_BACKSPACE);
	assert_string_equal(screen.filter, "");
}

static void whole_characters_are_erased(void **state)
{
	struct screen screen = { .is_typing = true };
	const struct key sharp_s = { .kind = KEY_TEXT, .text = "ß" };
	(void)state;

	type(&screen, "a");
	screen_press(&screen, &sharp_s, NR_ROWS);
	assert_string_equal(screen.filter, "aß");
	press(&screen, KEY_BACKSPACE);
	assert_string_equal(screen.filter, "a");
}

static void a_filter_has_a_limit(void **state)
{
	struct screen screen = { .is_typing = true };
	(void)state;

	for (int i = 0; i < 1000; i++)
		type(&screen, "x");
	assert_int_equal(strlen(screen.filter), SCREEN_FILTER_BYTES - 1);
}

static void any_key_closes_the_help(void **state)
{
	struct screen screen = { 0 };
	(void)state;

	type(&screen, "?");
	assert_true(screen.shows_help);
	assert_int_equal(type(&screen, "j"), WISH_NOTHING);
	assert_false(screen.shows_help);
	assert_int_equal(screen.selected, 0);
	type(&screen, "h");
	assert_int_equal(type(&screen, "q"), WISH_QUIT);
}

static void switches_are_switched(void **state)
{
	struct screen screen = { 0 };
	(void)state;

	assert_int_equal(type(&screen, " "), WISH_REFRESH);
	assert_true(screen.is_paused);
	type(&screen, " ");
	assert_false(screen.is_paused);
	assert_int_equal(type(&screen, "K"), WISH_REFRESH);
	assert_true(screen.hides_kernel);
	assert_int_equal(type(&screen, "q"), WISH_QUIT);
}

static void keys_without_a_meaning_do_nothing(void **state)
{
	struct screen screen = { 0 }, before;
	(void)state;

	memcpy(&before, &screen, sizeof(before));
	assert_int_equal(type(&screen, "xyz1$"), WISH_NOTHING);
	assert_int_equal(press(&screen, KEY_UNKNOWN), WISH_NOTHING);
	assert_memory_equal(&screen, &before, sizeof(before));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_selection_moves_within_the_rows),
		cmocka_unit_test(the_selection_stays_with_its_row_below_the_first_line),
		cmocka_unit_test(enter_opens_a_row_and_escape_goes_back),
		cmocka_unit_test(nothing_is_opened_of_an_empty_table),
		cmocka_unit_test(the_sorted_column_goes_round_in_both_directions),
		cmocka_unit_test(w_shows_waits_where_they_are_known),
		cmocka_unit_test(t_changes_the_grouping_and_leaves_the_functions),
		cmocka_unit_test(a_filter_is_typed_and_kept),
		cmocka_unit_test(escape_gives_a_filter_up),
		cmocka_unit_test(whole_characters_are_erased),
		cmocka_unit_test(a_filter_has_a_limit),
		cmocka_unit_test(any_key_closes_the_help),
		cmocka_unit_test(switches_are_switched),
		cmocka_unit_test(keys_without_a_meaning_do_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "top/board.h"

#include "stacks.h"
#include "torture.h"
#include "unit.h"

#include "base/cleanup.h"
#include "base/strbuf.h"

#include <stdio.h>

#define TEXT_MAX_BYTES 4096

static const struct stack_line lines[] = {
	{ "cart", "main;serve;hash", 30 },
	{ "cart", "main;read;entry_[k];copy_[k]", 10 },
	{ "billing", "main;entry_[k];sync_[k]", 25 },
	{ "Search", "main;index", 20 },
	{ "cron", "main", 20 },
};

static void show(struct board *board, const struct stack_line *list, size_t nr, enum grouping by)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(list, nr);

	assert_int_equal(board_show(board, profile, NULL, by), 0);
}

/* Checks the names of the rows in the order of the screen. */
static void assert_order(struct board *board, struct screen *screen, const char *expected)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(TEXT_MAX_BYTES);

	assert_int_equal(board_arrange(board, screen), 0);
	for (size_t i = 0; i < board->nr_order; i++)
		strbuf_appendf(&out, "%s%s", i > 0 ? " " : "",
			       screen->page == PAGE_ROWS ? board_row(board, i)->name
							 : board_function(board, i)->name);
	assert_string_equal(strbuf_str(&out), expected);
}

static void rows_are_sorted_by_the_column_of_the_screen(void **state)
{
	_cleanup_(board_done) struct board board = { 0 };
	struct screen screen = { .by = BY_COMM };
	(void)state;

	show(&board, lines, array_len(lines), BY_COMM);
	assert_order(&board, &screen, "cart billing Search cron"); /* equal ones by name */
	screen.row_sort = SORT_KERNEL;
	assert_order(&board, &screen, "billing cart Search cron");
	screen.row_sort = SORT_PROCESSES;
	assert_order(&board, &screen, "cart billing Search cron");
	screen.row_sort = SORT_NAME;
	assert_order(&board, &screen, "Search billing cart cron");
	screen.is_reversed = true;
	assert_order(&board, &screen, "cron cart billing Search");
}

static void only_rows_with_the_filters_text_are_shown(void **state)
{
	_cleanup_(board_done) struct board board = { 0 };
	struct screen screen = { .by = BY_COMM, .filter = "SEAR" };
	(void)state;

	show(&board, lines, array_len(lines), BY_COMM);
	assert_order(&board, &screen, "Search");
	snprintf(screen.filter, sizeof(screen.filter), "nothing");
	screen.selected = 3;
	assert_order(&board, &screen, "");
	assert_int_equal(screen.selected, 0);
}

static void the_selection_follows_its_row(void **state)
{
	static const struct stack_line later[] = { { "billing", "main", 90 },
						   { "cart", "main", 10 } };
	_cleanup_(board_done) struct board board = { 0 };
	struct screen screen = { .by = BY_COMM, .selected = 1, .is_following = true };
	(void)state;

	show(&board, lines, array_len(lines), BY_COMM);
	assert_order(&board, &screen, "cart billing Search cron");
	board_note_selection(&board, &screen);
	show(&board, later, array_len(later), BY_COMM);
	assert_order(&board, &screen, "billing cart");
	assert_int_equal(screen.selected, 0);
}

static void the_functions_of_a_row_are_opened(void **state)
{
	_cleanup_(board_done) struct board board = { 0 };
	struct screen screen = { .by = BY_COMM };
	(void)state;

	show(&board, lines, array_len(lines), BY_COMM);
	assert_order(&board, &screen, "cart billing Search cron");
	assert_int_equal(board_open(&board, &screen), 0);
	assert_int_equal(screen.page, PAGE_FUNCTIONS);
	assert_int_equal(board_opened_total(&board), 40);
	assert_order(&board, &screen, "hash copy main serve entry read");
	screen.function_sort = SORT_TOTAL;
	assert_order(&board, &screen, "main hash serve copy entry read");
	screen.hides_kernel = true;
	assert_order(&board, &screen, "main hash serve read");
	assert_int_equal(board_open(&board, &screen), -ENOENT);
}

static void the_functions_stay_open_when_new_samples_come(void **state)
{
	static const struct stack_line later[] = { { "cart", "main;new", 1 } };
	static const struct stack_line idle[] = { { "other", "main", 1 } };
	_cleanup_(board_done) struct board board = { 0 };
	struct screen screen = { .by = BY_COMM };
	(void)state;

	show(&board, lines, array_len(lines), BY_COMM);
	assert_order(&board, &screen, "cart billing Search cron");
	assert_int_equal(board_open(&board, &screen), 0);
	show(&board, later, 1, BY_COMM);
	assert_order(&board, &screen, "new main");
	show(&board, idle, 1, BY_COMM);
	assert_order(&board, &screen, "");
	assert_int_equal(board_opened_total(&board), 0);
}

static void hidden_kernel_frames_change_the_hottest_stack(void **state)
{
	_cleanup_(board_done) struct board board = { 0 };
	struct screen screen = { .by = BY_COMM };
	(void)state;

	show(&board, lines, array_len(lines), BY_COMM);
	assert_order(&board, &screen, "cart billing Search cron");
	const struct hot_stack *stack = board_hot_stack(&board, board_row(&board, 1));
	assert_string_equal(stack->frames[0].name, "sync");
	assert_ptr_equal(board_hot_stack(&board, board_row(&board, 1)), stack);
	screen.hides_kernel = true;
	assert_order(&board, &screen, "cart billing Search cron");
	stack = board_hot_stack(&board, board_row(&board, 1));
	assert_string_equal(stack->frames[0].name, "main");
}

static void trends_begin_anew_when_the_rows_stand_for_something_else(void **state)
{
	_cleanup_(board_done) struct board board = { 0 };
	(void)state;

	show(&board, lines, array_len(lines), BY_COMM);
	show(&board, lines, array_len(lines), BY_COMM);
	assert_true(trend_find(&board.trend, "billing")->cpus[TREND_POINTS - 2] > 0);
	show(&board, lines, array_len(lines), BY_PROCESS);
	assert_null(trend_find(&board.trend, "billing"));
}

static void all_rows_together_are_no_more_than_the_machine(void **state)
{
	static const struct stack_line many[] = { { "a", "main", 150 }, { "b", "main", 50 } };
	struct board board = { .nr_cpus = 1 };
	(void)state;

	show(&board, many, array_len(many), BY_COMM);
	assert_true(tally_cpus(&board.tally, 200) > 1);
	assert_float_equal(board_cpus(&board, 200), 1, 1e-9);
	assert_float_equal(board_cpus(&board, 50), 0.25, 1e-9);
	board.nr_cpus = 0; /* not known, as of a record */
	assert_float_equal(board_cpus(&board, 200), tally_cpus(&board.tally, 200), 1e-9);
	board_done(&board);
}

static void a_board_without_samples_is_empty(void **state)
{
	_cleanup_(board_done) struct board board = { 0 };
	struct screen screen = { 0 };
	(void)state;

	assert_order(&board, &screen, "");
	assert_int_equal(board_open(&board, &screen), -ENOENT);
}

static void a_lack_of_memory_leaves_a_board_that_can_be_shown(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	bool has_failed = true;
	(void)state;

	for (unsigned int n = 1; has_failed; n++) {
		_cleanup_(board_done) struct board board = { 0 };
		struct screen screen = { .by = BY_COMM };

		torture_begin(n);
		int r = board_show(&board, profile, NULL, BY_COMM);
		if (r == 0)
			r = board_arrange(&board, &screen);
		if (r == 0)
			r = board_open(&board, &screen);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
		screen.page = PAGE_ROWS;
		assert_int_equal(board_arrange(&board, &screen), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_sorted_by_the_column_of_the_screen),
		cmocka_unit_test(only_rows_with_the_filters_text_are_shown),
		cmocka_unit_test(the_selection_follows_its_row),
		cmocka_unit_test(the_functions_of_a_row_are_opened),
		cmocka_unit_test(the_functions_stay_open_when_new_samples_come),
		cmocka_unit_test(hidden_kernel_frames_change_the_hottest_stack),
		cmocka_unit_test(trends_begin_anew_when_the_rows_stand_for_something_else),
		cmocka_unit_test(all_rows_together_are_no_more_than_the_machine),
		cmocka_unit_test(a_board_without_samples_is_empty),
		cmocka_unit_test(a_lack_of_memory_leaves_a_board_that_can_be_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "top/board.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void forget_hot_stacks(struct board *board)
{
	for (size_t i = 0; board->hot && i < board->tally.nr_rows; i++) {
		free(board->hot[i].stack);
		free(board->hot[i].wait);
	}
	free(board->hot);
	board->hot = NULL;
}

void board_done(struct board *board)
{
	forget_hot_stacks(board);
	function_list_done(&board->functions);
	tally_done(&board->tally);
	trend_done(&board->trend);
	free(board->order);
	board->order = NULL;
}

static int sum_up(struct profile *profile, struct profile *waits, enum grouping by,
		  struct tally *ret_tally)
{
	struct tally tally;

	int r = tally_init(&tally, profile, by);
	if (r < 0)
		return r;
	if (waits)
		r = tally_add_waits(&tally, waits);
	if (r < 0) {
		tally_done(&tally);
		return r;
	}
	*ret_tally = tally;
	return 0;
}

int board_show(struct board *board, struct profile *profile, struct profile *waits,
	       enum grouping by)
{
	struct tally tally;

	if (by != board->tally.by)
		trend_done(&board->trend);
	int r = sum_up(profile, waits, by, &tally);
	if (r < 0)
		return r;
	forget_hot_stacks(board);
	function_list_done(&board->functions);
	board->nr_order = 0;
	bool is_new = profile != board->tally.profile || board->trend.nr_lines == 0;
	tally_done(&board->tally);
	board->tally = tally;
	return is_new ? trend_add(&board->trend, &board->tally) : 0;
}

static const struct tally_row *find_row(const struct board *board, const char *name)
{
	uint32_t id;

	if (board->tally.nr_rows == 0 || intern_find(&board->tally.names, name, &id) < 0 || id == 0)
		return NULL;
	return &board->tally.rows[id - 1];
}

static uint64_t sum_of_waits(const struct board *board, const struct tally_row *row)
{
	const struct tally_part part = tally_waits(&board->tally, row);
	uint64_t sum = 0;

	for (size_t i = 0; i < part.nr; i++)
		sum += part.profile->samples[part.samples[i]].count;
	return sum;
}

uint64_t board_opened_total(const struct board *board)
{
	const struct tally_row *row = find_row(board, board->opened);

	if (!row)
		return 0;
	return board->shows_waits ? sum_of_waits(board, row) : row->total;
}

/* Lists the functions of the row that is open; it may be idle at the moment. */
static int list_functions(struct board *board, const struct screen *screen)
{
	const struct tally_row *row = find_row(board, board->opened);

	function_list_done(&board->functions);
	if (!row)
		return 0;
	const struct tally_part part = screen->shows_waits ? tally_waits(&board->tally, row)
							   : tally_samples(&board->tally, row);
	return function_list_init(&board->functions, &part, screen->hides_kernel);
}

int board_open(struct board *board, struct screen *screen)
{
	if (screen->page != PAGE_ROWS || screen->selected >= board->nr_order)
		return -ENOENT;
	snprintf(board->opened, sizeof(board->opened), "%s",
		 board_row(board, screen->selected)->name);
	screen->page = PAGE_FUNCTIONS;
	screen->filter[0] = '\0';
	screen->opened_from = screen->selected;
	screen->selected = 0;
	screen->is_following = false;
	return list_functions(board, screen);
}

const struct tally_row *board_row(const struct board *board, size_t line)
{
	return &board->tally.rows[board->order[line]];
}

const struct function_row *board_function(const struct board *board, size_t line)
{
	return &board->functions.rows[board->order[line]];
}

/* What rows and functions are compared by. */
struct sort {
	const struct board *board;
	const struct screen *screen;
};

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b; /* the largest first */
}

static uint64_t row_value(const struct tally_row *row, enum row_sort by)
{
	switch (by) {
	case SORT_APPLICATION:
		return row->sides[CPU_APPLICATION];
	case SORT_KERNEL:
		return row->sides[CPU_KERNEL];
	case SORT_IRQ:
		return row->sides[CPU_IRQ];
	case SORT_SOFTIRQ:
		return row->sides[CPU_SOFTIRQ];
	case SORT_PROCESSES:
		return row->nr_processes;
	case SORT_WAIT:
		return tally_blocked_ns(row->waits);
	case SORT_DELAY:
		return row->waits[WAIT_CPU];
	case SORT_DISK:
		return row->waits[WAIT_DISK];
	case SORT_MEMORY:
		return row->waits[WAIT_MEMORY];
	case SORT_LOCK:
		return row->waits[WAIT_LOCK];
	case SORT_PEER:
		return row->waits[WAIT_PEER];
	case SORT_NAME:
		return 0;
	case SORT_CPU:
	case NR_ROW_SORTS:
		break;
	}
	return row->total;
}

static int compare_rows(const void *a, const void *b, void *data)
{
	const struct sort *sort = data;
	const struct tally_row *row_a = &sort->board->tally.rows[*(const uint32_t *)a];
	const struct tally_row *row_b = &sort->board->tally.rows[*(const uint32_t *)b];
	enum row_sort by = sort->screen->row_sort;

	int order = compare_numbers(row_value(row_a, by), row_value(row_b, by));
	if (order == 0 && by != SORT_NAME)
		order = compare_numbers(row_a->total, row_b->total);
	if (order == 0)
		order = strcmp(row_a->name, row_b->name);
	return sort->screen->is_reversed ? -order : order;
}

static int compare_functions(const void *a, const void *b, void *data)
{
	const struct sort *sort = data;
	const struct function_row *row_a = &sort->board->functions.rows[*(const uint32_t *)a];
	const struct function_row *row_b = &sort->board->functions.rows[*(const uint32_t *)b];
	int self = compare_numbers(row_a->self, row_b->self);
	int total = compare_numbers(row_a->total, row_b->total);
	int order = 0;

	if (sort->screen->function_sort == SORT_SELF)
		order = self ? self : total;
	else if (sort->screen->function_sort == SORT_TOTAL)
		order = total ? total : self;
	if (order == 0)
		order = strcmp(row_a->name, row_b->name);
	return sort->screen->is_reversed ? -order : order;
}

static int add_line(struct board *board, size_t row)
{
	int r = array_grow(board->order, board->cap_order, board->nr_order + 1, UINT32_MAX);

	if (r == 0)
		board->order[board->nr_order++] = (uint32_t)row;
	return r;
}

/* Returns whether a row has any time of what is shown. Waits count beside CPU time if they make a
 * difference in the columns. */
static bool has_time(const struct board *board, const struct screen *screen, size_t number)
{
	const struct tally_row *row = &board->tally.rows[number];
	uint64_t time_ns = tally_blocked_ns(row->waits) + row->waits[WAIT_CPU];

	if (screen->shows_waits)
		return time_ns + row->waits[WAIT_PEER] > 0;
	return row->total > 0 || tally_threads(&board->tally, time_ns) >= TALLY_THREADS_MIN;
}

static bool is_wanted(const struct board *board, const struct screen *screen, size_t number)
{
	if (screen->page == PAGE_FUNCTIONS)
		return strcasestr(board->functions.rows[number].name, screen->filter);
	return has_time(board, screen, number) &&
	       strcasestr(board->tally.rows[number].name, screen->filter);
}

/* Puts the rows that pass the filter into the order of the screen. */
static int arrange(struct board *board, const struct screen *screen)
{
	bool is_rows = screen->page == PAGE_ROWS;
	size_t nr = is_rows ? board->tally.nr_rows : board->functions.nr_rows;
	struct sort sort = { board, screen };
	int r = 0;

	board->nr_order = 0;
	for (size_t i = 0; r == 0 && i < nr; i++)
		if (is_wanted(board, screen, i))
			r = add_line(board, i);
	if (r == 0 && board->nr_order > 0)
		qsort_r(board->order, board->nr_order, sizeof(*board->order),
			is_rows ? compare_rows : compare_functions, &sort);
	return r;
}

static const char *line_name(const struct board *board, const struct screen *screen, size_t line)
{
	return screen->page == PAGE_ROWS ? board_row(board, line)->name
					 : board_function(board, line)->name;
}

void board_note_selection(struct board *board, const struct screen *screen)
{
	board->selected[0] = '\0';
	if (screen->is_following && screen->selected < board->nr_order)
		snprintf(board->selected, sizeof(board->selected), "%s",
			 line_name(board, screen, screen->selected));
}

int board_arrange(struct board *board, struct screen *screen)
{
	int r = 0;

	if (board->hides_kernel != screen->hides_kernel)
		forget_hot_stacks(board);
	if (screen->page == PAGE_FUNCTIONS &&
	    (board->hides_kernel != screen->hides_kernel ||
	     board->shows_waits != screen->shows_waits || board->functions.nr_rows == 0))
		r = list_functions(board, screen);
	board->hides_kernel = screen->hides_kernel;
	board->shows_waits = screen->shows_waits;
	if (r == 0)
		r = arrange(board, screen);
	if (r < 0)
		return r;
	for (size_t i = 0; screen->is_following && i < board->nr_order; i++) {
		if (strcmp(line_name(board, screen, i), board->selected) == 0) {
			screen->selected = i;
			break;
		}
	}
	screen_clamp(screen, board->nr_order);
	return 0;
}

/* Returns where the hottest stacks of a row are kept, or NULL. */
static struct board_hot *hot_of(struct board *board, const struct tally_row *row)
{
	if (!board->hot)
		board->hot = calloc(board->tally.nr_rows + 1, sizeof(*board->hot));
	return board->hot ? &board->hot[row - board->tally.rows] : NULL;
}

const struct hot_stack *board_hot_stack(struct board *board, const struct tally_row *row)
{
	struct board_hot *hot = hot_of(board, row);
	_cleanup_free_ struct hot_stack *stack = NULL;

	if (!hot || hot->stack)
		return hot ? hot->stack : NULL;
	stack = calloc(1, sizeof(*stack));
	if (!stack || hot_stack_find(&board->tally, row, board->hides_kernel, stack) < 0)
		return NULL;
	hot->stack = take_ptr(stack);
	return hot->stack;
}

const struct hot_stack *board_hot_wait(struct board *board, const struct tally_row *row)
{
	struct board_hot *hot = board->tally.waits ? hot_of(board, row) : NULL;
	_cleanup_free_ struct hot_stack *stack = NULL;

	if (!hot || hot->wait)
		return hot ? hot->wait : NULL;
	stack = calloc(1, sizeof(*stack));
	if (!stack || hot_stack_find_wait(&board->tally, row, stack) < 0)
		return NULL;
	hot->wait = take_ptr(stack);
	return hot->wait;
}

double board_cpus(const struct board *board, uint64_t count)
{
	double cpus = tally_cpus(&board->tally, count);
	double all = tally_cpus(&board->tally, board->tally.total);

	return board->nr_cpus > 0 && all > board->nr_cpus ? cpus * board->nr_cpus / all : cpus;
}

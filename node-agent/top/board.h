/* SPDX-License-Identifier: Apache-2.0 */
/* What the screen and the printed table show: the CPU time of one interval, or of a range of the
 * record, by row, and the waits if they are known; sorted and filtered as the screen asks. */
#ifndef TOP_BOARD_H
#define TOP_BOARD_H

#include "base/err.h"
#include "profile/profile.h"
#include "top/function_list.h"
#include "top/hot_stack.h"
#include "top/screen.h"
#include "top/tally.h"
#include "top/trend.h"
#include "vitals/vitals.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BOARD_NAME_BYTES 4096

struct board_hot {
	struct hot_stack *stack, *wait; /* owned; NULL: not looked for yet */
};

struct board {
	const char *host; /* borrowed; NULL: not known */
	uint32_t nr_cpus; /* 0: not known */
	uint64_t nr_lost; /* samples of the time that is shown */
	struct vitals vitals; /* what the kernel counted in the same time; none: not known */
	struct tally tally;
	struct trend trend;
	struct board_hot *hot; /* owned; by row; NULL: nothing was looked for yet */
	struct function_list functions; /* of the row that is open */
	char opened[BOARD_NAME_BYTES]; /* its name */
	uint32_t *order; /* owned; the rows of the page that are shown, the first one first */
	size_t nr_order, cap_order;
	char selected[BOARD_NAME_BYTES]; /* the name of the selected row */
	/* What the last order and the hottest stacks were made for. */
	bool hides_kernel, shows_waits;
};

void board_done(struct board *board);

/* Shows another profile, and the waits of its time or NULL, of which it takes references, and adds
 * a point to the trends if the rows stand for the same things as before. On failure the board may
 * be empty. Errors: -ENOMEM, -ENOSPC. */
int board_show(struct board *board, struct profile *profile, struct profile *waits,
	       enum grouping by) must_check;

/* Opens the selected row: lists its functions. Errors: -ENOMEM, -ENOSPC; -ENOENT if nothing is
 * selected. */
int board_open(struct board *board, struct screen *screen) must_check;

/* Sorts and filters the rows of the page, and moves the selection along with its row. Errors:
 * -ENOMEM. */
int board_arrange(struct board *board, struct screen *screen) must_check;

/* Notes which row is selected, for board_arrange(). */
void board_note_selection(struct board *board, const struct screen *screen);

/* Returns a row of the page of rows, by its line. */
const struct tally_row *board_row(const struct board *board, size_t line);

/* Returns the samples of the row that is open, or the nanoseconds of its waits. */
uint64_t board_opened_total(const struct board *board);

/* Returns a row of the page of functions, by its line. */
const struct function_row *board_function(const struct board *board, size_t line);

/* Returns the CPUs that samples stand for. Their number and the duration have errors of their own:
 * all samples are never more CPUs than the machine has. */
double board_cpus(const struct board *board, uint64_t count);

/* Returns the hottest stack of a row, or that of its waits; NULL if there is no memory, and for
 * waits that are not known. Borrowed from the board. */
const struct hot_stack *board_hot_stack(struct board *board, const struct tally_row *row);
const struct hot_stack *board_hot_wait(struct board *board, const struct tally_row *row);

#endif

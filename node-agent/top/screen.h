/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the screen, and how keys change it. What is shown is in board.h. */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

#include "top/grouping.h"
#include "top/keys.h"

#include <stdbool.h>
#include <stddef.h>

#define SCREEN_FILTER_BYTES 128

enum screen_page {
	PAGE_ROWS,
	PAGE_FUNCTIONS, /* of the row that was opened */
};

/* Columns by which rows are sorted. */
enum row_sort {
	SORT_CPU,
	SORT_APPLICATION,
	SORT_KERNEL,
	SORT_IRQ,
	SORT_SOFTIRQ,
	SORT_PROCESSES,
	SORT_WAIT,
	SORT_DELAY,
	SORT_DISK,
	SORT_MEMORY,
	SORT_LOCK,
	SORT_PEER,
	SORT_NAME,
	NR_ROW_SORTS,
};

enum function_sort {
	SORT_SELF,
	SORT_TOTAL,
	SORT_FUNCTION,
	NR_FUNCTION_SORTS,
};

/* What the caller must do after a key, besides drawing. */
enum screen_wish {
	WISH_NOTHING,
	WISH_QUIT,
	WISH_REGROUP, /* screen.by has changed */
	WISH_OPEN, /* show the functions of the selected row */
	WISH_REFRESH, /* screen.hides_kernel, .shows_waits or .is_paused has changed */
};

struct screen {
	enum screen_page page;
	enum grouping by;
	enum row_sort row_sort;
	enum function_sort function_sort;
	bool is_reversed; /* smallest first, and names from Z to A */
	bool shows_help;
	bool is_paused;
	bool hides_kernel;
	bool has_waits; /* set by the caller: waits are known */
	bool shows_waits; /* instead of CPU time */
	bool is_typing; /* the filter */
	char filter[SCREEN_FILTER_BYTES]; /* part of the names that are shown; "": all */
	size_t selected; /* of the rows that are shown */
	bool is_following; /* the selection stays with its row */
	size_t opened_from; /* selected, on the page of rows */
	size_t nr_visible; /* lines of the table; set when the screen is drawn */
};

/* Applies a key. `nr_rows` is the number of rows of the page that pass the filter. */
enum screen_wish screen_press(struct screen *screen, const struct key *key, size_t nr_rows);

/* Moves the selection into the page. */
void screen_clamp(struct screen *screen, size_t nr_rows);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The changes of a diff by function, or by anything else that has a name: rows with counts of both
 * profiles, and their order by what matters.
 *
 * The largest change is not the surest one. Rows are ordered by what is left of a change when its
 * noise (diff.h) is taken off it: so a large change that may be chance is not above a smaller one
 * that is certain, and noise is at the end. */
#ifndef PROFILE_DIFF_TABLE_H
#define PROFILE_DIFF_TABLE_H

#include "base/err.h"
#include "base/htable.h"
#include "base/intern.h"
#include "profile/diff.h"

#include <stddef.h>
#include <stdint.h>

struct diff_row {
	const char *name; /* borrowed from the table */
	enum flame_kind kind; /* of functions: as diff_kind() */
	/* Of functions: samples in which it ran itself. Of others: all of their samples. */
	struct diff_pair self;
	/* Samples with the function in their stack; it counts once if it calls itself. */
	struct diff_pair total;
};

struct diff_table {
	struct diff_row *rows; /* owned */
	size_t nr_rows, cap_rows;
	struct intern names;
	struct htable index; /* of rows, by name and kind; not valid once the rows are sorted */
};

/* Errors: -ENOMEM. */
int diff_table_init(struct diff_table *table) must_check;
void diff_table_done(struct diff_table *table);

/* Finds or adds the row of a name; its number is valid until the rows are sorted. Errors: -ENOMEM,
 * -ENOSPC too many names. */
int diff_table_get(struct diff_table *table, const char *name, enum flame_kind kind,
		   uint32_t *ret_row) must_check;

/* Adds all functions of a diff. Samples without a stack count for "[no stack]", so that the sums of
 * `self` are the totals. Errors: as above. */
int diff_table_add_functions(struct diff_table *table, const struct diff *diff) must_check;

/* Sorts the rows by their change in `self`, from the surest growth to the surest decline; rows
 * whose change is noise are between these, by their change. */
void diff_table_sort(struct diff_table *table, const struct diff *diff);

#endif

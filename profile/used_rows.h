/* SPDX-License-Identifier: Apache-2.0 */
/* The used rows of a table, in the order of their first use. */
#ifndef PROFILE_USED_ROWS_H
#define PROFILE_USED_ROWS_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct used_rows {
	uint32_t *ids; /* owned; of each row of the table; 0: not used so far */
	uint32_t *elements; /* owned; the row of each id, from elements[0] for id 1 on */
	uint32_t nr;
};

/* Initialises for a table of `nr` unused rows. used_rows_done() is needed after a failure, too.
 * Errors: -ENOMEM. */
int used_rows_init(struct used_rows *used, size_t nr) must_check;
void used_rows_done(struct used_rows *used);

/* Returns the id of a row, from 1 on, which is assigned at its first use. */
uint32_t used_rows_use(struct used_rows *used, uint32_t row);

#endif

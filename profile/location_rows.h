/* SPDX-License-Identifier: Apache-2.0 */
/* The locations of a profile under construction, and the lines that name them. A part of the
 * builder, which says what the functions do (builder.h). */
#ifndef PROFILE_LOCATION_ROWS_H
#define PROFILE_LOCATION_ROWS_H

#include "base/err.h"
#include "base/htable.h"
#include "profile/profile.h"
#include "profile/row_budget.h"

#include <stddef.h>
#include <stdint.h>

struct location_rows {
	struct profile *profile; /* borrowed; has the rows */
	struct row_budget *budget; /* borrowed */
	struct htable index; /* of locations by their place */
};

void location_rows_done(struct location_rows *rows);

/* As builder_add_location(). */
int location_rows_add(struct location_rows *rows, const struct profile_location *location,
		      uint32_t *ret_id) must_check;

/* As builder_add_named_location(). */
int location_rows_add_named(struct location_rows *rows, const struct profile_location *location,
			    const struct profile_line *lines, size_t nr, uint32_t *ret_id)
	must_check;

/* As builder_set_lines(). */
int location_rows_set_lines(struct location_rows *rows, uint32_t location, enum frame_kind kind,
			    const struct profile_line *lines, size_t nr) must_check;

#endif

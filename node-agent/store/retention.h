/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the limits of a record: removes its oldest files, after their pinned ranges and the worst
 * events of their day were copied (store/pin_dir.h). */
#ifndef STORE_RETENTION_H
#define STORE_RETENTION_H

#include "base/err.h"

#include <stdint.h>

struct retention {
	const char *dir; /* borrowed */
	uint64_t max_bytes, max_age_s;
	/* As of the last call of retention_apply(). */
	uint64_t bytes; /* of all files */
	uint64_t pin_bytes; /* of pinned ranges, which are among them */
	uint64_t nr_removed; /* files, since the beginning */
	uint64_t
		nr_pins_refused; /* since the beginning: events or files that had no room as pins */
};

/* Prepares the directory of pins. Failures are logged: a record without pins is better than
 * none. */
void retention_init(struct retention *retention, const char *dir, uint64_t max_bytes,
		    uint64_t max_age_s);

/* Removes files, but never `current` (NULL: none). Errors: those of store_dir_prune(). */
int retention_apply(struct retention *retention, const char *current, uint64_t now_s) must_check;

#endif

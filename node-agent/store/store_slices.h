/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a range of a record as a sequence of short profiles, as an agent would have sent them. It
 * takes the memory of one file's dictionary and one profile, however long the range is. */
#ifndef STORE_STORE_SLICES_H
#define STORE_STORE_SLICES_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/profile.h"
#include "store/store_reader.h"

#include <stdbool.h>
#include <stdint.h>

#define STORE_SLICE_MAX_S 60

struct store_slicing {
	struct time_range range;
	const struct selector *selector; /* borrowed */
	/* 1 to STORE_SLICE_MAX_S; minutes begin a new slice, and so does each snapshot */
	uint64_t slice_s;
	bool with_times; /* samples of CPU time carry their second */
	size_t max_bytes; /* of a profile */
	/* Gets each profile, sealed and borrowed for the call. Errors: -ECANCELED, which ends the
	 * reading. */
	int (*visit)(struct profile *profile, void *data);
	void *data;
};

/* Visits all samples of a range: host by host, in the order of time, each in one profile of its
 * type and period. Adds to *left_out the value of samples that are over `max_bytes`. What is
 * damaged is left out, with a warning. Errors: -ENOMEM, -ECANCELED by visit(). */
int store_slices_visit(const struct store_reader *reader, const struct store_slicing *slicing,
		       struct strbuf *warnings, uint64_t *left_out) must_check;

#endif

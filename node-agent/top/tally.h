/* SPDX-License-Identifier: Apache-2.0 */
/* Sums the samples of a profile by application, or by whatever else the rows stand for. */
#ifndef TOP_TALLY_H
#define TOP_TALLY_H

#include "base/err.h"
#include "base/intern.h"
#include "profile/cpu_split.h"
#include "profile/profile.h"
#include "top/grouping.h"

#include <stddef.h>
#include <stdint.h>

#define TALLY_ROWS_MAX 200000

struct tally_row {
	const char *name; /* borrowed from the tally; not printable */
	const char *kind; /* static */
	uint64_t total;
	uint64_t sides[CPU_NR_SIDES];
	uint32_t nr_processes;
	size_t first; /* in tally.order */
	size_t nr_samples;
};

struct tally {
	struct profile *profile; /* a reference; NULL: empty */
	enum grouping by;
	struct cpu_split split;
	struct intern names; /* number 0 is no row; the row of number n is n - 1 */
	struct tally_row *rows; /* owned */
	size_t nr_rows, cap_rows;
	uint32_t *order; /* owned; numbers of the samples, those of a row one after the other */
	uint64_t total;
	uint64_t sides[CPU_NR_SIDES];
};

/* Takes a reference of the profile, which is sealed. Errors: -ENOMEM; -ENOSPC for more than
 * TALLY_ROWS_MAX rows or names that are too long together. */
int tally_init(struct tally *tally, struct profile *profile, enum grouping by) must_check;
void tally_done(struct tally *tally);

/* Returns how many CPUs a number of samples kept busy, on average over the profile's time. */
double tally_cpus(const struct tally *tally, uint64_t count);

#endif

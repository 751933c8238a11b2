/* SPDX-License-Identifier: Apache-2.0 */
/* Sums the samples of a profile by application, or by whatever else the rows stand for; and, if
 * they are known, the waits of the same time. */
#ifndef TOP_TALLY_H
#define TOP_TALLY_H

#include "base/err.h"
#include "base/intern.h"
#include "profile/cpu_split.h"
#include "profile/profile.h"
#include "profile/wait_split.h"
#include "top/grouping.h"

#include <stddef.h>
#include <stdint.h>

#define TALLY_ROWS_MAX 200000
#define TALLY_THREADS_MIN 0.005 /* fewer threads are shown as 0.00 */

struct tally_row {
	const char *name; /* borrowed from the tally; not printable */
	const char *kind; /* static */
	uint64_t total;
	uint64_t sides[CPU_NR_SIDES];
	uint32_t nr_processes;
	size_t first; /* in tally.order */
	size_t nr_samples;
	/* Nanoseconds that its threads waited. Of a row that has no CPU time, all else is 0. */
	uint64_t waits[WAIT_NR_CLASSES];
	uint64_t reasons[REASON_NR];
	size_t first_wait; /* in tally.wait_order */
	size_t nr_waits;
};

/* Samples of a row. */
struct tally_part {
	const struct profile *profile; /* borrowed */
	const uint32_t *samples; /* borrowed; their numbers */
	size_t nr;
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

	struct profile *waits; /* a reference; NULL: not known */
	struct wait_split wait_split;
	uint32_t *wait_order; /* owned; as `order`, of the samples of waits */
	uint64_t wait_sums[WAIT_NR_CLASSES];
};

/* Takes a reference of the profile, which is sealed. Errors: -ENOMEM; -ENOSPC for more than
 * TALLY_ROWS_MAX rows or names that are too long together. */
int tally_init(struct tally *tally, struct profile *profile, enum grouping by) must_check;
void tally_done(struct tally *tally);

/* Adds the waits of the same time, of which it takes a reference; once. An application that has
 * none but waits of WAIT_REST, and no CPU time, gets no row. No wait counts for more than the time
 * of the profile: those that began before it may be longer. Errors: as above; then the tally can
 * only be ended. */
int tally_add_waits(struct tally *tally, struct profile *waits) must_check;

/* Returns the samples of a row, and those of its waits. */
struct tally_part tally_samples(const struct tally *tally, const struct tally_row *row);
struct tally_part tally_waits(const struct tally *tally, const struct tally_row *row);

/* Returns the nanoseconds of waits in which threads with work to do were blocked. */
uint64_t tally_blocked_ns(const uint64_t waits[static WAIT_NR_CLASSES]);

/* Fills in what the threads of a row waited for, the longest time first. Returns the number of
 * reasons. */
size_t tally_row_reasons(const struct tally_row *row,
			 enum wait_reason ret_reasons[static REASON_NR]);

/* Returns how many threads a time stands for, on average over the time of the waits. */
double tally_threads(const struct tally *tally, uint64_t time_ns);

/* Returns how many CPUs a number of samples kept busy, on average over the profile's time. */
double tally_cpus(const struct tally *tally, uint64_t count);

#endif

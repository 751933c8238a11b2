/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/thread_times.h"

#include "base/cleanup.h"
#include "base/minmax.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum part {
	PART_RAN,
	PART_QUEUED,
	PART_BLOCKED,
	PART_SUM_RAN, /* this and the next: what the others add up to */
	PART_SUM_WAITED,
	PART_NR,
};

struct row {
	struct profile_sample *sample;
	enum part part;
};

/* Returns whether a stack has only that frame. */
static bool is_frame(const struct profile *profile, const struct profile_sample *sample,
		     const char *name)
{
	const struct profile_stack *stack = &profile->stacks[sample->stack];

	return stack->nr == 1 &&
	       strcmp(profile_location_name(profile, profile->stack_locations[stack->first]),
		      name) == 0;
}

static enum part part_of(const struct profile *profile, const struct profile_sample *sample)
{
	if (sample->reason == REASON_RUNNING)
		return is_frame(profile, sample, THREAD_TIMES_RAN) ? PART_SUM_RAN : PART_RAN;
	if (wait_reason_is_queued(sample->reason))
		return PART_QUEUED;
	return is_frame(profile, sample, THREAD_TIMES_WAITED) ? PART_SUM_WAITED : PART_BLOCKED;
}

static int compare_threads(const void *a, const void *b)
{
	const struct profile_sample *x = ((const struct row *)a)->sample;
	const struct profile_sample *y = ((const struct row *)b)->sample;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* Makes the samples of a part add up to a time, if they have any. */
static void scale(const struct row *rows, size_t nr, enum part part, uint64_t old_ns,
		  uint64_t new_ns)
{
	for (size_t i = 0; i < nr && old_ns > 0; i++)
		if (rows[i].part == part)
			rows[i].sample->count = (uint64_t)((double)rows[i].sample->count *
								   (double)new_ns / (double)old_ns +
							   0.5);
}

/* Distributes the sums of one thread. */
static void distribute(const struct row *rows, size_t nr)
{
	uint64_t sums[PART_NR] = { 0 };
	uint64_t waited_ns, queued_ns;

	for (size_t i = 0; i < nr; i++)
		sums[rows[i].part] += rows[i].sample->count;
	waited_ns = sums[PART_SUM_WAITED];
	queued_ns = min_u64(sums[PART_QUEUED], waited_ns);
	if (sums[PART_SUM_RAN] > 0 && sums[PART_RAN] > 0) {
		scale(rows, nr, PART_RAN, sums[PART_RAN], sums[PART_SUM_RAN]);
		scale(rows, nr, PART_SUM_RAN, sums[PART_SUM_RAN], 0);
	}
	if (waited_ns == 0)
		return;
	scale(rows, nr, PART_QUEUED, sums[PART_QUEUED], queued_ns);
	scale(rows, nr, PART_BLOCKED, sums[PART_BLOCKED], waited_ns - queued_ns);
	scale(rows, nr, PART_SUM_WAITED, waited_ns,
	      sums[PART_BLOCKED] > 0 ? 0 : waited_ns - queued_ns);
}

static void drop_empty(struct profile *profile)
{
	size_t nr = 0;

	for (size_t i = 0; i < profile->nr_samples; i++)
		if (profile->samples[i].count > 0)
			profile->samples[nr++] = profile->samples[i];
	profile->nr_samples = nr;
}

int thread_times_apply(struct profile *profile)
{
	_cleanup_free_ struct row *rows = calloc(profile->nr_samples + 1, sizeof(*rows));
	size_t nr = profile->nr_samples, first = 0;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		rows[i] = (struct row){ &profile->samples[i],
					part_of(profile, &profile->samples[i]) };
	qsort(rows, nr, sizeof(*rows), compare_threads);
	for (size_t i = 1; i <= nr; i++) {
		if (i < nr && compare_threads(&rows[first], &rows[i]) == 0)
			continue;
		distribute(rows + first, i - first);
		first = i;
	}
	drop_empty(profile);
	return 0;
}

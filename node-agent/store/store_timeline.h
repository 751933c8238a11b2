/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines of records: what a node, or several, did second by second.
 *
 *	store_timeline_read(reader, query) ─▶ lines of numbers, one number for each step of time
 *
 * Examples of queries (`by` and `step_s` besides the range):
 *
 *	TIMELINE_SAMPLES, by "pod", 10 s	where the CPU time went
 *	TIMELINE_SAMPLES, by "pod", step 0	the pods and their sums: the values of a label
 *	TIMELINE_VITALS, 1 s			how busy the node was (vitals/vitals.h)
 *	TIMELINE_CPUS, 1 s			a heat map of CPUs by time
 *	TIMELINE_SLOTS, 1 s			a heat map of 50 ms by second
 *	TIMELINE_GPUS, 1 s			a heat map of GPUs by time
 *	TIMELINE_SAMPLES, by "host", 60 s	which of several hosts was busy
 *
 * Labels of threads, processes (pid), CPUs and reasons, samples of other types than CPU time, and
 * files of version 2, are answered from the samples, everything else from the timeline, which is
 * much smaller. Samples have the label "cpu" only if they were recorded with it. */
#ifndef STORE_STORE_TIMELINE_H
#define STORE_STORE_TIMELINE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "store/selector.h"
#include "store/store_reader.h"
#include "store/time_range.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum timeline_what {
	/* A line for each value of a label: sums of the samples' values; of types that are
	 * snapshots, means of the seconds, of which each has the last snapshot before it */
	TIMELINE_SAMPLES,
	TIMELINE_THROTTLED, /* the same: ns in which limits of CPU time held up threads */
	TIMELINE_VITALS, /* a line for each vital: means of the seconds */
	TIMELINE_CPUS, /* a line for each CPU: sums of the samples' values */
	TIMELINE_SLOTS, /* a line for each 50 ms of a second, by its first millisecond: the same */
	/* A line for each GPU: percent of the time in which it was busy. This and what follows are
	 * means of the seconds that are known. */
	TIMELINE_GPUS,
	TIMELINE_GPU_MEMORY, /* two lines for each GPU: bytes used and in total */
	TIMELINE_GPU_USE, /* a line for each value of a label: percent of a GPU */
	TIMELINE_GPU_USE_MEMORY, /* the same: bytes of GPUs' memory */
};

struct store_timeline_query {
	struct time_range range;
	uint64_t step_s; /* 0: one step for the whole range */
	enum timeline_what what;
	enum profile_type type; /* of the samples */
	/* Borrowed. Vitals, CPUs, slots and GPUs are those of whole hosts: for them, it may use the
	 * label "host" only. */
	const struct selector *selector;
	/* For samples, throttling and the use of GPUs: */
	const char *by; /* label; borrowed; NULL: one line */
	size_t max_lines; /* the largest ones; the others are joined in one; 0: no limit */
};

struct timeline_line {
	char *name; /* owned; value of the label, name of the vital, number */
	bool is_rest; /* joins all lines beyond the limit */
	uint64_t total; /* of samples and throttling: sum of all values */
	uint64_t *values; /* owned; one for each step */
	/* Owned; of a vital and of GPUs: whether it is known in a step. NULL: it is known in all
	 * seconds of which anything is known. */
	bool *is_known;
};

/* A timeline. With several hosts, values are sums of all of them. */
struct store_timeline {
	uint64_t first_s; /* Unix time; a multiple of the step */
	uint64_t step_s;
	size_t nr_steps;
	struct timeline_line
		*lines; /* owned; the largest first; vitals and numbers in their order */
	size_t nr_lines;
	/* Owned; for each step, of how many seconds something is known, on all hosts together. 0 is
	 * a gap: the agent did not run. */
	uint32_t *nr_seconds;
	size_t nr_hosts; /* that have something in the range */
	/* As in struct profile; 0: none. Samples of several periods are counted in units of which
	 * all are multiples. */
	uint64_t period;
};

/* Reads a timeline. The range is narrowed to what the record has. Damaged files are left out with a
 * warning. Errors: -ENOENT the record has nothing in the range, -ENOSPC there are too many numbers:
 * the step is too short, or the label has too many values; -EOPNOTSUPP the selector uses other
 * labels than "host", see above; -ENOMEM. */
int store_timeline_read(const struct store_reader *reader, const struct store_timeline_query *query,
			struct strbuf *warnings, struct store_timeline *ret_timeline) must_check;
void store_timeline_done(struct store_timeline *timeline);

#endif

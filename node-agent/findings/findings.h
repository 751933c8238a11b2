/* SPDX-License-Identifier: Apache-2.0 */
/* Names known causes of CPU time, or of waits, in a profile: compares its stacks with a table of
 * rules (finding_rules.h), and collects evidence for each rule that finds something. */
#ifndef FINDINGS_FINDINGS_H
#define FINDINGS_FINDINGS_H

#include "base/arena.h"
#include "base/err.h"
#include "findings/finding_rules.h"
#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

#define FINDING_PARTS_MAX 3
#define FINDING_TIME_BYTES 72

/* A function or program, and how many of the finding's samples are its own. */
struct finding_part {
	const char *name; /* borrowed from the findings; printable */
	uint64_t count;
	uint64_t of; /* all samples of the program; for functions: those of the finding */
};

struct finding_parts {
	struct finding_part items[FINDING_PARTS_MAX]; /* the largest first */
	size_t nr;
};

/* A part of the time that was looked at. */
struct finding_time {
	uint64_t first_s, end_s; /* Unix time; `end_s` is 0 if there is none */
	double share; /* of its samples that show the cause: 0 to 1 */
	char text[FINDING_TIME_BYTES];
};

struct finding {
	const struct finding_rule *rule; /* static */
	const char *title; /* borrowed from the findings; a sentence without a period */
	uint64_t count; /* samples that match; of waits, here and below: nanoseconds */
	uint64_t of; /* samples in the same scope: of the profile, or of the programs concerned */
	double cpus; /* average number of CPUs that are busy with it, or of threads that wait;
			0: not known */
	struct finding_parts callers; /* functions that lead to it */
	struct finding_parts programs; /* whose CPU time it is */
	struct finding_parts starters; /* programs that cause it, if the rule knows */
	struct finding_parts wakers; /* who ended the waits: "NAME of PROGRAM", or "timer"; as far
					as the profile has them */
	uint64_t nr_interrupts; /* samples of interrupts, which are no program's */
	uint32_t stack; /* the most frequent one, of the profile */
	uint64_t stack_count;
	struct finding_time only; /* what all numbers are of, if that is not the whole time */
	struct finding_time worst; /* where its share was largest */
};

struct findings {
	struct finding *items; /* owned; the largest count first */
	size_t nr;
	const struct profile *profile; /* borrowed */
	uint64_t total; /* samples of the profile; of waits: nanoseconds that are blocked time */
	struct arena names;
};

/* Tries all rules of its type on a profile of CPU time or of waits with all labels, which must
 * outlive the findings. Time is linear in the size of the profile; memory is about 40 bytes a
 * string and 60 a sample. Errors: -ENOMEM. */
int findings_init(struct findings *findings, const struct profile *profile) must_check;

/* The same of waits, with the CPU time of the same time, which rules about waits for a CPU need. */
int findings_init_waits(struct findings *findings, const struct profile *waits,
			const struct profile *cpu) must_check;
void findings_done(struct findings *findings);

#endif

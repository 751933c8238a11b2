/* SPDX-License-Identifier: Apache-2.0 */
/* Determines the profiles in a pprof message, and how its values become their counts.
 *
 * A CPU profile counts samples. If a message has both samples and CPU time, the samples count and
 * the time does not. If it has CPU time only, the count is how often the period fits into it. A
 * message without a period gets the mean CPU time of a sample as its period, else one
 * nanosecond. */
#ifndef PROFILE_PPROF_PLAN_H
#define PROFILE_PPROF_PLAN_H

#include "profile/pprof_message.h"
#include "profile/profile_type.h"

#include <stdbool.h>

struct pprof_plan {
	bool is_there; /* the message has such a profile */
	size_t column; /* of the values */
	uint64_t unit; /* a value of this size counts as one */
	uint64_t period; /* of the profile */
};

struct pprof_plans {
	struct pprof_plan of[PROFILE_NR_TYPES];
	size_t nr_unknown; /* sample types that belong to no profile */
};

/* Plans the profiles of a message. `sample` is scratch. Errors: -ENOENT it has no known profile;
 * -EBADMSG. */
int pprof_plan(const struct pprof_message *message, struct pprof_sample *sample,
	       struct pprof_plans *ret_plans) must_check;

/* Returns what a sample counts; 0 if it does not belong to the profile. A value below half a period
 * counts as one. */
uint64_t pprof_count(const struct pprof_plan *plan, const struct pprof_sample *sample);

#endif

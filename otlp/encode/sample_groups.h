/* SPDX-License-Identifier: Apache-2.0 */
/* The samples of a job by what leaves as one profile. */
#ifndef OTLP_ENCODE_SAMPLE_GROUPS_H
#define OTLP_ENCODE_SAMPLE_GROUPS_H

#include "base/err.h"
#include "otlp/encode/encode.h"

#include <stddef.h>
#include <stdint.h>

struct sample_group {
	uint32_t number; /* of its labels */
	const uint32_t *samples; /* in the order of the job; borrowed from the groups */
	size_t nr_samples; /* never 0 */
};

struct sample_groups {
	uint32_t *samples; /* owned */
	struct sample_group *groups; /* owned */
	size_t nr_groups;
};

/* Errors: -ENOMEM. */
int sample_groups_of(const struct encode_job *job, struct sample_groups *ret_groups) must_check;
void sample_groups_done(struct sample_groups *groups);

#endif

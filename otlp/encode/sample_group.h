/* SPDX-License-Identifier: Apache-2.0 */
/* The samples of a job that become one profile of the request. */
#ifndef OTLP_ENCODE_SAMPLE_GROUP_H
#define OTLP_ENCODE_SAMPLE_GROUP_H

#include "otlp/encode/encode.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sample_group {
	uint32_t number; /* in the job's attributes */
	const uint32_t *samples; /* borrowed from the job */
	size_t nr_samples; /* never 0 */
};

/* Moves on to the job's next group; a struct of zeros comes before the first one. Returns false
 * after the last group. */
bool sample_group_next(const struct encode_job *job, struct sample_group *group);

#endif

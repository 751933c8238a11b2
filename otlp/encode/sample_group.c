/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/encode/sample_group.h"

static uint32_t group_of(const struct encode_job *job, uint32_t sample)
{
	return job->attributes->samples[sample].group;
}

bool sample_group_next(const struct encode_job *job, struct sample_group *group)
{
	const uint32_t *end = job->samples + job->nr_samples;
	const uint32_t *first = group->samples ? group->samples + group->nr_samples : job->samples;
	size_t nr = 1;

	if (first == end)
		return false;
	while (first + nr < end && group_of(job, first[nr]) == group_of(job, *first))
		nr++;
	*group = (struct sample_group){ group_of(job, *first), first, nr };
	return true;
}

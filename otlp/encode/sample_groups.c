/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the samples of each group, then puts each sample at its group's next place. */
#include "otlp/encode/sample_groups.h"

#include <stdlib.h>

static uint64_t count_at(const struct encode_job *job, size_t i)
{
	return job->profile->samples[job->samples[i]].count;
}

static uint32_t group_at(const struct encode_job *job, size_t i)
{
	return job->attributes->samples[job->samples[i]].group;
}

static void count_samples(const struct encode_job *job, size_t *nr_of)
{
	for (size_t i = 0; i < job->nr_samples; i++)
		if (count_at(job, i))
			nr_of[group_at(job, i)]++;
}

/* Turns each number of samples into the place of the first one. */
static void lay_out(const struct encode_job *job, struct sample_groups *groups, size_t *next_of)
{
	size_t place = 0;

	for (size_t i = 0; i < job->attributes->nr_groups; i++) {
		size_t nr = next_of[i];

		next_of[i] = place;
		if (nr == 0)
			continue;
		groups->groups[groups->nr_groups++] = (struct sample_group){
			.number = (uint32_t)i,
			.samples = groups->samples + place,
			.nr_samples = nr,
		};
		place += nr;
	}
}

int sample_groups_of(const struct encode_job *job, struct sample_groups *ret_groups)
{
	size_t nr = job->attributes->nr_groups + 1; /* calloc() may answer NULL to none */
	_cleanup_(sample_groups_done) struct sample_groups groups = {
		.samples = calloc(job->nr_samples + 1, sizeof(*groups.samples)),
		.groups = calloc(nr, sizeof(*groups.groups)),
	};
	_cleanup_free_ size_t *next_of = calloc(nr, sizeof(*next_of));

	if (!groups.samples || !groups.groups || !next_of)
		return -ENOMEM;
	count_samples(job, next_of);
	lay_out(job, &groups, next_of);
	for (size_t i = 0; i < job->nr_samples; i++)
		if (count_at(job, i))
			groups.samples[next_of[group_at(job, i)]++] = job->samples[i];
	*ret_groups = groups;
	groups = (struct sample_groups){ 0 };
	return 0;
}

void sample_groups_done(struct sample_groups *groups)
{
	free(groups->samples);
	free(groups->groups);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The size of a part is only known once it is encoded. So the number of samples is estimated from
 * the previous part, and reduced when the part turns out too large. As the samples of a profile are
 * much alike, the second try usually fits. Samples are taken group by group, because each group in
 * a part repeats its attributes. */
#include "otlp/encode/parts.h"

#include "base/minmax.h"

#include <stdlib.h>

/* The share of a limit that a part is planned to use. */
#define AIM 0.875

static uint32_t group_of(const struct encode_job *job, size_t sample)
{
	return job->attributes->samples[sample].group;
}

/* Sorts the samples that have a count by group, with a counting sort. Returns their number. */
static size_t sort_samples(const struct encode_job *job, size_t *starts, uint32_t *samples)
{
	const struct profile *profile = job->profile;
	size_t at = 0;

	for (size_t i = 0; i < profile->nr_samples; i++)
		starts[group_of(job, i)] += profile->samples[i].count > 0;
	for (size_t i = 0; i < job->attributes->nr_groups; i++) {
		size_t nr = starts[i];

		starts[i] = at;
		at += nr;
	}
	for (size_t i = 0; i < profile->nr_samples; i++)
		if (profile->samples[i].count > 0)
			samples[starts[group_of(job, i)]++] = (uint32_t)i;
	return at;
}

int parts_init(struct parts *parts, const struct encode_job *whole,
	       const struct part_limits *limits, encode_request *encode)
{
	const struct profile *profile = whole->profile;
	_cleanup_free_ size_t *starts = calloc(whole->attributes->nr_groups + 1, sizeof(*starts));
	uint32_t *samples = calloc(profile->nr_samples + 1, sizeof(*samples));

	if (!starts || !samples) {
		free(samples);
		return -ENOMEM;
	}
	*parts = (struct parts){
		.job = *whole,
		.limits = *limits,
		.encode = encode,
		.samples = samples,
		.nr_samples = sort_samples(whole, starts, samples),
		.guess = limits->max_samples,
		.body = strbuf_with_max(limits->max_bytes),
	};
	return 0;
}

void parts_done(struct parts *parts)
{
	free(parts->samples);
	strbuf_done(&parts->body);
}

/* Returns how many of the next samples to try. */
static size_t choose(const struct parts *parts)
{
	size_t nr_profiles = 1, nr = 1;

	while (nr < parts->guess && parts->next + nr < parts->nr_samples) {
		const uint32_t *sample = &parts->samples[parts->next + nr];

		if (group_of(&parts->job, sample[0]) != group_of(&parts->job, sample[-1]) &&
		    ++nr_profiles > parts->limits.max_profiles)
			break;
		nr++;
	}
	return nr;
}

/* Returns how many samples to try next, at least one, after `nr` samples used `used` of `limit`. */
static size_t scale(size_t nr, size_t limit, size_t used)
{
	size_t fitting = (size_t)((double)nr * AIM * (double)limit / (double)(used ? used : 1));

	return fitting ? fitting : 1;
}

/* Estimates the number of samples of the next part from one that was encoded. */
static size_t guess_from(const struct parts *parts, const struct encode_result *result)
{
	size_t nr = parts->job.nr_samples;
	size_t by_bytes = scale(nr, parts->limits.max_bytes, parts->body.len);
	size_t by_cost = scale(nr, parts->limits.max_cost_bytes, result->cost_bytes);

	return min_u64(parts->limits.max_samples, min_u64(by_bytes, by_cost));
}

/* Encodes the next `nr` samples. Returns 1 when they fit, 0 when they are too large. */
static int try_part(struct parts *parts, size_t nr, struct encode_result *result)
{
	parts->job.samples = parts->samples + parts->next;
	parts->job.nr_samples = nr;
	strbuf_clear(&parts->body);

	int r = parts->encode(&parts->job, &parts->body, result);
	if (r == -ENOSPC) {
		parts->guess = nr / 2;
		return 0;
	}
	if (r < 0)
		return r;
	parts->guess = guess_from(parts, result);
	if (result->cost_bytes <= parts->limits.max_cost_bytes || nr == 1)
		return 1;
	parts->guess = min_u64(parts->guess, nr - 1);
	return 0;
}

int parts_next(struct parts *parts, struct encode_result *ret_result)
{
	struct encode_result result;

	while (parts->next < parts->nr_samples) {
		size_t nr = choose(parts);
		int r = try_part(parts, nr, &result);

		if (r < 0)
			return r;
		if (r == 1 || nr == 1) /* a sample that does not fit alone is left out */
			parts->next += nr;
		if (r == 0)
			continue;
		*ret_result = result;
		return 1;
	}
	return 0;
}

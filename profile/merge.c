/* SPDX-License-Identifier: Apache-2.0 */
/* When the builder is full, samples made of known elements still get in and the others are counted
 * as lost. */
#include "profile/merge.h"

#include "base/cleanup.h"
#include "profile/copier.h"

static int merge_sample(struct copier *copier, struct profile_sample sample)
{
	int r = copier_add_stack(copier, sample.stack, &sample.stack);

	return r < 0 ? r : copier_add_sample(copier, sample);
}

/* Returns the first error and counts the samples that were taken for those that had one. */
static int merge_samples(struct copier *copier, uint64_t *lost)
{
	int first_error = 0;

	const struct profile *from = copier->from;

	for (size_t i = 0; i < from->nr_samples; i++) {
		int r = merge_sample(copier, from->samples[i]);
		if (r < 0) {
			*lost += profile_sample_nr_taken(from, &from->samples[i]);
			first_error = first_error ? first_error : r;
		}
	}
	return first_error;
}

static int merge_whole(struct builder *builder, const struct profile *profile, uint64_t *lost)
{
	_cleanup_(copier_done) struct copier copier;

	int r = copier_init(&copier, builder, profile);
	if (r == 0)
		r = builder_join(builder, profile);
	if (r < 0) {
		*lost = profile_nr_taken(profile);
		return r;
	}
	return merge_samples(&copier, lost);
}

int merge_profile(struct builder *builder, const struct profile *profile, uint64_t *ret_lost)
{
	uint64_t lost = 0;
	int r = merge_whole(builder, profile, &lost);

	/* Set on failure as well, unlike other results: it counts the lost samples. */
	if (ret_lost)
		*ret_lost = lost;
	return r;
}

int merge_samples_of(struct builder *builder, const struct profile *profile)
{
	_cleanup_(copier_done) struct copier copier;
	uint64_t lost = 0;
	int r = copier_init(&copier, builder, profile);

	return r < 0 ? r : merge_samples(&copier, &lost);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/value_pairs.h"

#include "profile/builder.h"
#include "profile/merge.h"

#include <stdlib.h>

/* The builder adds the first values to the second ones, which are noted before. */
static int join(struct builder *builder, struct value_pairs *pairs, const struct profile *first,
		const struct profile *second)
{
	const struct profile *joined = builder_peek(builder);

	builder_drop_times(builder);
	int r = merge_profile(builder, second, NULL);
	for (size_t i = 0; i < joined->nr_samples; i++)
		pairs->pairs[i].second = joined->samples[i].count;
	if (r == 0)
		r = merge_samples_of(builder, first);
	for (size_t i = 0; i < joined->nr_samples; i++)
		pairs->pairs[i].first = joined->samples[i].count - pairs->pairs[i].second;
	return r;
}

int value_pairs_init(struct value_pairs *pairs, const struct profile *first,
		     const struct profile *second, size_t max_bytes)
{
	size_t max_samples = first->nr_samples + second->nr_samples;
	_cleanup_(builder_freep) struct builder *builder = NULL;

	*pairs = (struct value_pairs){ 0 };
	int r = builder_new(max_bytes, &builder);
	if (r < 0)
		return r;
	pairs->pairs = calloc(max_samples + 1, sizeof(*pairs->pairs));
	if (!pairs->pairs)
		return -ENOMEM;
	r = join(builder, pairs, first, second);
	if (r < 0)
		return r;
	pairs->profile = builder_seal(take_ptr(builder));
	return 0;
}

void value_pairs_done(struct value_pairs *pairs)
{
	profile_unref(pairs->profile);
	free(pairs->pairs);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "top/feed.h"

#include "base/minmax.h"
#include "profile/merge.h"

#define FEED_MAX_BYTES ((size_t)256 << 20)

void feed_begin(struct feed *feed, uint64_t unix_ns, uint64_t period_ns)
{
	pthread_mutex_lock(&feed->lock);
	feed->covered_ns = unix_ns;
	feed->period_ns = period_ns;
	pthread_mutex_unlock(&feed->lock);
}

void feed_done(struct feed *feed)
{
	builder_free(feed->builder);
	builder_free(feed->waits);
	feed->builder = NULL;
	feed->waits = NULL;
}

static int add(struct feed *feed, const struct profile *profile, uint64_t *ret_lost)
{
	struct builder **builder = profile->type == PROFILE_OFF_CPU ? &feed->waits : &feed->builder;

	*ret_lost = profile_nr_taken(profile);
	if (!*builder) {
		int r = builder_new(FEED_MAX_BYTES, builder);

		if (r < 0)
			return r;
		builder_drop_times(*builder);
	}
	return merge_profile(*builder, profile, ret_lost);
}

void feed_add(struct feed *feed, const struct profile *profile)
{
	uint64_t nr_lost;

	pthread_mutex_lock(&feed->lock);
	if (add(feed, profile, &nr_lost) < 0)
		feed->nr_lost += nr_lost;
	pthread_mutex_unlock(&feed->lock);
}

/* Returns the end of the last second that arrived, or 0. */
static uint64_t end_of(const struct feed *feed)
{
	const struct profile *profile = feed->builder ? builder_peek(feed->builder) : NULL;

	return profile ? profile->time_unix_ns + profile->duration_ns : 0;
}

uint64_t feed_waiting_ns(struct feed *feed)
{
	pthread_mutex_lock(&feed->lock);
	uint64_t end_ns = end_of(feed), waiting_ns = 0;
	if (end_ns > feed->covered_ns)
		waiting_ns = end_ns - feed->covered_ns;
	else if (feed->builder) /* the clock was set back */
		waiting_ns = builder_peek(feed->builder)->duration_ns;
	pthread_mutex_unlock(&feed->lock);
	return waiting_ns;
}

uint64_t feed_age_ns(struct feed *feed, uint64_t unix_ns)
{
	pthread_mutex_lock(&feed->lock);
	uint64_t covered_ns = feed->covered_ns;
	pthread_mutex_unlock(&feed->lock);
	return unix_ns > covered_ns ? unix_ns - covered_ns : 0;
}

/* Gives a profile the time that it stands for. If the clock was set back, that is its own. */
static void set_time(struct feed *feed, struct builder *builder, uint64_t end_ns)
{
	if (end_ns > feed->covered_ns)
		builder_set_time(builder, feed->covered_ns, end_ns - feed->covered_ns,
				 feed->period_ns);
	feed->covered_ns = end_ns;
}

struct profile *feed_take(struct feed *feed, uint64_t until_ns, uint64_t *nr_lost)
{
	pthread_mutex_lock(&feed->lock);
	uint64_t end_ns = max_u64(end_of(feed), until_ns);
	struct builder *builder = take_ptr(feed->builder);
	bool is_idle = !builder && end_ns > feed->covered_ns;
	if (is_idle && builder_new(FEED_MAX_BYTES, &builder) < 0)
		builder = NULL;
	if (builder)
		set_time(feed, builder, end_ns);
	*nr_lost += feed->nr_lost;
	feed->nr_lost = 0;
	pthread_mutex_unlock(&feed->lock);
	return builder ? builder_seal(builder) : NULL;
}

struct profile *feed_take_waits(struct feed *feed)
{
	pthread_mutex_lock(&feed->lock);
	struct builder *builder = take_ptr(feed->waits);
	pthread_mutex_unlock(&feed->lock);
	return builder ? builder_seal(builder) : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "store/seconds.h"

#include "base/minmax.h"

void seconds_done(struct seconds *seconds)
{
	for (size_t i = 0; i < seconds->nr_sums; i++)
		second_sums_done(&seconds->sums[i]);
	seconds->nr_sums = 0;
}

void seconds_add_vitals(struct seconds *seconds, uint64_t second, const struct vitals *vitals)
{
	seconds->recent[second % SECONDS_NR_RECENT].second = second;
	seconds->recent[second % SECONDS_NR_RECENT].vitals = *vitals;
	if (seconds->next_s == 0)
		seconds->next_s = second;
}

bool seconds_has_vitals(const struct seconds *seconds, uint64_t second)
{
	return seconds->recent[second % SECONDS_NR_RECENT].second == second;
}

void seconds_add_throttling(struct seconds *seconds, uint64_t second,
			    const struct second_throttling *throttling)
{
	size_t nr = seconds->nr_throttlings;

	if (nr == SECONDS_MAX_THROTTLINGS || second < seconds->next_s)
		return;
	seconds->throttlings[nr].second = second;
	seconds->throttlings[nr].throttling = *throttling;
	seconds->nr_throttlings++;
}

void seconds_add_loss(struct seconds *seconds, uint64_t second, uint64_t nr_samples)
{
	if (seconds->nr_sums > 0 && second == seconds->open_s)
		seconds->nr_lost += nr_samples;
}

/* Takes the throttlings up to a second. Returns their number. */
static size_t take_throttlings(struct seconds *seconds, uint64_t second,
			       struct second_throttling *throttlings)
{
	size_t nr_kept = 0, nr_taken = 0;

	for (size_t i = 0; i < seconds->nr_throttlings; i++) {
		if (seconds->throttlings[i].second <= second)
			throttlings[nr_taken++] = seconds->throttlings[i].throttling;
		else
			seconds->throttlings[nr_kept++] = seconds->throttlings[i];
	}
	seconds->nr_throttlings = nr_kept;
	return nr_taken;
}

static void pass_on(struct seconds *seconds, uint64_t second, const struct dict *dict)
{
	struct second_throttling throttlings[SECONDS_MAX_THROTTLINGS];
	struct second_series series[SECONDS_MAX_SERIES];
	bool is_open = seconds->nr_sums > 0 && seconds->open_s == second;
	bool has_vitals = seconds_has_vitals(seconds, second);
	struct store_second complete = {
		.second = second,
		.dict = dict,
		.dict_generation = seconds->dict_generation,
		.series = series,
		.nr_series = is_open ? seconds->nr_sums : 0,
		.throttlings = throttlings,
		.nr_throttlings = take_throttlings(seconds, second, throttlings),
		.nr_lost = is_open ? seconds->nr_lost : 0,
	};

	if (has_vitals)
		complete.vitals = seconds->recent[second % SECONDS_NR_RECENT].vitals;
	for (size_t i = 0; i < complete.nr_series; i++)
		series[i] = seconds->sums[i].series;
	if (seconds->visit && (is_open || has_vitals))
		seconds->visit(&complete, seconds->data);
	if (is_open) {
		seconds_done(seconds);
		seconds->nr_lost = 0;
	}
}

void seconds_complete(struct seconds *seconds, uint64_t end_s, const struct dict *dict)
{
	if (seconds->next_s == 0 || end_s <= seconds->next_s)
		return;
	/* Nothing is known of the seconds before the recent ones, but the open one. */
	uint64_t first_s = end_s > SECONDS_NR_RECENT ? end_s - SECONDS_NR_RECENT : 0;
	if (seconds->nr_sums > 0 && seconds->open_s < first_s)
		pass_on(seconds, seconds->open_s, dict);
	for (uint64_t second = max_u64(seconds->next_s, first_s); second < end_s; second++)
		pass_on(seconds, second, dict);
	seconds->next_s = end_s;
}

void seconds_add_sums(struct seconds *seconds, uint64_t second, struct second_sums *sums,
		      const struct dict *dict)
{
	/* The clock was set back: seconds begin anew from there. */
	if (second + SECONDS_LATE_S < seconds->next_s) {
		if (seconds->nr_sums > 0)
			pass_on(seconds, seconds->open_s, dict);
		seconds->next_s = second;
	}
	seconds_complete(seconds, second, dict);
	if (second < seconds->next_s || seconds->nr_sums == SECONDS_MAX_SERIES) {
		seconds->nr_late += sums->series.total;
		second_sums_done(sums);
		return;
	}
	if (seconds->next_s == 0)
		seconds->next_s = second;
	seconds->open_s = second;
	seconds->sums[seconds->nr_sums++] = *sums;
	*sums = (struct second_sums){ 0 };
}

void seconds_restart(struct seconds *seconds, const struct dict *dict)
{
	if (seconds->nr_sums > 0)
		seconds_complete(seconds, seconds->open_s + 1, dict);
	seconds->nr_throttlings = 0;
	seconds->dict_generation++;
}

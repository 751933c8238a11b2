/* SPDX-License-Identifier: Apache-2.0 */
#include "store/event_history.h"

#include "base/err.h"
#include "base/minmax.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define BLOCK_S 30
#define NR_BLOCKS (EVENT_HISTORY_S / BLOCK_S)
#define BLOCKS_PER_FEW 8 /* the highest one in so many may be an event */
#define HIGH_PERCENT 90
#define RISE_S 3 /* in which a burst may rise until it is noticed */
#define TAIL 6
#define SIGMAS_PER_MAD 1.4826 /* of the normal distribution */

void event_history_reset(struct event_history *history, size_t nr_zeros)
{
	memset(history, 0, sizeof(*history));
	history->nr = min_u64(nr_zeros, EVENT_HISTORY_S);
	history->next = history->nr % EVENT_HISTORY_S;
}

void event_history_push(struct event_history *history, double steps)
{
	uint16_t value = EVENT_HISTORY_MAX;

	if (steps < EVENT_HISTORY_MAX)
		value = steps > 0 ? (uint16_t)lround(steps) : 0;
	history->values[history->next] = value;
	history->next = (history->next + 1) % EVENT_HISTORY_S;
	if (history->nr < EVENT_HISTORY_S)
		history->nr++;
}

void event_history_keep(struct event_history *history, size_t nr)
{
	history->nr = min_u64(history->nr, nr);
}

/* Sorts by the low byte, then by the high one, which takes a tenth of the time of qsort(). It is
 * what an event detector does most. */
static void sort(uint16_t *values, size_t nr)
{
	uint16_t sorted[EVENT_HISTORY_S];

	for (unsigned int shift = 0; shift < 16; shift += 8) {
		size_t starts[257] = { 0 };

		for (size_t i = 0; i < nr; i++)
			starts[(values[i] >> shift & 0xff) + 1]++;
		for (size_t i = 1; i < array_len(starts); i++)
			starts[i] += starts[i - 1];
		for (size_t i = 0; i < nr; i++)
			sorted[starts[values[i] >> shift & 0xff]++] = values[i];
		memcpy(values, sorted, nr * sizeof(*values));
	}
}

static double median_of(const uint16_t *sorted, size_t nr)
{
	size_t low = (nr - 1) / 2, high = nr / 2;

	return (sorted[low] + sorted[high]) / 2.0;
}

/* Overwrites the values with their distances from the median. */
static double find_spread(uint16_t *values, size_t nr, double median)
{
	for (size_t i = 0; i < nr; i++) {
		double distance = values[i] > median ? values[i] - median : median - values[i];

		values[i] = (uint16_t)lround(distance);
	}
	sort(values, nr);
	return SIGMAS_PER_MAD * median_of(values, nr);
}

/* Estimates how high bursts usually go, from the highest value of each half minute. The level that
 * three of twenty half minutes reached is usual. Its distance from the level that six reached shows
 * how far the next bursts may go: nowhere if a regular job makes them, far if the load has a long
 * tail. A short history counts its highest value as usual, but not the newest ones: they may be the
 * rise of the burst that is judged. `values` are in the order of time. */
static double find_bursts(const uint16_t *values, size_t nr_values)
{
	uint16_t tops[NR_BLOCKS] = { 0 };
	bool is_short = nr_values < BLOCK_S * BLOCKS_PER_FEW;
	size_t nr = is_short && nr_values > RISE_S ? nr_values - RISE_S : nr_values;
	size_t nr_blocks = nr / BLOCK_S;

	if (nr_blocks == 0)
		return 0;
	for (size_t i = 0; i < nr_blocks * BLOCK_S; i++) {
		uint16_t value = values[nr - 1 - i], *top = &tops[i / BLOCK_S];

		*top = value > *top ? value : *top;
	}
	sort(tops, nr_blocks);
	size_t nr_few = nr_blocks / BLOCKS_PER_FEW, nr_more = nr_blocks / 4;
	double few = tops[nr_blocks - 1 - nr_few], more = tops[nr_blocks - 1 - nr_more];
	return few + TAIL * (few - more);
}

struct event_baseline event_history_baseline(const struct event_history *history)
{
	uint16_t values[EVENT_HISTORY_S];
	size_t nr = history->nr, first = history->next + EVENT_HISTORY_S - nr;
	struct event_baseline baseline = { 0 };

	if (nr == 0)
		return baseline;
	for (size_t i = 0; i < nr; i++)
		values[i] = history->values[(first + i) % EVENT_HISTORY_S];
	baseline.bursts = find_bursts(values, nr);
	sort(values, nr);
	baseline.median = median_of(values, nr);
	size_t nr_usual = nr * HIGH_PERCENT / 100;
	baseline.high = values[nr_usual];
	baseline.spread = find_spread(values, nr, baseline.median);
	return baseline;
}

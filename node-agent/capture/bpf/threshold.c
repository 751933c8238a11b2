/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/bpf/threshold.h"

#include "base/clock.h"
#include "base/minmax.h"

#define PACE_NS NSEC_PER_SEC

void threshold_count(struct threshold *threshold)
{
	threshold->nr_chosen++;
}

void threshold_pace(struct threshold *threshold, uint32_t nr_cpus, uint64_t now_ns)
{
	uint64_t rate = threshold->rate > 0 ? threshold->rate : THRESHOLD_RATE;
	uint64_t wanted = rate * (nr_cpus > 0 ? nr_cpus : 1);

	if (!threshold->value || now_ns < threshold->next_ns)
		return;
	uint64_t value = min_u64(*threshold->value, threshold->max);

	value = value * min_u64(threshold->nr_chosen, 100 * wanted) / wanted;
	value = max_u64(value, *threshold->value / 2); /* quiet seconds happen */
	value = max_u64(value, threshold->min);
	*threshold->value = min_u64(value, threshold->max);
	threshold->nr_chosen = 0;
	threshold->next_ns = now_ns + PACE_NS;
}

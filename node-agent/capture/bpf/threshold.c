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
	uint64_t wanted = THRESHOLD_RATE * (uint64_t)(nr_cpus > 0 ? nr_cpus : 1);

	if (!threshold->ns || now_ns < threshold->next_ns)
		return;
	uint64_t ns = min_u64(*threshold->ns, threshold->max_ns);

	ns = ns * min_u64(threshold->nr_chosen, 100 * wanted) / wanted;
	ns = max_u64(ns, *threshold->ns / 2); /* quiet seconds happen */
	ns = max_u64(ns, threshold->min_ns);
	*threshold->ns = min_u64(ns, threshold->max_ns);
	threshold->nr_chosen = 0;
	threshold->next_ns = now_ns + PACE_NS;
}

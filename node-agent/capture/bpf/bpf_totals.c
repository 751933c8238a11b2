/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/bpf/bpf_totals.h"

#include "base/cleanup.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>

void bpf_totals_add(int stats_fd, uint64_t totals[static STAT_NR])
{
	size_t nr_cpus = (size_t)libbpf_num_possible_cpus();
	uint32_t zero = 0;

	_cleanup_free_ struct bpf_counts *counts = calloc(nr_cpus, sizeof(*counts));
	if (!counts || bpf_map_lookup_elem(stats_fd, &zero, counts) < 0)
		return;
	for (size_t cpu = 0; cpu < nr_cpus; cpu++)
		for (size_t stat = 0; stat < STAT_NR; stat++)
			totals[stat] += counts[cpu].of[stat];
}

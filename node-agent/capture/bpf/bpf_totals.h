/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAPTURE_BPF_BPF_TOTALS_H
#define CAPTURE_BPF_BPF_TOTALS_H

#include "bpf/shared/stats.h"

#include <stdint.h>

/* Adds the counters of all CPUs in a map `stats` of the BPF side to the totals. If they cannot be
 * read, the totals stay. */
void bpf_totals_add(int stats_fd, uint64_t totals[static STAT_NR]);

#endif

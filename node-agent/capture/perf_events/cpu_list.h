/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of CPUs, as the kernel and taskset write them: "0-3,8". */
#ifndef CAPTURE_PERF_EVENTS_CPU_LIST_H
#define CAPTURE_PERF_EVENTS_CPU_LIST_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define CPU_LIST_MAX 8192 /* the kernel's largest CONFIG_NR_CPUS */

struct cpu_set_bits {
	uint64_t words[CPU_LIST_MAX / 64];
};

static inline bool cpu_set_has(const struct cpu_set_bits *set, uint32_t cpu)
{
	return cpu < CPU_LIST_MAX && (set->words[cpu / 64] >> (cpu % 64) & 1);
}

/* Parses a list; a newline may end it. Errors: -EINVAL malformed, -ERANGE a CPU over
 * CPU_LIST_MAX. */
int cpu_list_parse(const char *text, struct cpu_set_bits *ret_set) must_check;

/* Reads the set of CPUs that are online now. Errors: as above, and those of reading /sys. */
int cpu_list_online(struct cpu_set_bits *ret_set) must_check;

#endif

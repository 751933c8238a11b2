/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's side of the verdicts that BPF reads (bpf/shared/cgroups.h says how they are
 * stored). Not thread-safe, but for the kernel's reading. */
#ifndef CAPTURE_VERDICT_SLOTS_H
#define CAPTURE_VERDICT_SLOTS_H

#include "base/err.h"
#include "bpf/shared/cgroups.h"

#include <stdint.h>

struct verdict_slots {
	volatile uint64_t *slots; /* borrowed; CGROUP_SLOTS of them, at first 0 */
	uint32_t nr_used;
};

/* Sets or changes the verdict of a cgroup. Errors: -ENOSPC over MAX_CGROUP_VERDICTS, or when all
 * places of the id are taken. */
int verdict_slots_set(struct verdict_slots *slots, uint64_t id, enum cgroup_verdict verdict)
	must_check;

/* Returns the verdict of a cgroup; CGROUP_UNFILTERED if it has none. */
enum cgroup_verdict verdict_slots_get(const struct verdict_slots *slots, uint64_t id);

/* Removes the verdict of a cgroup, if it has one. */
void verdict_slots_forget(struct verdict_slots *slots, uint64_t id);

#endif

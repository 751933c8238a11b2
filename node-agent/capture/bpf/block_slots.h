/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's side of bpf/shared/off_cpu.h: reads what the kernel side knows of threads, and adapts
 * the length from which blocks are chosen for certain to the number of blocks that come. Belongs
 * to one thread. */
#ifndef CAPTURE_BPF_BLOCK_SLOTS_H
#define CAPTURE_BPF_BLOCK_SLOTS_H

#include "base/err.h"
#include "bpf/shared/off_cpu.h"
#include "capture/bpf/threshold.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block_slots {
	const volatile struct off_cpu_slot *slots; /* owned mapping; NULL: blocks are not wanted */
	struct threshold threshold;
};

/* Maps the slots of a BPF map, which the kernel side fills. `threshold_ns` is the kernel side's,
 * and outlives the slots. Errors: those of mmap(2). */
int block_slots_open(struct block_slots *slots, int map_fd, volatile uint64_t *threshold_ns)
	must_check;
void block_slots_close(struct block_slots *slots);

/* Counts a chosen block. */
void block_slots_count(struct block_slots *slots);

/* As threshold_pace(). */
void block_slots_pace(struct block_slots *slots, uint32_t nr_cpus, uint64_t now_ns);

/* Returns whether a block has begun and not ended. */
bool block_slots_has(const struct block_slots *slots, uint32_t tid, uint32_t sequence);

#endif

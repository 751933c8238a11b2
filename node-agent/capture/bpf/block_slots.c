/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/bpf/block_slots.h"

#include <errno.h>
#include <sys/mman.h>

#define SLOTS_BYTES (OFF_CPU_SLOTS * sizeof(struct off_cpu_slot))

int block_slots_open(struct block_slots *slots, int map_fd, volatile uint64_t *threshold_ns)
{
	void *memory = mmap(NULL, SLOTS_BYTES, PROT_READ, MAP_SHARED, map_fd, 0);

	if (memory == MAP_FAILED)
		return -errno;
	*slots = (struct block_slots){
		.slots = memory,
		.threshold = { .value = threshold_ns,
			       .min = OFF_CPU_MIN_THRESHOLD_NS,
			       .max = OFF_CPU_MAX_THRESHOLD_NS },
	};
	return 0;
}

void block_slots_close(struct block_slots *slots)
{
	if (slots->slots)
		munmap((void *)slots->slots, SLOTS_BYTES);
	slots->slots = NULL;
}

void block_slots_count(struct block_slots *slots)
{
	threshold_count(&slots->threshold);
}

void block_slots_pace(struct block_slots *slots, uint32_t nr_cpus, uint64_t now_ns)
{
	threshold_pace(&slots->threshold, nr_cpus, now_ns);
}

bool block_slots_has(const struct block_slots *slots, uint32_t tid, uint32_t sequence)
{
	const volatile struct off_cpu_slot *slot = &slots->slots[tid % OFF_CPU_SLOTS];

	return slot->tid == tid && slot->sequence == sequence && slot->is_chosen;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/bpf/block_slots.h"

#include "base/clock.h"
#include "base/minmax.h"

#include <errno.h>
#include <sys/mman.h>

#define SLOTS_BYTES (OFF_CPU_SLOTS * sizeof(struct off_cpu_slot))
#define PACE_NS NSEC_PER_SEC

int block_slots_open(struct block_slots *slots, int map_fd, volatile uint64_t *threshold_ns)
{
	void *memory = mmap(NULL, SLOTS_BYTES, PROT_READ, MAP_SHARED, map_fd, 0);

	if (memory == MAP_FAILED)
		return -errno;
	*slots = (struct block_slots){ .slots = memory, .threshold_ns = threshold_ns };
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
	slots->nr_begun++;
}

void block_slots_pace(struct block_slots *slots, uint32_t nr_cpus, uint64_t now_ns)
{
	uint64_t wanted = BLOCK_SLOTS_RATE * (uint64_t)(nr_cpus > 0 ? nr_cpus : 1);

	if (!slots->slots || now_ns < slots->next_ns)
		return;
	uint64_t threshold_ns = min_u64(*slots->threshold_ns, OFF_CPU_MAX_THRESHOLD_NS);

	threshold_ns = threshold_ns * min_u64(slots->nr_begun, 100 * wanted) / wanted;
	threshold_ns = max_u64(threshold_ns, *slots->threshold_ns / 2); /* quiet seconds happen */
	threshold_ns = max_u64(threshold_ns, OFF_CPU_MIN_THRESHOLD_NS);
	*slots->threshold_ns = min_u64(threshold_ns, OFF_CPU_MAX_THRESHOLD_NS);
	slots->nr_begun = 0;
	slots->next_ns = now_ns + PACE_NS;
}

bool block_slots_has(const struct block_slots *slots, uint32_t tid, uint32_t sequence)
{
	const volatile struct off_cpu_slot *slot = &slots->slots[tid % OFF_CPU_SLOTS];

	return slot->tid == tid && slot->sequence == sequence && slot->is_chosen;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/verdict_slots.h"

#include <stddef.h>

static volatile uint64_t *slot_at(const struct verdict_slots *slots, uint32_t index)
{
	return &slots->slots[index & (CGROUP_SLOTS - 1)];
}

/* Returns the slot of the id; if it has none, the first free slot that it may use, or NULL. */
static volatile uint64_t *find_slot(const struct verdict_slots *slots, uint64_t id)
{
	uint32_t first = cgroup_first_slot(id);
	volatile uint64_t *free_slot = NULL;

	for (uint32_t i = 0; i < CGROUP_MAX_PROBES; i++) {
		volatile uint64_t *slot = slot_at(slots, first + i);

		if (*slot >> 2 == id)
			return slot;
		if (!free_slot && *slot <= CGROUP_SLOT_LEFT)
			free_slot = slot;
		if (*slot == 0)
			break;
	}
	return free_slot;
}

int verdict_slots_set(struct verdict_slots *slots, uint64_t id, enum cgroup_verdict verdict)
{
	volatile uint64_t *slot = find_slot(slots, id);

	if (!slot)
		return -ENOSPC;
	if (*slot >> 2 != id) {
		if (slots->nr_used == MAX_CGROUP_VERDICTS)
			return -ENOSPC;
		slots->nr_used++;
	}
	*slot = id << 2 | verdict;
	return 0;
}

enum cgroup_verdict verdict_slots_get(const struct verdict_slots *slots, uint64_t id)
{
	const volatile uint64_t *slot = find_slot(slots, id);

	return slot && *slot >> 2 == id ? (enum cgroup_verdict)(*slot & 3) : CGROUP_UNFILTERED;
}

/* A removed slot becomes free if no used slot follows it, because no search has to pass it then. */
static void free_left(const struct verdict_slots *slots, uint32_t index)
{
	if (*slot_at(slots, index + 1) != 0)
		return;
	while (*slot_at(slots, index) == CGROUP_SLOT_LEFT)
		*slot_at(slots, index--) = 0;
}

void verdict_slots_forget(struct verdict_slots *slots, uint64_t id)
{
	volatile uint64_t *slot = find_slot(slots, id);

	if (!slot || *slot >> 2 != id)
		return;
	*slot = CGROUP_SLOT_LEFT;
	slots->nr_used--;
	free_left(slots, (uint32_t)(slot - slots->slots));
}

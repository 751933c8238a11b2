/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/tables/slot_map.h"

#include <stdlib.h>

/* A slot that was never used has 0, which is neither this nor the value before. */
#define FIRST_CLOCK 2

int slot_map_init(struct slot_map *map, struct table_slot *shared)
{
	struct slot *slots = calloc(MAX_TABLE_SLOTS, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	*map = (struct slot_map){ .shared = shared, .slots = slots, .end = 1 };
	slot_map_set_used(map, 0, FIRST_CLOCK);
	return 0;
}

void slot_map_done(struct slot_map *map)
{
	free(map->slots);
	*map = (struct slot_map){ 0 };
}

static uint32_t next_free_slot(struct slot_map *map)
{
	uint32_t slot = map->first_free;

	if (slot) {
		map->first_free = map->slots[slot].next;
		return slot;
	}
	return map->end < MAX_TABLE_SLOTS ? map->end++ : 0;
}

int slot_map_take(struct slot_map *map, uint32_t *ret_slot)
{
	uint32_t slot = next_free_slot(map);

	if (slot == 0)
		return -ENOSPC;
	map->slots[slot] = (struct slot){ .generation = map->slots[slot].generation };
	slot_map_set_used(map, slot, 0);
	map->nr_taken++;
	*ret_slot = slot;
	return 0;
}

void slot_map_release(struct slot_map *map, uint32_t slot)
{
	slot_map_set_unit(map, slot, TABLE_NOT_LOADED);
	map->slots[slot] = (struct slot){
		.generation = map->slots[slot].generation + 1,
		.next = map->limbo,
	};
	map->limbo = slot;
	map->nr_taken--;
}

bool slot_map_has(const struct slot_map *map, uint32_t slot)
{
	return slot < map->end && map->slots[slot].state != SLOT_FREE;
}

bool slot_map_is_claimed(const struct slot_map *map, struct slot_claim claim)
{
	return map->slots[claim.slot].generation == claim.generation;
}

bool slot_map_begin_reclaim(struct slot_map *map)
{
	map->leaving = map->limbo;
	map->limbo = 0;
	return map->leaving != 0;
}

void slot_map_end_reclaim(struct slot_map *map, bool is_over)
{
	uint32_t *list = is_over ? &map->first_free : &map->limbo;

	while (map->leaving) {
		uint32_t slot = map->leaving;

		map->leaving = map->slots[slot].next;
		map->slots[slot].next = *list;
		*list = slot;
	}
}

void slot_map_set_unit(struct slot_map *map, uint32_t slot, uint32_t unit)
{
	__atomic_store_n(&map->shared[slot].unit, unit, __ATOMIC_RELEASE);
}

uint32_t slot_map_get_used(const struct slot_map *map, uint32_t slot)
{
	return __atomic_load_n(&map->shared[slot].used, __ATOMIC_RELAXED);
}

void slot_map_set_used(struct slot_map *map, uint32_t slot, uint32_t used)
{
	__atomic_store_n(&map->shared[slot].used, used, __ATOMIC_RELAXED);
}

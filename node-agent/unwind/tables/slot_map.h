/* SPDX-License-Identifier: Apache-2.0 */
/* The slots of tables: what unwinders see of each one (unwind_memory.h), and what the agent
 * knows of it.
 *
 *	free ──▶ in use ──▶ limbo: unwinders may still have its number ──▶ free */
#ifndef UNWIND_TABLES_SLOT_MAP_H
#define UNWIND_TABLES_SLOT_MAP_H

#include "base/err.h"
#include "bpf/shared/cfi.h"

#include <stdbool.h>
#include <stdint.h>

enum slot_state {
	SLOT_FREE, /* or in the limbo */
	SLOT_WAITING, /* its file is in the queue */
	SLOT_LOADING, /* its file is being read */
	SLOT_LOADED,
	SLOT_WITHOUT_CFI,
	SLOT_EVICTED, /* its file must be handed in again */
};

struct slot {
	uint64_t retry_ns; /* evicted: the file is not asked for before */
	uint32_t table; /* loaded: the number in the store; 0: none */
	uint32_t generation; /* how often it was released */
	uint32_t next; /* free and limbo: the next slot */
	uint8_t state; /* enum slot_state */
	uint8_t nr_retries;
	bool has_key; /* unwinders find it by `key`, ... */
	struct file_key key;
	uint64_t keyed_ns; /* ... since then (CLOCK_MONOTONIC) */
};

struct slot_map {
	struct table_slot *shared; /* borrowed; all access is atomic */
	struct slot *slots; /* owned; MAX_TABLE_SLOTS, touched as they are needed */
	uint32_t end; /* no slot from here on was ever in use */
	uint32_t nr_taken;
	uint32_t first_free; /* 0 ends each of the lists */
	uint32_t limbo;
	uint32_t leaving; /* the limbo's when slot_map_begin_reclaim() was called */
};

/* `shared` has MAX_TABLE_SLOTS, is borrowed and outlives the map. Slot 0 is the clock, and is
 * nobody's. Errors: -ENOMEM. */
int slot_map_init(struct slot_map *map, struct table_slot *shared) must_check;
void slot_map_done(struct slot_map *map);

/* Errors: -ENOSPC. */
int slot_map_take(struct slot_map *map, uint32_t *ret_slot) must_check;

/* Unwinders find nothing in it from now on; it goes to the limbo. */
void slot_map_release(struct slot_map *map, uint32_t slot);

/* Whether it is a number of a slot in use. */
bool slot_map_has(const struct slot_map *map, uint32_t slot);

/* What has been in the limbo when this was called is free when the other one is called: between
 * them all unwinders must have ended (`is_over`); else it stays. False when the limbo is empty. */
bool slot_map_begin_reclaim(struct slot_map *map);
void slot_map_end_reclaim(struct slot_map *map, bool is_over);

/* Publishes all that was written before. */
void slot_map_set_unit(struct slot_map *map, uint32_t slot, uint32_t unit);

uint32_t slot_map_get_used(const struct slot_map *map, uint32_t slot);
void slot_map_set_used(struct slot_map *map, uint32_t slot, uint32_t used);

/* A slot that is in use now has the clock's value, or that before if no sample came since. */
static inline uint32_t slot_map_clock(const struct slot_map *map)
{
	return slot_map_get_used(map, 0);
}

#endif

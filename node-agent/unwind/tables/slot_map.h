/* SPDX-License-Identifier: Apache-2.0 */
/* The slots of tables: the part of each slot that unwinders see (unwind_memory.h), and the part
 * that only the agent sees.
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
	SLOT_PENDING, /* its file waits to be read, or is being read */
	SLOT_LOADED,
	SLOT_WITHOUT_CFI,
	SLOT_EVICTED, /* its file must be handed in again */
};

/* A slot, as long as it belongs to the same file. */
struct slot_claim {
	uint32_t slot;
	uint32_t generation;
};

struct slot {
	uint64_t retry_ns; /* evicted: the file is not asked for before */
	uint32_t table; /* loaded: the number in the store; 0: none */
	uint32_t generation; /* number of times the slot was released */
	uint32_t next; /* free and limbo: the next slot */
	uint8_t state; /* enum slot_state */
	uint8_t nr_retries;
	bool has_key; /* unwinders find the slot by `key` */
	struct file_key key;
	uint64_t keyed_ns; /* when they began to (CLOCK_MONOTONIC) */
};

struct slot_map {
	struct table_slot *shared; /* borrowed; all access is atomic */
	struct slot *slots; /* owned; MAX_TABLE_SLOTS, touched as they are needed */
	uint32_t end; /* no slot from here on was ever in use */
	uint32_t nr_taken;
	uint32_t first_free; /* heads of lists, which 0 ends */
	uint32_t limbo;
	uint32_t leaving; /* the limbo at the last slot_map_begin_reclaim() */
};

/* `shared` has MAX_TABLE_SLOTS, is borrowed and outlives the map. Slot 0 holds the clock and
 * belongs to no file. Errors: -ENOMEM. */
int slot_map_init(struct slot_map *map, struct table_slot *shared) must_check;
void slot_map_done(struct slot_map *map);

/* Takes a free slot, whose state the caller sets. Errors: -ENOSPC. */
int slot_map_take(struct slot_map *map, uint32_t *ret_slot) must_check;

/* Puts a slot into the limbo. Unwinders find no table in it from now on. */
void slot_map_release(struct slot_map *map, uint32_t slot);

/* Returns whether this is the number of a slot in use. */
bool slot_map_has(const struct slot_map *map, uint32_t slot);

/* Returns whether the slot was not released since `claim` was made. */
bool slot_map_is_claimed(const struct slot_map *map, struct slot_claim claim);

/* The slots that are in the limbo at the first call are free after the second one, if every stack
 * that was being unwound in between is done (`is_over`); else they stay in the limbo. The first
 * call returns false if the limbo is empty. */
bool slot_map_begin_reclaim(struct slot_map *map);
void slot_map_end_reclaim(struct slot_map *map, bool is_over);

/* Sets the unit that unwinders see, after everything that was written before. */
void slot_map_set_unit(struct slot_map *map, uint32_t slot, uint32_t unit);

uint32_t slot_map_get_used(const struct slot_map *map, uint32_t slot);
void slot_map_set_used(struct slot_map *map, uint32_t slot, uint32_t used);

/* Returns the clock of uses. A slot that is in use now has this value, or the one before if no
 * sample needed it since the last tick. */
static inline uint32_t slot_map_clock(const struct slot_map *map)
{
	return slot_map_get_used(map, 0);
}

#endif

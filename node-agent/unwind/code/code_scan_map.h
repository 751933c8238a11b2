/* SPDX-License-Identifier: Apache-2.0 */
/* Code to scan, and the facts that are found about each byte of it on the way. */
#ifndef UNWIND_CODE_CODE_SCAN_MAP_H
#define UNWIND_CODE_CODE_SCAN_MAP_H

#include "base/err.h"
#include "unwind/code/code_scan_input.h"
#include "unwind/code/code_scan_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SCAN_START = 1, /* a function begins here */
	SCAN_LIKELY_START = 2, /* … if nothing jumps here from another function's middle */
	SCAN_NO_START = 4, /* … not: the code makes no sense then */
};

#define SCAN_NO_STATE 0
#define SCAN_CONFLICT UINT16_MAX /* the ways here contradict each other */

/* A range of code. All bytes of all ranges are numbered in one sequence; `first` is the number of
 * the range's first byte, so it is the total length of the ranges before it. */
struct scan_range {
	struct scan_code code;
	size_t first;
};

struct scan_states {
	struct scan_state *items; /* owned; by id, the first one is SCAN_NO_STATE's */
	uint16_t *slots; /* owned; ids by hash, open addressing */
	size_t nr_items;
	size_t cap_items;
};

struct scan_map {
	struct scan_range *ranges; /* owned; ascending */
	size_t nr_ranges;
	size_t nr_bytes;
	uint8_t *marks; /* owned; SCAN_START … */
	uint16_t *forward; /* owned; states of jumps from lower addresses, in this pass */
	uint16_t *backward; /* owned; states of jumps from higher addresses, in the pass before */
	uint16_t *next_backward; /* owned; … in this pass */
	struct scan_states states;
	bool has_news; /* a mark was set in this pass */
};

/* Returns the number of bytes that a map of so much code, in so many ranges, allocates at most. */
size_t scan_map_max_held(size_t nr_bytes, size_t nr_ranges);

/* Makes the map of some code. Errors: -ENOSPC more than CODE_SCAN_MAX_BYTES, -ENOMEM. */
int scan_map_init(struct scan_map *map, const struct code_scan_input *input) must_check;
void scan_map_done(struct scan_map *map);

/* Sets a mark at an address, if that is in the map. */
void scan_map_mark(struct scan_map *map, uint64_t address, uint8_t mark);

/* Adds a jump from an index to an address, where the stack has this state. Errors: -ENOMEM. */
int scan_map_jump(struct scan_map *map, size_t from, uint64_t to, const struct scan_state *state)
	must_check;

/* Gets the state at an index from the jumps that lead there. Returns false if there are none, or
 * (*ret_is_conflict) if they contradict each other. */
bool scan_map_get(const struct scan_map *map, size_t index, struct scan_state *ret_state,
		  bool *ret_is_conflict);

/* Begins the next pass. Returns whether it can find out more than this one. */
bool scan_map_end_pass(struct scan_map *map);

#endif

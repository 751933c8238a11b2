/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/code/code_scan_map.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

#define NR_SLOTS 131072 /* twice the states that there can be */

static int init_states(struct scan_states *states)
{
	states->slots = calloc(NR_SLOTS, sizeof(*states->slots));
	if (!states->slots)
		return -ENOMEM;

	int r = array_grow(states->items, states->cap_items, 1, SCAN_CONFLICT);
	if (r < 0)
		return r;
	states->items[states->nr_items++] = (struct scan_state){ 0 };
	return 0;
}

/* SCAN_CONFLICT when there are too many. Errors: -ENOMEM. */
static int find_id(struct scan_states *states, const struct scan_state *state, uint16_t *ret_id)
{
	uint32_t slot = hash_bytes(state, sizeof(*state)) % NR_SLOTS;

	for (; states->slots[slot] != SCAN_NO_STATE; slot = (slot + 1) % NR_SLOTS) {
		uint16_t id = states->slots[slot];

		if (memcmp(&states->items[id], state, sizeof(*state)) == 0) {
			*ret_id = id;
			return 0;
		}
	}

	int r = array_grow(states->items, states->cap_items, states->nr_items + 1, SCAN_CONFLICT);
	if (r == -ENOSPC)
		*ret_id = SCAN_CONFLICT;
	if (r < 0)
		return r == -ENOSPC ? 0 : r;
	states->items[states->nr_items] = *state;
	states->slots[slot] = (uint16_t)states->nr_items;
	*ret_id = (uint16_t)states->nr_items++;
	return 0;
}

static int copy_ranges(struct scan_map *map, const struct code_scan_input *input)
{
	map->ranges = calloc(input->nr_codes + 1, sizeof(*map->ranges));
	if (!map->ranges)
		return -ENOMEM;
	for (size_t i = 0; i < input->nr_codes; i++) {
		const struct scan_code *code = &input->codes[i];

		if (code->len > CODE_SCAN_MAX_BYTES - map->nr_bytes)
			return -ENOSPC;
		map->ranges[map->nr_ranges++] = (struct scan_range){ *code, map->nr_bytes };
		map->nr_bytes += code->len;
	}
	return 0;
}

static int init_bytes(struct scan_map *map)
{
	size_t nr = map->nr_bytes + 1;

	map->marks = calloc(nr, sizeof(*map->marks));
	map->forward = calloc(nr, sizeof(*map->forward));
	map->backward = calloc(nr, sizeof(*map->backward));
	map->next_backward = calloc(nr, sizeof(*map->next_backward));
	return map->marks && map->forward && map->backward && map->next_backward ? 0 : -ENOMEM;
}

size_t scan_map_max_held(size_t nr_bytes, size_t nr_ranges)
{
	const struct scan_map *map = NULL;
	size_t per_byte = sizeof(*map->marks) + sizeof(*map->forward) + sizeof(*map->backward) +
			  sizeof(*map->next_backward);

	return (nr_bytes + 1) * per_byte + (nr_ranges + 1) * sizeof(*map->ranges) +
	       NR_SLOTS * sizeof(*map->states.slots) + SCAN_CONFLICT * sizeof(*map->states.items);
}

int scan_map_init(struct scan_map *map, const struct code_scan_input *input)
{
	struct scan_map fresh = { 0 };
	int r = copy_ranges(&fresh, input);

	if (r == 0)
		r = init_bytes(&fresh);
	if (r == 0)
		r = init_states(&fresh.states);
	if (r < 0) {
		scan_map_done(&fresh);
		return r;
	}
	for (size_t i = 0; i < input->nr_starts; i++)
		scan_map_mark(&fresh, input->starts[i].address,
			      input->starts[i].is_likely ? SCAN_LIKELY_START : SCAN_START);
	*map = fresh;
	return 0;
}

void scan_map_done(struct scan_map *map)
{
	free(map->states.items);
	free(map->states.slots);
	free(map->next_backward);
	free(map->backward);
	free(map->forward);
	free(map->marks);
	free(map->ranges);
	*map = (struct scan_map){ 0 };
}

/* The index of an address, or SIZE_MAX when it is elsewhere. */
static size_t find_index(const struct scan_map *map, uint64_t address)
{
	size_t nr_up_to = search_count(map->nr_ranges, i, map->ranges[i].code.address <= address);

	if (nr_up_to == 0)
		return SIZE_MAX;

	const struct scan_range *range = &map->ranges[nr_up_to - 1];
	uint64_t offset = address - range->code.address;
	return offset < range->code.len ? range->first + (size_t)offset : SIZE_MAX;
}

void scan_map_mark(struct scan_map *map, uint64_t address, uint8_t mark)
{
	size_t index = find_index(map, address);

	if (index == SIZE_MAX || map->marks[index] & mark)
		return;
	map->marks[index] |= mark;
	map->has_news = true;
}

/* Adds a state to those that lead to a place. Errors: -ENOMEM. */
static int add_state(struct scan_states *states, uint16_t *id, const struct scan_state *state)
{
	struct scan_state merged = *state;

	if (*id == SCAN_CONFLICT)
		return 0;
	if (*id != SCAN_NO_STATE && !scan_state_merge(&merged, &states->items[*id])) {
		*id = SCAN_CONFLICT;
		return 0;
	}
	return find_id(states, &merged, id);
}

int scan_map_jump(struct scan_map *map, size_t from, uint64_t to, const struct scan_state *state)
{
	size_t index = find_index(map, to);

	if (index == SIZE_MAX || !scan_state_is_known(state))
		return 0;
	return add_state(&map->states,
			 index > from ? &map->forward[index] : &map->next_backward[index], state);
}

bool scan_map_get(const struct scan_map *map, size_t index, struct scan_state *ret_state,
		  bool *ret_is_conflict)
{
	uint16_t forward = map->forward[index];
	uint16_t backward = map->backward[index];
	uint16_t one = forward != SCAN_NO_STATE ? forward : backward;
	struct scan_state state;

	*ret_is_conflict = forward == SCAN_CONFLICT || backward == SCAN_CONFLICT;
	if (*ret_is_conflict || one == SCAN_NO_STATE)
		return false;
	state = map->states.items[one];
	*ret_is_conflict = backward != SCAN_NO_STATE &&
			   !scan_state_merge(&state, &map->states.items[backward]);
	if (*ret_is_conflict)
		return false;
	*ret_state = state;
	return true;
}

bool scan_map_end_pass(struct scan_map *map)
{
	size_t bytes = map->nr_bytes * sizeof(*map->backward);
	bool has_news = map->has_news || memcmp(map->backward, map->next_backward, bytes) != 0;
	uint16_t *last = map->backward;

	map->backward = map->next_backward;
	map->next_backward = last;
	memset(map->next_backward, 0, bytes);
	memset(map->forward, 0, bytes);
	map->has_news = false;
	return has_news;
}

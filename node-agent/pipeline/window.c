/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/window.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

int window_new(uint64_t start_ns, uint64_t start_unix_ns, enum profile_type type,
	       struct window **ret_window)
{
	_cleanup_(window_freep) struct window *window = calloc(1, sizeof(*window));

	if (!window)
		return -ENOMEM;
	window->start_ns = start_ns;
	window->end_ns = start_ns + WINDOW_NS - start_unix_ns % WINDOW_NS;
	window->start_unix_ns = start_unix_ns;
	uint64_t mono_ns = clock_mono_ns(); /* first: the other one is not behind it then */
	window->suspended_ns = clock_read_ns(CLOCK_BOOTTIME) - mono_ns;
	int r = builder_new(WINDOW_MAX_BYTES, &window->builder);
	if (r < 0)
		return r;
	builder_set_type(window->builder, type);
	*ret_window = take_ptr(window);
	return 0;
}

void window_free(struct window *window)
{
	if (!window)
		return;
	builder_free(window->builder);
	free(window->mappings);
	htable_done(&window->mapping_index);
	free(window->cgroups);
	htable_done(&window->cgroup_index);
	free(window);
}

static uint32_t mapping_hash(const struct window_mapping *key)
{
	return hash_u64((uint64_t)key->code.kind << 62 ^ (uint64_t)key->code.id << 30 ^
			key->filename);
}

static int insert_mapping(struct window *window, struct window_mapping *key,
			  const struct profile_mapping *mapping)
{
	int r = array_grow(window->mappings, window->cap_mappings, window->nr_mappings + 1,
			   WINDOW_MAX_MAPPINGS);
	if (r < 0)
		return r;
	r = builder_add_mapping(window->builder, mapping, &key->mapping);
	if (r < 0)
		return r;
	window->mappings[window->nr_mappings++] = *key;
	return htable_add(&window->mapping_index, mapping_hash(key),
			  (uint32_t)window->nr_mappings - 1);
}

static bool find_mapping(const struct window *window, const struct window_mapping *key,
			 uint32_t *ret_mapping)
{
	struct htable_iter it = htable_lookup(&window->mapping_index, mapping_hash(key));

	for (uint32_t row; htable_next(&it, &row);) {
		const struct window_mapping *known = &window->mappings[row];

		if (known->code.kind == key->code.kind && known->code.id == key->code.id &&
		    known->filename == key->filename) {
			*ret_mapping = known->mapping;
			return true;
		}
	}
	return false;
}

bool window_find_code(const struct window *window, struct window_code code, uint32_t *ret_mapping)
{
	return find_mapping(window, &(struct window_mapping){ .code = code }, ret_mapping);
}

/* The builder's mapping 0 is none; the window added all others, in order. */
struct window_code window_code_of(const struct window *window, uint32_t mapping)
{
	return mapping == 0 ? (struct window_code){ CODE_NAMELESS, 0 }
			    : window->mappings[mapping - 1].code;
}

int window_add_mapping(struct window *window, struct window_code code, const char *filename,
		       uint64_t size, uint32_t *ret_mapping)
{
	struct window_mapping key = { .code = code };
	struct profile_mapping mapping = { .limit = size };
	int r = 0;

	if (code.id == 0)
		r = builder_add_string(window->builder, filename, &key.filename);
	if (r < 0)
		return r;

	if (find_mapping(window, &key, ret_mapping))
		return 0;

	r = builder_add_string(window->builder, filename, &mapping.filename);
	if (r == 0)
		r = insert_mapping(window, &key, &mapping);
	if (r == 0)
		*ret_mapping = key.mapping;
	return r;
}

static size_t located_at(const struct window_place *place)
{
	return hash_u64(place->address ^ place->version << 48 ^ (uint64_t)place->pid << 40) &
	       (WINDOW_NR_LOCATED - 1);
}

bool window_find_location(const struct window *window, const struct window_place *place,
			  uint32_t *ret_location)
{
	const struct window_located *known = &window->located[located_at(place)];

	if (known->location == 0 || known->place.address != place->address ||
	    known->place.version != place->version || known->place.pid != place->pid)
		return false;
	*ret_location = known->location;
	return true;
}

void window_keep_location(struct window *window, const struct window_place *place,
			  uint32_t location)
{
	window->located[located_at(place)] = (struct window_located){ *place, location };
}

void window_count_time(struct window *window, uint64_t time_ns)
{
	uint64_t after_ns = time_ns > window->start_ns ? time_ns - window->start_ns : 0;

	slots_add(builder_slots(window->builder), window->start_unix_ns + after_ns, 1);
}

void window_forget_locations(struct window *window)
{
	memset(window->located, 0, sizeof(window->located));
}

int window_add_cgroup(struct window *window, uint64_t cgroup_id)
{
	uint32_t hash = hash_u64(cgroup_id);

	struct htable_iter it = htable_lookup(&window->cgroup_index, hash);
	for (uint32_t row; htable_next(&it, &row);)
		if (window->cgroups[row] == cgroup_id)
			return 0;

	int r = array_grow(window->cgroups, window->cap_cgroups, window->nr_cgroups + 1,
			   WINDOW_MAX_CGROUPS);
	if (r < 0)
		return r;
	r = htable_add(&window->cgroup_index, hash, (uint32_t)window->nr_cgroups);
	if (r < 0)
		return r;
	window->cgroups[window->nr_cgroups++] = cgroup_id;
	return 1;
}

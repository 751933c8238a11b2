/* SPDX-License-Identifier: Apache-2.0 */
/* The locations of a profile under construction.
 *
 * A location is found by its place, so that the frames of a sample cost one lookup each; its lines
 * come later, when the window is complete and its frames are named, or together with it when
 * profiles are merged. They are in one array, after those of other locations:
 *
 *	locations	0: -   1: 1-2             2: 2      3: 3
 *	lines		0: -   1: push  2: main             3: poll
 *
 * They have no index: it would take more room than it saves. Only what the last ones end in is not
 * added again, so that a name that many locations get one after the other ("no room for names") is
 * there once. */
#include "profile/location_rows.h"

#include "base/array.h"
#include "base/hash.h"

#include <assert.h>
#include <string.h>

/* Compared as bytes. */
static_assert(sizeof(struct profile_line) == 8, "gap in struct profile_line");

/* Returns the part of a location's kind that is known without its name. */
static enum frame_kind space_of(enum frame_kind kind)
{
	return kind == FRAME_KERNEL || kind == FRAME_STOP || kind == FRAME_LABEL ? kind
										 : FRAME_NATIVE;
}

static uint32_t hash_place(const struct profile_location *location)
{
	const struct {
		uint64_t address;
		uint32_t mapping;
		uint32_t space;
	} key = { location->address, location->mapping, (uint32_t)space_of(location->kind) };

	return hash_bytes(&key, sizeof(key));
}

/* A place without an address, as in a local record, has many locations, which only their lines tell
 * apart. */
static uint32_t hash_named(const struct profile_location *location,
			   const struct profile_line *lines, size_t nr)
{
	uint32_t hash = hash_place(location);

	return location->address ? hash : hash ^ hash_bytes(lines, nr * sizeof(*lines));
}

static bool is_same_place(const struct profile_location *known,
			  const struct profile_location *wanted)
{
	return known->address == wanted->address && known->mapping == wanted->mapping &&
	       space_of(known->kind) == space_of(wanted->kind);
}

static bool has_lines(const struct profile *p, const struct profile_location *location,
		      const struct profile_line *lines, size_t nr)
{
	return location->nr_lines == nr &&
	       memcmp(p->lines + location->first_line, lines, nr * sizeof(*lines)) == 0;
}

/* Finds the location at that place, with these lines if there are any. */
static bool find_location(const struct location_rows *rows, const struct profile_location *wanted,
			  const struct profile_line *lines, size_t nr, uint32_t hash,
			  uint32_t *ret_id)
{
	const struct profile *p = rows->profile;
	struct htable_iter it = htable_lookup(&rows->index, hash);

	for (uint32_t id; htable_next(&it, &id);) {
		const struct profile_location *known = &p->locations[id];

		if (is_same_place(known, wanted) &&
		    (nr == 0 || (known->kind == wanted->kind && has_lines(p, known, lines, nr)))) {
			*ret_id = id;
			return true;
		}
	}
	return false;
}

/* Adds a location that uses the same lines. */
static int add_location(struct location_rows *rows, const struct profile_location *location,
			uint32_t hash, uint32_t *ret_id)
{
	struct profile *p = rows->profile;

	int r = array_grow(p->locations, p->cap_locations, p->nr_locations + 1, ROWS_MAX);
	if (r < 0)
		return r;
	r = row_budget_book(rows->budget, &rows->index, hash, p->nr_locations, sizeof(*location));
	if (r < 0)
		return r;
	p->locations[p->nr_locations] = *location;
	*ret_id = (uint32_t)p->nr_locations++;
	return 0;
}

int location_rows_add(struct location_rows *rows, const struct profile_location *location,
		      uint32_t *ret_id)
{
	struct profile_location added = *location;
	uint32_t hash = hash_place(location);

	if (find_location(rows, location, NULL, 0, hash, ret_id))
		return 0;
	added.first_line = 0;
	added.nr_lines = 0;
	return add_location(rows, &added, hash, ret_id);
}

/* Appends lines unless the last ones are equal. */
static int add_lines(struct location_rows *rows, const struct profile_line *lines, size_t nr,
		     uint32_t *ret_first)
{
	struct profile *p = rows->profile;
	size_t bytes = nr * sizeof(*lines);

	if (nr < p->nr_lines && memcmp(p->lines + p->nr_lines - nr, lines, bytes) == 0) {
		*ret_first = (uint32_t)(p->nr_lines - nr);
		return 0;
	}

	if (!row_budget_has_room(rows->budget, bytes))
		return -ENOSPC;
	int r = array_grow(p->lines, p->cap_lines, p->nr_lines + nr, ROWS_MAX);
	if (r < 0)
		return r;
	memcpy(p->lines + p->nr_lines, lines, bytes);
	rows->budget->nr_bytes += bytes;
	*ret_first = (uint32_t)p->nr_lines;
	p->nr_lines += nr;
	return 0;
}

int location_rows_add_named(struct location_rows *rows, const struct profile_location *location,
			    const struct profile_line *lines, size_t nr, uint32_t *ret_id)
{
	struct profile_location added = *location;
	size_t nr_lines_before = rows->profile->nr_lines;
	size_t nr_bytes_before = rows->budget->nr_bytes;
	uint32_t hash = hash_named(location, lines, nr);

	if (find_location(rows, location, lines, nr, hash, ret_id))
		return 0;
	int r = add_lines(rows, lines, nr, &added.first_line);
	if (r < 0)
		return r;
	added.nr_lines = (uint32_t)nr;
	r = add_location(rows, &added, hash, ret_id);
	if (r < 0) {
		rows->profile->nr_lines = nr_lines_before;
		rows->budget->nr_bytes = nr_bytes_before;
	}
	return r;
}

int location_rows_set_lines(struct location_rows *rows, uint32_t location, enum frame_kind kind,
			    const struct profile_line *lines, size_t nr)
{
	struct profile_location *named = &rows->profile->locations[location];

	assert(nr > 0 && named->nr_lines == 0 && space_of(kind) == space_of(named->kind));
	int r = add_lines(rows, lines, nr, &named->first_line);
	if (r < 0)
		return r;
	named->nr_lines = (uint32_t)nr;
	named->kind = kind;
	return 0;
}

void location_rows_done(struct location_rows *rows)
{
	htable_done(&rows->index);
}

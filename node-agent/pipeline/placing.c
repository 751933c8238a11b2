/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/placing.h"

#include "base/array.h"
#include "base/hash.h"

#include <stdlib.h>

/* A segment for which the profile has a mapping. */
struct placed_segment {
	uint64_t offset;
	uint64_t address;
	uint32_t file; /* the mapping of the whole file */
	uint32_t mapping;
};

struct placer {
	struct elf_cache *elfs; /* borrowed */
	struct window *window; /* borrowed */
	struct placed_segment *segments; /* owned */
	size_t nr_segments, cap_segments;
	struct htable index;
};

static void placer_done(struct placer *placer)
{
	free(placer->segments);
	htable_done(&placer->index);
}

static int add_segment(struct placer *placer, uint32_t hash, uint32_t file,
		       const struct elf_block_segment *segment, uint32_t *ret_mapping)
{
	struct profile_mapping mapping = builder_peek(placer->window->builder)->mappings[file];

	mapping.start = segment->address;
	mapping.limit = segment->address + segment->size;
	mapping.offset = segment->offset;
	int r = array_grow(placer->segments, placer->cap_segments, placer->nr_segments + 1,
			   UINT32_MAX - 1);
	if (r == 0)
		r = builder_add_mapping(placer->window->builder, &mapping, ret_mapping);
	if (r == 0)
		r = htable_add(&placer->index, hash, (uint32_t)placer->nr_segments);
	if (r < 0)
		return r;
	placer->segments[placer->nr_segments++] = (struct placed_segment){
		.offset = segment->offset,
		.address = segment->address,
		.file = file,
		.mapping = *ret_mapping,
	};
	return 0;
}

/* Returns the profile's mapping of a file's segment, and adds it if it is new. */
static int get_segment(struct placer *placer, uint32_t file,
		       const struct elf_block_segment *segment, uint32_t *ret_mapping)
{
	uint32_t hash = hash_u64(segment->offset ^ (uint64_t)file << 40);

	struct htable_iter it = htable_lookup(&placer->index, hash);
	for (uint32_t row; placer->nr_segments > 0 && htable_next(&it, &row);) {
		const struct placed_segment *known = &placer->segments[row];

		if (known->file == file && known->offset == segment->offset &&
		    known->address == segment->address) {
			*ret_mapping = known->mapping;
			return 0;
		}
	}
	return add_segment(placer, hash, file, segment, ret_mapping);
}

static int place_location(struct placer *placer, uint32_t number)
{
	struct builder *builder = placer->window->builder;
	const struct profile_location *location = &builder_peek(builder)->locations[number];
	struct window_code code = window_code_of(placer->window, location->mapping);
	struct elf_block_segment segment;
	uint32_t mapping = 0;

	if (code.kind == CODE_RUNTIME)
		builder_move_location(builder, number, location->mapping, 0);
	if (code.kind != CODE_ELF ||
	    !elf_cache_find_segment(placer->elfs, code.id, location->address, &segment))
		return 0;
	int r = get_segment(placer, location->mapping, &segment, &mapping);
	if (r == 0)
		builder_move_location(builder, number, mapping,
				      location->address - segment.offset + segment.address);
	return r == -ENOSPC ? 0 : r;
}

int place_window(struct elf_cache *elfs, struct window *window)
{
	_cleanup_(placer_done) struct placer placer = { .elfs = elfs, .window = window };
	size_t nr_locations = builder_peek(window->builder)->nr_locations;
	int r = 0;

	builder_set_room(window->builder, WINDOW_MAX_SEGMENT_BYTES);
	for (uint32_t number = 1; number < nr_locations && r == 0; number++)
		r = place_location(&placer, number);
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/frame/frame_cache.h"

#include "base/array.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ROWS ((size_t)1 << 30)

/* The state of an open name is stored in pretty[] as its complement; other values are the numbers
 * of strings, never that of "". */
#define OPEN_NAME (~(uint32_t)NAME_LEFT)

struct cached_frames {
	uint64_t place;
	uint64_t address;
	/* Index of the first line. Without lines, the distance from the beginning of the function,
	 * or NO_FUNCTION. */
	uint32_t first;
	uint8_t nr_lines;
	uint8_t language;
	uint8_t state;
	bool has_open_names; /* false: none; true: maybe */
};

#define NO_FUNCTION UINT32_MAX

/* Strings are stored as numbers. */
struct cached_line {
	uint32_t system_name;
	uint32_t filename;
	uint32_t line;
	uint32_t start_line;
};

void frame_cache_done(struct frame_cache *cache)
{
	htable_done(&cache->index);
	free(cache->frames);
	free(cache->lines);
	free(cache->pretty);
	intern_done(&cache->strings);
	*cache = (struct frame_cache){ 0 };
}

size_t frame_cache_bytes(const struct frame_cache *cache)
{
	const struct intern *strings = &cache->strings;

	return (cache->index.nr_slots + strings->index.nr_slots) * sizeof(struct htable_slot) +
	       cache->cap_frames * sizeof(*cache->frames) +
	       cache->cap_lines * sizeof(*cache->lines) +
	       cache->cap_pretty * sizeof(*cache->pretty) +
	       strings->cap_strings * sizeof(*strings->strings) + strings->arena.nr_bytes;
}

static struct cached_frames *find(const struct frame_cache *cache, uint64_t place)
{
	struct htable_iter it = htable_lookup(&cache->index, hash_u64(place));

	for (uint32_t row; htable_next(&it, &row);)
		if (cache->frames[row].place == place)
			return &cache->frames[row];
	return NULL;
}

static bool is_open(const struct frame_cache *cache, uint32_t name)
{
	return cache->pretty[name] >= OPEN_NAME;
}

/* Returns the demangled name, or the raw one if the name is open. */
static const char *best_name(const struct frame_cache *cache, uint32_t name)
{
	return intern_get(&cache->strings, is_open(cache, name) ? name : cache->pretty[name]);
}

static uint64_t function_of(const struct cached_frames *known)
{
	return known->nr_lines > 0 || known->first == NO_FUNCTION ? 0
								  : known->address - known->first;
}

/* Returns `first` for frames without lines. */
static uint32_t distance_of(const struct symbol_frames *frames)
{
	uint64_t distance = frames->address - frames->function;

	return frames->function != 0 && distance < NO_FUNCTION ? (uint32_t)distance : NO_FUNCTION;
}

bool frame_cache_find(struct frame_cache *cache, uint64_t place, enum frames_state *ret_state,
		      struct symbol_frames *ret_frames)
{
	const struct cached_frames *known = find(cache, place);

	if (!known)
		return false;
	for (size_t i = 0; i < known->nr_lines; i++) {
		const struct cached_line *line = &cache->lines[known->first + i];

		cache->out[i] = (struct symbol_line){
			.name = best_name(cache, line->system_name),
			.system_name = intern_get(&cache->strings, line->system_name),
			.filename = intern_get(&cache->strings, line->filename),
			.line = line->line,
			.start_line = line->start_line,
		};
	}
	*ret_state = known->state;
	*ret_frames = (struct symbol_frames){
		.lines = cache->out,
		.nr_lines = known->nr_lines,
		.language = known->language,
		.address = known->address,
		.function = function_of(known),
	};
	return true;
}

enum name_state frame_cache_name_state(const struct frame_cache *cache, uint32_t name)
{
	return (enum name_state) ~cache->pretty[name];
}

void frame_cache_set_name_state(struct frame_cache *cache, uint32_t name, enum name_state state)
{
	cache->pretty[name] = ~(uint32_t)state;
}

const char *frame_cache_raw_name(const struct frame_cache *cache, uint32_t name)
{
	return intern_get(&cache->strings, name);
}

int frame_cache_name(struct frame_cache *cache, uint32_t name, const char *pretty)
{
	uint32_t number = name;
	int r = pretty[0] ? intern_add(&cache->strings, pretty, &number) : 0;

	if (r == 0)
		cache->pretty[name] = number;
	return r;
}

int frame_cache_open_names(struct frame_cache *cache, uint64_t place,
			   uint32_t ret_names[static SYMBOL_MAX_LINES])
{
	struct cached_frames *known = find(cache, place);
	int nr = 0;

	if (!known)
		return -ENOENT;
	if (!known->has_open_names)
		return 0;
	for (size_t i = 0; i < known->nr_lines; i++) {
		uint32_t name = cache->lines[known->first + i].system_name;

		if (is_open(cache, name))
			ret_names[nr++] = name;
	}
	known->has_open_names = nr > 0;
	return nr;
}

static bool may_be_mangled(const char *name, enum demangle_style style)
{
	return style != DEMANGLE_NONE && demangle_is_candidate(name) &&
	       strnlen(name, DEMANGLE_MAX_BYTES + 1) <= DEMANGLE_MAX_BYTES;
}

/* Adds a raw name. A new one is open if it may be mangled. */
static int add_name(struct frame_cache *cache, const char *text, enum demangle_style style,
		    uint32_t *ret_name)
{
	uint32_t name;

	int r = intern_add(&cache->strings, text, &name);
	if (r < 0)
		return r;
	size_t before = cache->cap_pretty;
	r = array_grow(cache->pretty, cache->cap_pretty, (size_t)name + 1, MAX_ROWS);
	if (r < 0)
		return r;
	for (size_t i = before; i < cache->cap_pretty; i++)
		cache->pretty[i] = 0;
	if (cache->pretty[name] == 0)
		cache->pretty[name] = may_be_mangled(text, style) ? ~(uint32_t)NAME_NEW : name;
	*ret_name = name;
	return 0;
}

static int add_line(struct frame_cache *cache, const struct symbol_line *line,
		    enum demangle_style style)
{
	struct cached_line added = { .line = line->line, .start_line = line->start_line };

	int r = array_grow(cache->lines, cache->cap_lines, cache->nr_lines + 1, MAX_ROWS);
	if (r == 0)
		r = add_name(cache, line->system_name, style, &added.system_name);
	if (r == 0)
		r = intern_add(&cache->strings, line->filename, &added.filename);
	if (r == 0)
		cache->lines[cache->nr_lines++] = added;
	return r;
}

/* Finds the row of a place, or adds one. */
static int take_row(struct frame_cache *cache, uint64_t place, struct cached_frames **ret_row)
{
	struct cached_frames *known = find(cache, place);

	if (!known) {
		int r = array_grow(cache->frames, cache->cap_frames, cache->nr_frames + 1,
				   MAX_ROWS);
		if (r == 0)
			r = htable_add(&cache->index, hash_u64(place), (uint32_t)cache->nr_frames);
		if (r < 0)
			return r;
		known = &cache->frames[cache->nr_frames++];
		*known = (struct cached_frames){ .place = place };
	}
	*ret_row = known;
	return 0;
}

static int add_lines(struct frame_cache *cache, const struct symbol_frames *frames,
		     enum demangle_style style)
{
	int r = 0;

	if (cache->strings.nr_strings == 0)
		r = intern_init(&cache->strings, MAX_ROWS, 0);
	for (size_t i = 0; i < frames->nr_lines && r == 0; i++)
		r = add_line(cache, &frames->lines[i], style);
	return r;
}

int frame_cache_add(struct frame_cache *cache, uint64_t place, enum frames_state state,
		    const struct symbol_frames *frames, enum demangle_style style)
{
	struct cached_frames *row;
	uint32_t first = (uint32_t)cache->nr_lines;

	int r = add_lines(cache, frames, style);
	if (r < 0)
		return r;
	r = take_row(cache, place, &row);
	if (r < 0)
		return r;
	*row = (struct cached_frames){
		.place = place,
		.address = frames->address,
		.first = frames->nr_lines > 0 ? first : distance_of(frames),
		.nr_lines = (uint8_t)frames->nr_lines,
		.language = (uint8_t)frames->language,
		.state = (uint8_t)state,
		.has_open_names = true,
	};
	return 0;
}

void frame_cache_settle(struct frame_cache *cache, uint64_t place)
{
	struct cached_frames *known = find(cache, place);

	if (known)
		known->state = FRAMES_FINAL;
}

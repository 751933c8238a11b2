/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/place_names.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/locked.h"
#include "symbol/frame/frame_cache.h"

#include <stdlib.h>

#define MAX_GIVEN_UP 3
#define RAW_NS (60 * NSEC_PER_SEC)

struct place_names {
	enum demangle_style style;
	struct frame_cache frames;
	uint64_t age;

	pthread_mutex_t lock;
	struct place_names_stats stats;
};

int place_names_new(enum demangle_style style, struct place_names **ret_names)
{
	struct place_names *names = calloc(1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	names->style = style;
	pthread_mutex_init(&names->lock, NULL);
	*ret_names = names;
	return 0;
}

void place_names_free(struct place_names *names)
{
	if (!names)
		return;
	frame_cache_done(&names->frames);
	pthread_mutex_destroy(&names->lock);
	free(names);
}

static uint64_t place_of(const struct name_table *table, uint64_t file_offset)
{
	return table->key * PLACE_NAMES_MAX_OFFSET + file_offset;
}

static bool is_left_raw(const struct name_table *table)
{
	return table->raw_until_ns != 0 && clock_mono_ns() < table->raw_until_ns;
}

static void leave(struct place_names *names, uint32_t name)
{
	frame_cache_set_name_state(&names->frames, name, NAME_LEFT);

	LOCKED(&names->lock);
	names->stats.nr_left++;
}

/* Returns false if the name is requested, and true if there is nothing to wait for. Without room or
 * memory, it is requested another time. */
static bool ask_for_name(struct place_names *names, struct name_table *table, uint32_t name)
{
	enum name_state state = frame_cache_name_state(&names->frames, name);

	if (state == NAME_ASKED)
		return false;
	if (is_left_raw(table)) {
		if (state == NAME_NEW)
			leave(names, name);
		return true;
	}
	if (array_grow(table->names, table->cap_names, table->nr_names + 1, NAME_TABLE_MAX_NAMES) <
	    0)
		return true;
	table->names[table->nr_names++] = name;
	frame_cache_set_name_state(&names->frames, name, NAME_ASKED);
	return false;
}

/* Requests the names of a place, unless they were. Returns 1 if all are as good as possible for
 * now, 0 if there is something to wait for. Errors: -ENOENT the place is not known. */
static int ask_for_names_of(struct place_names *names, struct name_table *table, uint64_t place)
{
	uint32_t open[SYMBOL_MAX_LINES];
	bool is_done = true;

	int nr = frame_cache_open_names(&names->frames, place, open);
	for (int i = 0; i < nr; i++)
		is_done &= ask_for_name(names, table, open[i]);
	return nr < 0 ? nr : is_done;
}

/* Adds the frames of an offset to the cache. Errors: as frame_cache_add(). */
static int remember(struct place_names *names, struct name_table *table, uint64_t file_offset,
		    enum frames_state state, const struct symbol_frames *frames)
{
	uint64_t place = place_of(table, file_offset);

	int r = frame_cache_add(&names->frames, place, state, frames, names->style);
	if (r == 0)
		r = ask_for_names_of(names, table, place);
	return r < 0 ? r : 0;
}

/* Adds the frames of an offset by symbol tables. Errors: as frame_cache_add(). */
static int resolve(struct place_names *names, struct name_table *table, uint64_t file_offset,
		   enum frames_state state)
{
	struct symbol_frames frames;
	struct symbol_line line;

	int r = name_table_find(table, file_offset, &line, &frames);
	if (r < 0 && r != -ENOENT)
		return r;
	return remember(names, table, file_offset, state, &frames);
}

static int remember_lines(struct place_names *names, struct name_table *table, uint64_t file_offset,
			  const struct symbol_frames *known)
{
	struct symbol_line line_by_symbol;
	struct symbol_frames frames;

	int r = name_table_find(table, file_offset, &line_by_symbol, &frames);
	(void)r; /* code without a symbol */
	frames.lines = known->lines;
	frames.nr_lines = known->nr_lines;
	if (known->language != LANGUAGE_UNKNOWN)
		frames.language = known->language;
	return remember(names, table, file_offset, FRAMES_FINAL, &frames);
}

bool place_names_resolve_lines(struct place_names *names, struct name_table *table,
			       uint64_t file_offset, uint64_t address)
{
	struct symbol_line lines[SYMBOL_MAX_LINES];
	struct symbol_frames known = { .lines = lines };

	int r = lines_table_find(&table->lines, address, lines, &known.language);
	if (r < 0)
		return false;
	known.nr_lines = (size_t)r;
	r = r > 0 ? remember_lines(names, table, file_offset, &known)
		  : resolve(names, table, file_offset, FRAMES_FINAL);
	if (r < 0)
		frame_cache_settle(&names->frames, place_of(table, file_offset));
	return true;
}

void place_names_settle(struct place_names *names, struct name_table *table, uint64_t file_offset)
{
	if (resolve(names, table, file_offset, FRAMES_FINAL) < 0)
		frame_cache_settle(&names->frames, place_of(table, file_offset));
}

/* Returns whether the table has the lines already. */
static bool are_lines_known(struct place_names *names, struct name_table *table,
			    uint64_t file_offset)
{
	uint64_t address;

	return table->lines_state == LINES_READY &&
	       elf_symbols_address_of(table->symbols, file_offset, &address) == 0 &&
	       place_names_resolve_lines(names, table, file_offset, address);
}

/* Requests the lines of an offset once. Until they arrive, the name comes from the symbol tables.
 * Returns whether there is nothing to wait for. */
static bool ask_for_lines(struct place_names *names, struct name_table *table, uint64_t file_offset)
{
	enum frames_state state = FRAMES_PROVISIONAL;
	struct symbol_frames frames;

	if (table->lines_fd < 0 && table->lines.nr_bytes == 0)
		return true;
	table->asked_ns = clock_mono_ns();
	frame_cache_find(&names->frames, place_of(table, file_offset), &state, &frames);
	if (state != FRAMES_PROVISIONAL)
		return state == FRAMES_FINAL || table->lines_fd < 0;
	if (are_lines_known(names, table, file_offset) || table->lines_fd < 0)
		return true;
	if (name_table_want_lines(table, file_offset) < 0)
		return true;
	return resolve(names, table, file_offset, FRAMES_ASKED) < 0;
}

/* Requests the names of symbols, even if lines were requested, as these may arrive too late.
 * Returns whether there is nothing to wait for. */
static bool ask_for_names(struct place_names *names, struct name_table *table, uint64_t file_offset)
{
	uint64_t place = place_of(table, file_offset);

	int r = ask_for_names_of(names, table, place);
	if (r != -ENOENT)
		return r != 0;
	r = resolve(names, table, file_offset, FRAMES_PROVISIONAL);
	return r < 0 || ask_for_names_of(names, table, place) != 0;
}

bool place_names_ask(struct place_names *names, struct name_table *table, uint64_t file_offset)
{
	bool has_lines = ask_for_lines(names, table, file_offset);

	return ask_for_names(names, table, file_offset) && has_lines;
}

int place_names_get(struct place_names *names, struct name_table *table, uint64_t file_offset,
		    struct symbol_frames *ret_frames)
{
	uint64_t place = place_of(table, file_offset);
	enum frames_state state;

	if (!frame_cache_find(&names->frames, place, &state, ret_frames)) {
		int r = resolve(names, table, file_offset, FRAMES_PROVISIONAL);
		if (r < 0)
			return r;
		frame_cache_find(&names->frames, place, &state, ret_frames);
	}
	return ret_frames->nr_lines > 0 ? 0 : -ENOENT;
}

enum demangle_style place_names_style(const struct place_names *names)
{
	return names->style;
}

const char *place_names_raw(const struct place_names *names, uint32_t name)
{
	return frame_cache_raw_name(&names->frames, name);
}

void place_names_set(struct place_names *names, uint32_t name, const char *pretty)
{
	if (frame_cache_name(&names->frames, name, pretty) < 0)
		leave(names, name);
}

void place_names_give_up(struct place_names *names, struct name_table *table)
{
	{
		LOCKED(&names->lock);
		names->stats.nr_given_up++;
	}
	if (++table->nr_given_up >= MAX_GIVEN_UP)
		place_names_leave_all(names, table);
}

void place_names_leave_all(struct place_names *names, struct name_table *table)
{
	for (size_t i = 0; i < table->nr_names; i++)
		leave(names, table->names[i]);
	table->nr_names = 0;
	table->nr_given_up = 0;
	table->raw_until_ns = clock_mono_ns() + RAW_NS;
}

void place_names_drop(struct place_names *names, struct name_table *table)
{
	for (size_t i = 0; i < table->nr_names; i++)
		frame_cache_set_name_state(&names->frames, table->names[i], NAME_NEW);
	table->nr_names = 0;
}

void place_names_forget_all(struct place_names *names)
{
	frame_cache_done(&names->frames);
	names->age++;
}

uint64_t place_names_age(const struct place_names *names)
{
	return names->age;
}

size_t place_names_bytes(const struct place_names *names)
{
	return frame_cache_bytes(&names->frames);
}

struct place_names_stats place_names_get_stats(struct place_names *names)
{
	LOCKED(&names->lock);

	return names->stats;
}

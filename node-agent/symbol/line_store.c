/* SPDX-License-Identifier: Apache-2.0 */
/* The source lines that tables have: which file they come from, what is known of them, and what is on disk.
 *
 * A unit is made once. What is made is written to disk a little later, as units of a program that is new come one after the
 * other, and when it is dropped from memory. */
#include "symbol/elf_cache_parts.h"

#include "base/clock.h"
#include "base/log.h"
#include "symbol/dwarf/lines_unit.h"
#include "unwind/file/row_cache.h"

#include <limits.h>
#include <string.h>

#define CACHE_MAX_BYTES (UINT64_C(128) << 20)
#define MESSAGE_MAX_BYTES 8192
#define SAVE_AFTER_NS (5 * NSEC_PER_SEC)
#define TABLE_SHARE 8 /* of the budget, that the lines of one file may have */

static const struct row_cache_kind line_tables = {
	.suffix = ".lines",
	.magic = UINT64_C(0x534e494c4c454c46), /* "FLELLINS" */
	.version = 1,
	.is_valid = lines_table_is_valid,
};

void elf_lines_open(struct elf_cache *cache)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf dir = strbuf_with_max(PATH_MAX);

	if (!cache->opts.cache_dir || !cache->opts.wants_lines)
		return;
	strbuf_appendf(&dir, "%s/lines", cache->opts.cache_dir);
	if (row_cache_open(strbuf_str(&dir), &line_tables, CACHE_MAX_BYTES, &message,
			   &cache->lines_cache) < 0)
		log_warn("--unwind-cache: %s; continuing without it, source lines are read anew "
			 "after each start",
			 strbuf_str(&message));
	else
		cache->seed = row_cache_get_seed(cache->lines_cache);
}

static struct elf_rows_key key_of(const struct elf_fingerprint *print)
{
	struct elf_rows_key key = { .hash = { print->hash[0], print->hash[1] } };

	memcpy(key.build_id, print->build_id, sizeof(key.build_id) - 1);
	return key;
}

static bool is_equal(const struct elf_rows_key *a, const struct elf_rows_key *b)
{
	return strcmp(a->build_id, b->build_id) == 0 && a->hash[0] == b->hash[0] &&
	       a->hash[1] == b->hash[1];
}

void elf_lines_ask_key(struct name_table *table)
{
	table->lines_state = LINES_NEW;
}

void elf_lines_set_key(struct elf_cache *cache, struct name_table *table,
		       const struct elf_fingerprint *print)
{
	struct elf_rows_key key = { 0 };

	if (print)
		key = key_of(print);
	if (!print || !table->has_lines_key || !is_equal(&key, &table->lines_key)) {
		elf_lines_save(cache, table);
		name_table_drop_lines(table);
	}
	table->has_lines_key = print != NULL;
	table->lines_key = key;
	table->lines_state = table->lines.nr_bytes > 0 ? LINES_READY : LINES_KEYED;
}

static void count_lines_cache(struct elf_cache *cache)
{
	LOCKED(cache);
	cache->stats.lines_cache = row_cache_get_stats(cache->lines_cache);
}

static int read_table(struct elf_cache *cache, struct name_table *table)
{
	_cleanup_(row_table_bytes_done) struct row_table_bytes bytes = { 0 };
	struct lines_added added;

	int r = row_cache_get(cache->lines_cache, &table->lines_key, &bytes);
	count_lines_cache(cache);
	if (r < 0)
		return r;
	if (bytes.len > elf_lines_room(cache, table))
		return -ENOSPC;
	return lines_table_add(&table->lines, bytes.data, bytes.len, &added);
}

void elf_lines_load(struct elf_cache *cache, struct name_table *table)
{
	if (table->lines_state != LINES_KEYED)
		return;
	table->lines_state = LINES_READY;
	if (!cache->lines_cache || !table->has_lines_key)
		return;

	/* What is not there is made. */
	int r = read_table(cache, table);
	(void)r;
}

void elf_lines_save(struct elf_cache *cache, struct name_table *table)
{
	const struct row_table_bytes bytes = {
		.data = (uint8_t *)table->lines.bytes,
		.len = table->lines.nr_bytes,
	};

	if (table->unsaved_since_ns == 0)
		return;
	table->unsaved_since_ns = 0;
	if (!cache->lines_cache || !table->has_lines_key)
		return;
	row_cache_put(cache->lines_cache, &table->lines_key, &bytes);
	count_lines_cache(cache);
}

void elf_lines_save_settled(struct elf_cache *cache)
{
	uint64_t now_ns = clock_mono_ns();

	for (struct name_table *table = cache->tables; table; table = table->next)
		if (table->unsaved_since_ns != 0 &&
		    now_ns - table->unsaved_since_ns >= SAVE_AFTER_NS)
			elf_lines_save(cache, table);
}

int elf_lines_add(struct elf_cache *cache, struct name_table *table, const void *bytes, size_t len)
{
	struct lines_added added;

	int r = lines_table_add(&table->lines, bytes, len, &added);
	if (r < 0)
		return r;
	if (table->unsaved_since_ns == 0 && len > 0)
		table->unsaved_since_ns = clock_mono_ns();
	elf_cache_count(cache, &cache->stats.nr_line_units, added.nr_units);
	elf_cache_count(cache, &cache->stats.nr_line_units_left_out, added.nr_left_out);
	return 0;
}

size_t elf_lines_room(const struct elf_cache *cache, const struct name_table *table)
{
	size_t max_bytes = cache->opts.max_bytes / TABLE_SHARE;

	return table->lines.nr_bytes < max_bytes ? max_bytes - table->lines.nr_bytes : 0;
}

static int remember_lines(struct elf_cache *cache, struct name_table *table, uint64_t file_offset,
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
	return elf_cache_remember(cache, table, file_offset, FRAMES_FINAL, &frames);
}

/* Where the debug information knows nothing, the symbol tables have the last word. */
bool elf_lines_resolve(struct elf_cache *cache, struct name_table *table, uint64_t file_offset,
		       uint64_t address)
{
	struct symbol_line lines[SYMBOL_MAX_LINES];
	struct symbol_frames known = { .lines = lines };

	int r = lines_table_find(&table->lines, address, lines, &known.language);
	if (r < 0)
		return false;
	known.nr_lines = (size_t)r;
	r = r > 0 ? remember_lines(cache, table, file_offset, &known)
		  : elf_cache_resolve(cache, table, file_offset, FRAMES_FINAL);
	if (r < 0)
		frame_cache_settle(&cache->frames, elf_cache_place(table, file_offset));
	return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of an ELF cache, and the budget they are kept to. */
#include "symbol/elf_cache_parts.h"

#include "base/clock.h"

#include <stdlib.h>

#define LINES_SHARE 4 /* of the budget, that lines may have; they are the first to go */

struct name_table *name_store_find_copy(struct elf_cache *cache,
					const struct elf_fingerprint *print)
{
	for (struct name_table *table = cache->tables; table; table = table->next)
		if (table->has_print && table->has_names &&
		    elf_fingerprint_is_equal(&table->print, print))
			return table;
	return NULL;
}

/* They take turns, so that none that always wants more keeps the worker from the others; the one that was used last
 * comes first, as its window is waited for. */
static bool is_before(const struct name_table *a, const struct name_table *b)
{
	return a->last_served != b->last_served ? a->last_served < b->last_served
						: a->last_use > b->last_use;
}

static bool wants(const struct name_table *table, enum elf_job_kind kind)
{
	return (kind == JOB_NAMES ? table->nr_names : table->nr_wanted) > 0;
}

static enum worker_lane lane_of(const struct elf_cache *cache, const struct name_table *table,
				enum elf_job_kind kind)
{
	if (table->is_slow || (kind == JOB_LINES && table->has_large_lines))
		return WORKER_LANE_SLOW;
	return file_owners_lane(&table->owners, cache->lanes, clock_mono_ns());
}

struct name_table *name_store_find_wanting(struct elf_cache *cache, enum worker_lane lane,
					   enum elf_job_kind kind)
{
	struct name_table *best = NULL;
	LOCKED(cache);

	for (struct name_table *table = cache->tables; table; table = table->next)
		if (wants(table, kind) && (!best || is_before(table, best)) &&
		    lane_of(cache, table, kind) == lane && !elf_loader_uses(cache, table))
			best = table;
	return best;
}

/* All tables get new keys, and what is remembered by the old ones is forgotten. */
static void start_over(struct elf_cache *cache)
{
	elf_names_forget_all(cache);
	cache->last_key = 0;
	cache->nr_wraps++;
	for (struct name_table *table = cache->tables; table; table = table->next)
		table->key = ++cache->last_key;
}

void name_store_renew_key(struct elf_cache *cache, struct name_table *table)
{
	if (cache->last_key == NAME_STORE_MAX_KEY)
		start_over(cache);
	table->key = ++cache->last_key;
}

uint64_t name_store_full_key(const struct elf_cache *cache, const struct name_table *table)
{
	return cache->nr_wraps * (NAME_STORE_MAX_KEY + 1) + table->key;
}

int name_store_add(struct elf_cache *cache, struct elf_symbols *symbols,
		   const struct elf_fingerprint *print, struct name_table **ret_table)
{
	struct name_table *table;

	int r = name_table_new(symbols, print, 0, &table);
	if (r < 0)
		return r;
	name_store_renew_key(cache, table);
	table->next = cache->tables;
	cache->tables = table;
	*ret_table = table;
	return 0;
}

static bool has_files(const struct name_table *table)
{
	return table->lines_fd >= 0;
}

static bool has_lines(const struct name_table *table)
{
	return table->lines.nr_bytes > 0;
}

/* What a sweep over all tables finds. */
struct totals {
	uint64_t nr_bytes;
	uint64_t nr_tables;
	uint64_t nr_line_bytes; /* among nr_bytes */
	uint64_t nr_line_tables;
	size_t nr_with_files;
	size_t nr_names; /* to be demangled */
};

static struct totals sweep(struct elf_cache *cache)
{
	struct totals totals = { .nr_bytes = frame_cache_bytes(&cache->frames) };
	LOCKED(cache);

	for (struct name_table **link = &cache->tables; *link;) {
		struct name_table *table = *link;

		if (table->nr_refs == 0 && !elf_loader_uses(cache, table)) {
			*link = table->next;
			elf_names_drop(cache, table);
			name_table_free(table);
			continue;
		}
		totals.nr_bytes += name_table_bytes(table);
		totals.nr_tables += table->has_names;
		totals.nr_line_bytes += lines_table_bytes(&table->lines);
		totals.nr_line_tables += has_lines(table);
		totals.nr_with_files += has_files(table);
		totals.nr_names += table->nr_names;
		link = &table->next;
	}
	return totals;
}

static bool may_drop_names(const struct name_table *table)
{
	return table->has_names && !table->is_kept;
}

static struct name_table *find_least_used(struct elf_cache *cache, const struct name_table *except,
					  bool (*has)(const struct name_table *table))
{
	struct name_table *least = NULL;

	for (struct name_table *table = cache->tables; table; table = table->next)
		if (table != except && has(table) &&
		    (!least || table->last_use < least->last_use) && !elf_loader_uses(cache, table))
			least = table;
	return least;
}

/* Whether so much is more than we may have. Else the pool knows of it. */
static bool is_too_much(struct elf_cache *cache, uint64_t nr_bytes)
{
	if (nr_bytes > cache->opts.max_bytes)
		return true;
	if (nr_bytes > cache->nr_pooled_bytes &&
	    memory_pool_take(cache->opts.pool, nr_bytes - cache->nr_pooled_bytes) < 0)
		return true;
	if (nr_bytes < cache->nr_pooled_bytes)
		memory_pool_give(cache->opts.pool, cache->nr_pooled_bytes - nr_bytes);
	cache->nr_pooled_bytes = nr_bytes;
	return false;
}

static void drop_names(struct elf_cache *cache, const struct name_table *in_use,
		       struct totals *totals)
{
	while (is_too_much(cache, totals->nr_bytes)) {
		struct name_table *table = find_least_used(cache, in_use, may_drop_names);

		if (!table)
			return;

		LOCKED(cache);
		size_t before = name_table_bytes(table);
		name_table_drop_names(table, clock_mono_ns());
		totals->nr_bytes -= before - name_table_bytes(table);
		totals->nr_tables--;
		cache->stats.nr_evicted++;
	}
}

/* They are on disk, or can be made again. */
static void drop_lines(struct elf_cache *cache, const struct name_table *in_use,
		       struct totals *totals)
{
	size_t max_bytes = cache->opts.max_bytes;

	while (totals->nr_bytes > max_bytes || totals->nr_line_bytes > max_bytes / LINES_SHARE) {
		struct name_table *table = find_least_used(cache, in_use, has_lines);

		if (!table)
			return;
		uint64_t nr_bytes = lines_table_bytes(&table->lines);
		elf_lines_save(cache, table);
		name_table_drop_lines(table);
		totals->nr_bytes -= nr_bytes;
		totals->nr_line_bytes -= nr_bytes;
		totals->nr_line_tables--;
		elf_cache_count(cache, &cache->stats.nr_line_tables_dropped, 1);
	}
}

static void close_files_of(struct elf_cache *cache, struct name_table *table, uint64_t dropped_ns,
			   struct totals *totals)
{
	LOCKED(cache);

	name_table_close_files(table);
	table->wants_files = true;
	table->dropped_ns = dropped_ns;
	totals->nr_with_files--;
}

/* They may be opened again as soon as somebody needs them. */
static void close_idle_files(struct elf_cache *cache, const struct name_table *in_use,
			     struct totals *totals)
{
	uint64_t now_ns = clock_mono_ns();

	for (struct name_table *table = cache->tables; table; table = table->next)
		if (has_files(table) && table != in_use &&
		    now_ns - table->asked_ns >= ELF_CACHE_IDLE_NS && !elf_loader_uses(cache, table))
			close_files_of(cache, table, table->asked_ns, totals);
}

static void close_files(struct elf_cache *cache, const struct name_table *in_use,
			struct totals *totals)
{
	while (totals->nr_with_files > ELF_CACHE_MAX_DEBUG_FILES) {
		struct name_table *table = find_least_used(cache, in_use, has_files);

		if (!table)
			return;
		close_files_of(cache, table, clock_mono_ns(), totals);
	}
}

/* Frames may have a quarter of the budget, but as long as somebody waits for their names they have half of it: else names would be
 * asked for, forgotten and asked for again. */
static bool are_frames_too_many(const struct elf_cache *cache, const struct name_table *in_use,
				const struct totals *totals)
{
	bool are_awaited = in_use || totals->nr_names > 0;

	return frame_cache_bytes(&cache->frames) > cache->opts.max_bytes / (are_awaited ? 2 : 4);
}

void name_store_tidy(struct elf_cache *cache, const struct name_table *in_use)
{
	struct totals totals = sweep(cache);

	if (are_frames_too_many(cache, in_use, &totals)) {
		totals.nr_bytes -= frame_cache_bytes(&cache->frames);
		elf_names_forget_all(cache);
	}
	drop_lines(cache, in_use, &totals);
	drop_names(cache, in_use, &totals);
	close_idle_files(cache, in_use, &totals);
	close_files(cache, in_use, &totals);

	LOCKED(cache);
	cache->stats.nr_bytes = totals.nr_bytes;
	cache->stats.nr_tables = totals.nr_tables;
	cache->stats.nr_line_bytes = totals.nr_line_bytes;
	cache->stats.nr_line_tables = totals.nr_line_tables;
}

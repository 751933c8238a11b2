/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/name_store.h"

#include "base/clock.h"
#include "base/locked.h"

#include <stdlib.h>

#define LINES_SHARE 4 /* lines may have 1/4 of the budget; they are dropped first */
#define TABLE_LINES_SHARE 8 /* the lines of one file may have 1/8 of it */

struct name_store {
	struct file_registry *registry; /* borrowed */
	struct memory_pool *pool; /* borrowed; or NULL */
	size_t max_bytes;
	struct line_store *lines; /* owned */
	struct place_names *places; /* owned */
	struct name_table *first; /* owned list */
	uint64_t last_key;
	uint64_t nr_wraps; /* times that keys have started over */
	uint64_t nr_pooled_bytes; /* taken from the pool, for tables and frames */

	pthread_mutex_t lock;
	struct name_store_stats stats;
};

void name_store_free(struct name_store *store)
{
	if (!store)
		return;
	for (struct name_table *table = store->first; table;) {
		struct name_table *next = table->next;

		line_store_save(store->lines, table);
		name_table_free(table);
		table = next;
	}
	memory_pool_give(store->pool, store->nr_pooled_bytes);
	place_names_free(store->places);
	line_store_free(store->lines);
	pthread_mutex_destroy(&store->lock);
	free(store);
}

int name_store_new(const struct elf_cache_opts *opts, struct file_registry *registry,
		   struct name_store **ret_store)
{
	_cleanup_(name_store_freep) struct name_store *store = calloc(1, sizeof(*store));

	if (!store)
		return -ENOMEM;
	store->registry = registry;
	store->pool = opts->pool;
	store->max_bytes = opts->max_bytes;
	pthread_mutex_init(&store->lock, NULL);
	int r = place_names_new(opts->demangle, &store->places);
	if (r == 0)
		r = line_store_new(opts->wants_lines ? opts->cache_dir : NULL,
				   opts->max_bytes / TABLE_LINES_SHARE, &store->lines);
	if (r < 0)
		return r;
	*ret_store = take_ptr(store);
	return 0;
}

struct line_store *name_store_lines(struct name_store *store)
{
	return store->lines;
}

struct place_names *name_store_places(struct name_store *store)
{
	return store->places;
}

struct name_table *name_store_first(const struct name_store *store)
{
	return store->first;
}

struct name_table *name_store_find_copy(struct name_store *store,
					const struct elf_fingerprint *print)
{
	for (struct name_table *table = store->first; table; table = table->next)
		if (table->has_print && table->has_names &&
		    elf_fingerprint_is_equal(&table->print, print))
			return table;
	return NULL;
}

/* Tables take turns, so that one that always wants more does not block the others. Among equals,
 * the most recently used one comes first, as its window is waiting. */
static bool is_before(const struct name_table *a, const struct name_table *b)
{
	return a->last_served != b->last_served ? a->last_served < b->last_served
						: a->content.last_use > b->content.last_use;
}

static bool is_wanting(const struct name_table *table, enum table_want want)
{
	return (want == WANTS_NAMES ? table->nr_names : table->nr_wanted) > 0;
}

static enum worker_lane lane_of(const struct name_store *store, const struct worker_lanes *lanes,
				const struct name_table *table, enum table_want want)
{
	if (table->is_slow || (want == WANTS_LINES && table->has_large_lines))
		return WORKER_LANE_SLOW;
	const struct file_owners owners = file_registry_owners(store->registry, &table->content);

	return file_owners_lane(&owners, lanes, clock_mono_ns());
}

struct name_table *name_store_find_wanting(struct name_store *store,
					   const struct worker_lanes *lanes, enum worker_lane lane,
					   enum table_want want)
{
	struct name_table *best = NULL;

	for (struct name_table *table = store->first; table; table = table->next)
		if (is_wanting(table, want) && (!best || is_before(table, best)) &&
		    lane_of(store, lanes, table, want) == lane && table->nr_jobs == 0)
			best = table;
	return best;
}

/* Forgets all looked-up names. Answers to earlier requests are ignored then (place_names_age()). */
static void forget_places(struct name_store *store)
{
	place_names_forget_all(store->places);
	for (struct name_table *table = store->first; table; table = table->next)
		table->nr_names = 0;
}

/* Gives all tables new keys, and forgets the names that were stored under the old ones. */
static void start_over(struct name_store *store)
{
	forget_places(store);
	store->last_key = 0;
	store->nr_wraps++;
	for (struct name_table *table = store->first; table; table = table->next)
		table->key = ++store->last_key;
}

void name_store_renew_key(struct name_store *store, struct name_table *table)
{
	if (store->last_key == NAME_STORE_MAX_KEY)
		start_over(store);
	table->key = ++store->last_key;
}

uint64_t name_store_full_key(const struct name_store *store, const struct name_table *table)
{
	return store->nr_wraps * (NAME_STORE_MAX_KEY + 1) + table->key;
}

int name_store_add(struct name_store *store, struct elf_symbols *symbols,
		   const struct elf_fingerprint *print, struct name_table **ret_table)
{
	struct name_table *table;

	int r = name_table_new(symbols, print, &table);
	if (r < 0)
		return r;
	name_store_renew_key(store, table);
	table->next = store->first;
	store->first = table;
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

/* Results of a sweep over all tables. */
struct totals {
	uint64_t nr_bytes;
	uint64_t nr_tables;
	uint64_t nr_line_bytes; /* part of nr_bytes */
	uint64_t nr_line_tables;
	size_t nr_with_files;
	size_t nr_names; /* to be demangled */
};

static struct totals sweep(struct name_store *store)
{
	struct totals totals = { .nr_bytes = place_names_bytes(store->places) };

	for (struct name_table **link = &store->first; *link;) {
		struct name_table *table = *link;

		if (table->nr_jobs == 0 &&
		    !file_registry_has_files(store->registry, &table->content)) {
			*link = table->next;
			place_names_drop(store->places, table);
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

static struct name_table *find_least_used(struct name_store *store, const struct name_table *except,
					  bool (*has)(const struct name_table *table))
{
	struct name_table *least = NULL;

	for (struct name_table *table = store->first; table; table = table->next)
		if (table != except && has(table) &&
		    (!least || table->content.last_use < least->content.last_use) &&
		    table->nr_jobs == 0)
			least = table;
	return least;
}

/* Returns whether a size is over the budget. If not, takes it from the pool. */
static bool is_too_much(struct name_store *store, uint64_t nr_bytes)
{
	if (nr_bytes > store->max_bytes)
		return true;
	if (nr_bytes > store->nr_pooled_bytes &&
	    memory_pool_take(store->pool, nr_bytes - store->nr_pooled_bytes) < 0)
		return true;
	if (nr_bytes < store->nr_pooled_bytes)
		memory_pool_give(store->pool, store->nr_pooled_bytes - nr_bytes);
	store->nr_pooled_bytes = nr_bytes;
	return false;
}

static void drop_names(struct name_store *store, const struct name_table *in_use,
		       struct totals *totals)
{
	while (is_too_much(store, totals->nr_bytes)) {
		struct name_table *table = find_least_used(store, in_use, may_drop_names);

		if (!table)
			return;

		size_t before = name_table_bytes(table);
		name_table_drop_names(table);
		file_registry_drop(store->registry, &table->content, clock_mono_ns());
		totals->nr_bytes -= before - name_table_bytes(table);
		totals->nr_tables--;

		LOCKED(&store->lock);
		store->stats.nr_evicted++;
	}
}

/* Drops lines, which are on disk or can be made again. */
static void drop_lines(struct name_store *store, const struct name_table *in_use,
		       struct totals *totals)
{
	size_t max_bytes = store->max_bytes;

	while (totals->nr_bytes > max_bytes || totals->nr_line_bytes > max_bytes / LINES_SHARE) {
		struct name_table *table = find_least_used(store, in_use, has_lines);

		if (!table)
			return;
		uint64_t nr_bytes = lines_table_bytes(&table->lines);
		line_store_save(store->lines, table);
		name_table_drop_lines(table);
		totals->nr_bytes -= nr_bytes;
		totals->nr_line_bytes -= nr_bytes;
		totals->nr_line_tables--;

		LOCKED(&store->lock);
		store->stats.nr_line_tables_dropped++;
	}
}

static void close_files_of(struct name_store *store, struct name_table *table, uint64_t dropped_ns,
			   struct totals *totals)
{
	name_table_close_files(table);
	file_registry_drop(store->registry, &table->content, dropped_ns);
	totals->nr_with_files--;
}

/* Closes idle files. They may be opened again as soon as they are needed. */
static void close_idle_files(struct name_store *store, const struct name_table *in_use,
			     struct totals *totals)
{
	uint64_t now_ns = clock_mono_ns();

	for (struct name_table *table = store->first; table; table = table->next)
		if (has_files(table) && table != in_use &&
		    now_ns - table->asked_ns >= NAME_STORE_IDLE_NS && table->nr_jobs == 0)
			close_files_of(store, table, table->asked_ns, totals);
}

static void close_files(struct name_store *store, const struct name_table *in_use,
			struct totals *totals)
{
	while (totals->nr_with_files > NAME_STORE_MAX_DEBUG_FILES) {
		struct name_table *table = find_least_used(store, in_use, has_files);

		if (!table)
			return;
		close_files_of(store, table, clock_mono_ns(), totals);
	}
}

/* Frames may take a quarter of the budget. While their names are awaited, they may take half of it,
 * so that names are not requested, forgotten and requested again. */
static bool are_frames_too_many(const struct name_store *store, const struct name_table *in_use,
				const struct totals *totals)
{
	bool are_awaited = in_use || totals->nr_names > 0;

	return place_names_bytes(store->places) > store->max_bytes / (are_awaited ? 2 : 4);
}

void name_store_tidy(struct name_store *store, const struct name_table *in_use)
{
	struct totals totals = sweep(store);

	if (are_frames_too_many(store, in_use, &totals)) {
		totals.nr_bytes -= place_names_bytes(store->places);
		forget_places(store);
	}
	drop_lines(store, in_use, &totals);
	drop_names(store, in_use, &totals);
	close_idle_files(store, in_use, &totals);
	close_files(store, in_use, &totals);

	LOCKED(&store->lock);
	store->stats.nr_bytes = totals.nr_bytes;
	store->stats.nr_tables = totals.nr_tables;
	store->stats.nr_line_bytes = totals.nr_line_bytes;
	store->stats.nr_line_tables = totals.nr_line_tables;
}

void name_store_save_settled(struct name_store *store)
{
	for (struct name_table *table = store->first; table; table = table->next)
		line_store_save_settled(store->lines, table);
}

struct name_store_stats name_store_get_stats(struct name_store *store)
{
	LOCKED(&store->lock);

	return store->stats;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/unwind_tables.h"

#include "base/log.h"
#include "base/random.h"

#include <stdlib.h>

/* The share of the arena for tables. The rest is for mapping tables and for freed units. */
#define TABLES_SHARE(bytes) ((bytes) / 8 * 7)
#define CACHE_MAX_BYTES (UINT64_C(256) << 20)
#define MESSAGE_MAX_BYTES 8192

static void open_cache(struct unwind_tables *tables, const char *dir)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);

	if (dir && row_cache_open(dir, &row_cache_unwind_tables, CACHE_MAX_BYTES, &message,
				  &tables->cache) < 0)
		log_warn("--unwind-cache: %s; not used: unwind tables will be built at each start",
			 strbuf_str(&message));
}

/* Returns the seed of the cache, which is the same at each start, or a random one. Without
 * random numbers it is 0: then there is no cache that an attacker could aim at. */
static uint64_t choose_seed(const struct unwind_tables *tables)
{
	uint64_t seed = 0;

	if (tables->cache)
		return row_cache_get_seed(tables->cache);
	(void)!random_bytes(&seed, sizeof(seed));
	return seed;
}

int unwind_tables_start(const struct unwind_tables_opts *opts, struct unwind_tables **ret_tables)
{
	_cleanup_(unwind_tables_stopp) struct unwind_tables *tables = calloc(1, sizeof(*tables));
	size_t max_bytes = TABLES_SHARE(opts->max_bytes);

	if (!tables)
		return -ENOMEM;
	open_cache(tables, opts->cache_dir);

	int r = unwind_arena_new(opts->memory, opts->max_bytes, &tables->arena);
	if (r < 0)
		return r;
	r = mapping_tables_new(opts->memory, tables->arena, &tables->mapping_tables);
	if (r < 0)
		return r;
	r = runtime_layouts_new(opts->memory, tables->arena, &tables->layouts);
	if (r < 0)
		return r;
	const struct table_slots_opts slots_opts = {
		.memory = opts->memory,
		.arena = tables->arena,
		.max_bytes = max_bytes,
	};
	r = table_slots_new(&slots_opts, &tables->slots);
	if (r < 0)
		return r;
	const struct table_thread_opts thread_opts = {
		.slots = tables->slots,
		.cache = tables->cache,
		.capabilities = opts->memory->capabilities,
		.client.debug_dir = opts->debug_dir,
		.client.max_table_bytes = max_bytes < TABLE_MAX_BYTES ? max_bytes : TABLE_MAX_BYTES,
		.client.hash_seed = choose_seed(tables),
		.client.pool = opts->memory->pool,
	};
	r = table_thread_start(&thread_opts, &tables->thread);
	if (r == 0)
		*ret_tables = take_ptr(tables);
	return r;
}

void unwind_tables_stop(struct unwind_tables *tables)
{
	if (!tables)
		return;
	table_thread_stop(tables->thread);
	table_slots_free(tables->slots);
	mapping_tables_free(tables->mapping_tables);
	runtime_layouts_free(tables->layouts);
	unwind_arena_close(tables->arena);
	row_cache_close(tables->cache);
	free(tables);
}

struct unwind_tables_stats unwind_tables_get_stats(const struct unwind_tables *tables)
{
	struct unwind_tables_stats stats = {
		.arena = unwind_arena_get_stats(tables->arena),
		.slots = table_slots_get_stats(tables->slots),
		.mapping_tables = mapping_tables_get_stats(tables->mapping_tables),
	};

	if (tables->cache)
		stats.cache = row_cache_get_stats(tables->cache);
	return stats;
}

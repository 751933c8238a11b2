/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/unwind_tables.h"

#include "base/log.h"
#include "base/random.h"

#include <stdlib.h>

/* Of the arena, for tables; the rest is for code lists and for what waits to be used again. */
#define TABLES_SHARE(bytes) ((bytes) / 8 * 7)
#define CACHE_MAX_BYTES (UINT64_C(256) << 20)
#define MESSAGE_MAX_BYTES 8192

static void open_cache(struct unwinder *unwinder, const char *dir)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);

	if (dir && row_cache_open(dir, &row_cache_unwind_tables, CACHE_MAX_BYTES, &message,
				  &unwinder->cache) < 0)
		log_warn("--unwind-cache: %s; continuing without it, unwind tables are built anew "
			 "at each start",
			 strbuf_str(&message));
}

/* That of the cache is the same at each start. Without one, or random numbers, there is less to protect. */
static uint64_t choose_seed(const struct unwinder *unwinder)
{
	uint64_t seed = 0;

	if (unwinder->cache)
		return row_cache_get_seed(unwinder->cache);
	int r = random_bytes(&seed, sizeof(seed));
	(void)r;
	return seed;
}

int unwinder_start(const struct unwinder_opts *opts, struct unwinder **ret_unwinder)
{
	_cleanup_(unwinder_stopp) struct unwinder *unwinder = calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return -ENOMEM;
	open_cache(unwinder, opts->cache_dir);

	int r = unwind_arena_new(opts->memory, opts->max_bytes, &unwinder->arena);
	if (r < 0)
		return r;
	r = code_lists_new(opts->memory, unwinder->arena, &unwinder->lists);
	if (r < 0)
		return r;
	const struct table_slots_opts slots_opts = {
		.memory = opts->memory,
		.arena = unwinder->arena,
		.cache = unwinder->cache,
		.debug_dir = opts->debug_dir,
		.hash_seed = choose_seed(unwinder),
		.max_bytes = TABLES_SHARE(opts->max_bytes),
		.pool = opts->memory->pool,
	};
	r = table_slots_start(&slots_opts, &unwinder->slots);
	if (r == 0)
		*ret_unwinder = take_ptr(unwinder);
	return r;
}

void unwinder_stop(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	table_slots_stop(unwinder->slots);
	code_lists_free(unwinder->lists);
	unwind_arena_close(unwinder->arena);
	row_cache_close(unwinder->cache);
	free(unwinder);
}

struct unwinder_stats unwinder_get_stats(const struct unwinder *unwinder)
{
	struct unwinder_stats stats = {
		.arena = unwind_arena_get_stats(unwinder->arena),
		.slots = table_slots_get_stats(unwinder->slots),
		.lists = code_lists_get_stats(unwinder->lists),
	};

	if (unwinder->cache)
		stats.cache = row_cache_get_stats(unwinder->cache);
	return stats;
}

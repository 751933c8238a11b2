/* SPDX-License-Identifier: Apache-2.0 */
/* Debug files from debuginfod, for the tables that want them. They are asked for by build id, as a table can be gone
 * by the time its file is there, while another one that was made of the same program wants it; then that one gets it.
 * Who gets nothing is asked for again, a few times: servers may have been out of reach, or another table was first. */
#include "symbol/elf_cache_parts.h"

#include "base/clock.h"

#include <string.h>

#define MAX_ASKS 3
#define ASK_AGAIN_NS (60 * NSEC_PER_SEC)

/* Names wait so long for a file that debuginfod was asked for: it may be one that was downloaded before. */
#define AWAIT_NS (500 * NSEC_PER_MSEC)

static const char *build_id_of(const struct name_table *table)
{
	return elf_symbols_info(table->symbols)->build_id;
}

/* Returns whether it will be answered, if there is anything to be answered. */
static bool ask(struct elf_cache *cache, struct name_table *table)
{
	uint32_t number;
	int r;

	{
		LOCKED(cache);
		r = intern_add(&cache->build_ids, build_id_of(table), &number);
	}
	if (r == 0)
		r = debuginfod_ask(cache->opts.debuginfod, build_id_of(table), number);
	if (r == 0)
		table->nr_asks_left--;
	return r == 0;
}

void elf_downloads_ask(struct elf_cache *cache, struct name_table *table)
{
	if (!cache->opts.debuginfod || !build_id_of(table)[0])
		return;
	table->wants_download = true;
	table->nr_asks_left = MAX_ASKS;
	if (!ask(cache, table))
		return;
	table->await_ns = clock_mono_ns() + AWAIT_NS;
	cache->await_download_ns = table->await_ns;
}

bool elf_downloads_are_awaited(struct elf_cache *cache)
{
	if (clock_mono_ns() >= cache->await_download_ns)
		return false;
	if (debuginfod_get_stats(cache->opts.debuginfod).nr_waiting > 0)
		return true;
	cache->await_download_ns = 0;
	return false;
}

bool elf_downloads_are_awaited_by(const struct elf_cache *cache, const struct name_table *table)
{
	uint64_t now_ns = clock_mono_ns();

	return now_ns < table->await_ns && now_ns < cache->await_download_ns;
}

static void ask_again(struct elf_cache *cache)
{
	uint64_t now_ns = clock_mono_ns();

	if (now_ns < cache->ask_again_ns)
		return;
	cache->ask_again_ns = now_ns + ASK_AGAIN_NS;
	for (struct name_table *table = cache->tables; table; table = table->next)
		if (table->wants_download && table->has_names && table->nr_asks_left > 0)
			(void)ask(cache, table);
}

static struct name_table *find_wanting(const struct elf_cache *cache, const char *build_id)
{
	for (struct name_table *table = cache->tables; table; table = table->next)
		if (table->wants_download && table->has_names &&
		    strcmp(build_id_of(table), build_id) == 0)
			return table;
	return NULL;
}

bool elf_downloads_next(struct elf_cache *cache, struct name_table **ret_table, int *ret_fd)
{
	uint64_t number;
	int fd;

	if (!cache->opts.debuginfod)
		return false;
	ask_again(cache);
	while (debuginfod_next(cache->opts.debuginfod, &number, &fd) > 0) {
		const char *build_id = intern_get(&cache->build_ids, (uint32_t)number);
		struct name_table *table = find_wanting(cache, build_id);

		if (table) {
			table->wants_download = false;
			table->await_ns = 0;
			*ret_table = table;
			*ret_fd = fd;
			return true;
		}
		close(fd);
	}
	return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_cache_inside.h"

#include "base/clock.h"

#include "symbol/elf_cache.c" /* NOLINT(bugprone-suspicious-include) */

struct file_registry *inside_registry(const struct elf_cache *cache)
{
	return cache->registry;
}

struct name_store *inside_store(const struct elf_cache *cache)
{
	return cache->store;
}

struct symbol_client *inside_client(const struct elf_cache *cache)
{
	return cache->client;
}

struct name_table *inside_tables(const struct elf_cache *cache)
{
	return name_store_first(cache->store);
}

struct name_table *inside_table(const struct elf_cache *cache, uint32_t id)
{
	return file_registry_find_table(cache->registry, id);
}

struct worker_lanes *inside_lanes(const struct elf_cache *cache)
{
	return symbol_jobs_lanes(inside_jobs(cache->client));
}

void inside_drop_names(const struct elf_cache *cache, uint64_t dropped_ns)
{
	for (struct name_table *table = inside_tables(cache); table; table = table->next) {
		name_table_drop_names(table);
		file_registry_drop(cache->registry, &table->content, dropped_ns);
	}
}

void inside_close_lines(const struct elf_cache *cache, uint64_t dropped_ns)
{
	for (struct name_table *table = inside_tables(cache); table; table = table->next) {
		if (table->lines_fd < 0)
			continue;
		name_table_close_files(table);
		file_registry_drop(cache->registry, &table->content, dropped_ns);
	}
}

void inside_pass_time(const struct elf_cache *cache, uint64_t ns)
{
	struct file_index *files = inside_files(cache->registry);

	for (size_t i = 0; i < files->nr_slots; i++)
		if (files->slots[i].failed_ns > 0)
			files->slots[i].failed_ns -= ns;
	for (struct name_table *table = inside_tables(cache); table; table = table->next)
		if (table->content.dropped_ns > 0)
			table->content.dropped_ns -= ns;
}

void inside_fail_file(const struct elf_cache *cache, uint32_t id, int error)
{
	struct known_file *file = file_index_get(inside_files(cache->registry), id);

	file->state = FILE_BAD;
	file->error = error;
	file->nr_failures = 1;
	file->failed_ns = clock_mono_ns();
}

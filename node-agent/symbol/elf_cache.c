/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/elf_cache.h"

#include <stdlib.h>

struct elf_cache {
	struct file_registry *registry; /* owned */
	struct name_store *store; /* owned */
	struct symbol_client *client; /* owned */
};

void elf_cache_free(struct elf_cache *cache)
{
	if (!cache)
		return;
	symbol_client_free(cache->client);
	name_store_free(cache->store);
	file_registry_free(cache->registry);
	free(cache);
}

int elf_cache_new(const struct elf_cache_opts *opts, struct elf_cache **ret_cache)
{
	_cleanup_(elf_cache_freep) struct elf_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return -ENOMEM;
	int r = file_registry_new(opts, &cache->registry);
	if (r == 0)
		r = name_store_new(opts, cache->registry, &cache->store);
	if (r == 0)
		r = symbol_client_new(opts, cache->registry, cache->store, &cache->client);
	if (r < 0)
		return r;
	*ret_cache = take_ptr(cache);
	return 0;
}

int elf_cache_open(struct elf_cache *cache, uint64_t owner, uint32_t pid,
		   const struct mapping *mapping, uint32_t *ret_id)
{
	return file_registry_open(cache->registry, owner, pid, mapping, ret_id);
}

int elf_cache_open_file(struct elf_cache *cache, uint64_t owner, const char *path, int *fd,
			uint32_t *ret_id)
{
	return file_registry_open_file(cache->registry, owner, path, fd, ret_id);
}

uint32_t elf_cache_vdso(const struct elf_cache *cache)
{
	return file_registry_vdso(cache->registry);
}

bool elf_cache_ask(struct elf_cache *cache, uint32_t id, uint64_t file_offset)
{
	struct name_table *table = NULL;
	bool is_waited_for;

	if (file_offset >= PLACE_NAMES_MAX_OFFSET ||
	    file_registry_use(cache->registry, id, &table, &is_waited_for) < 0)
		return true;
	if (is_waited_for || symbol_client_awaits(cache->client, table))
		return false;
	return !table->has_names ||
	       place_names_ask(name_store_places(cache->store), table, file_offset);
}

bool elf_cache_wait(struct elf_cache *cache, uint64_t until_ns)
{
	return symbol_client_wait(cache->client, until_ns);
}

bool elf_cache_is_slow_only(const struct elf_cache *cache)
{
	return symbol_client_is_slow_only(cache->client);
}

int elf_cache_symbolize(struct elf_cache *cache, uint32_t id, uint64_t file_offset,
			struct symbol_frames *ret_frames)
{
	struct name_table *table = NULL;
	bool is_waited_for;

	*ret_frames = (struct symbol_frames){ .address = file_offset };
	int r = file_registry_use(cache->registry, id, &table, &is_waited_for);
	if (r < 0)
		return r;
	if (!table || file_offset >= PLACE_NAMES_MAX_OFFSET)
		return -ENOENT;
	return place_names_get(name_store_places(cache->store), table, file_offset, ret_frames);
}

bool elf_cache_find_segment(struct elf_cache *cache, uint32_t id, uint64_t file_offset,
			    struct elf_block_segment *ret_segment)
{
	const struct elf_block_segment *segment = NULL;
	struct name_table *table = NULL;
	bool is_waited_for;

	if (file_registry_use(cache->registry, id, &table, &is_waited_for) == 0 && table)
		segment = elf_symbols_find_segment(table->symbols, file_offset);
	if (segment)
		*ret_segment = *segment;
	return segment != NULL;
}

bool elf_cache_wants_file(struct elf_cache *cache, uint32_t id)
{
	return file_registry_wants_file(cache->registry, id);
}

struct build_ids elf_cache_build_ids(struct elf_cache *cache, uint32_t id)
{
	const struct name_table *table = file_registry_find_table(cache->registry, id);

	if (!table)
		return BUILD_IDS_UNKNOWN;
	const struct elf_symbols_info *info = elf_symbols_info(table->symbols);
	return (struct build_ids){ info->build_id, info->go_build_id, info->htlhash };
}

uint64_t elf_cache_size(struct elf_cache *cache, uint32_t id)
{
	return file_registry_size(cache->registry, id);
}

struct elf_cache_stats elf_cache_get_stats(struct elf_cache *cache)
{
	const struct symbol_client_stats client = symbol_client_get_stats(cache->client);

	return (struct elf_cache_stats){
		.files = file_registry_get_stats(cache->registry),
		.tables = name_store_get_stats(cache->store),
		.lines = line_store_get_stats(name_store_lines(cache->store)),
		.names = place_names_get_stats(name_store_places(cache->store)),
		.nr_debug_files = client.nr_debug_files,
		.worker = client.worker,
		.debuginfod = client.debuginfod,
	};
}

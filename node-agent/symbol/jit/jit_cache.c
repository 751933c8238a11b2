/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/jit/jit_cache.h"

#include "base/strbuf.h"
#include "symbol/jit/jit_client.h"
#include "symbol/jit/jit_names.h"
#include "symbol/jit/jit_registry.h"

#include <stdlib.h>

#define MAX_NAME_BYTES ((size_t)64 << 10)

struct jit_cache {
	struct jit_registry *registry; /* owned */
	struct jit_client *client; /* owned */

	/* Result of the last jit_cache_symbolize(); only for the symbolizer. */
	struct strbuf scratch;
	struct symbol_line line;
};

int jit_cache_new(const struct jit_cache_opts *opts, struct jit_cache **ret_cache)
{
	_cleanup_(jit_cache_freep) struct jit_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return -ENOMEM;
	cache->scratch = strbuf_with_max(MAX_NAME_BYTES);
	int r = jit_registry_new(opts->proc_fd, &cache->registry);
	if (r == 0)
		r = jit_client_new(cache->registry, opts->max_bytes, opts->worker_program,
				   &cache->client);
	if (r < 0)
		return r;
	*ret_cache = take_ptr(cache);
	return 0;
}

void jit_cache_free(struct jit_cache *cache)
{
	if (!cache)
		return;
	jit_client_free(cache->client);
	jit_registry_free(cache->registry);
	strbuf_done(&cache->scratch);
	free(cache);
}

uint32_t jit_cache_open(struct jit_cache *cache, uint32_t pid, uint64_t number, uint64_t cgroup_id,
			const struct mapping_list *mappings, uint64_t now_ns)
{
	const struct jit_sampled sampled = { pid, number, cgroup_id, mappings };

	return jit_registry_open(cache->registry, &sampled, now_ns);
}

static void fill_frames(struct jit_cache *cache, uint64_t address, const struct jit_found *found,
			struct symbol_frames *ret_frames)
{
	struct jit_name name = jit_names_join(found->name, &found->parts, &cache->scratch);

	cache->line = (struct symbol_line){
		.name = name.name,
		.system_name = found->name,
		.filename = found->line > 0 ? found->filename : name.filename,
		.line = found->line > 0 ? found->line : name.start_line,
		.start_line = name.start_line,
	};
	*ret_frames = (struct symbol_frames){
		.address = address,
		.lines = &cache->line,
		.nr_lines = 1,
		.language = (enum symbol_language)found->parts.language,
	};
}

int jit_cache_symbolize(struct jit_cache *cache, uint32_t id, uint64_t address,
			struct symbol_frames *ret_frames)
{
	const struct jit_process *process = jit_registry_use(cache->registry, id);
	struct jit_found found;

	for (size_t kind = 0; process && kind < JIT_SOURCE_KINDS; kind++) {
		if (jit_source_find(&process->sources[kind], address, &found)) {
			fill_frames(cache, address, &found, ret_frames);
			return 0;
		}
	}
	return -ENOENT;
}

void jit_cache_refresh(struct jit_cache *cache, uint64_t now_ns, uint64_t until_ns)
{
	jit_client_refresh(cache->client, now_ns, until_ns);
}

bool jit_cache_work(struct jit_cache *cache)
{
	return jit_client_work(cache->client);
}

struct jit_stats jit_cache_get_stats(struct jit_cache *cache)
{
	struct jit_stats stats = jit_client_get_stats(cache->client);

	jit_registry_add_stats(cache->registry, &stats);
	return stats;
}

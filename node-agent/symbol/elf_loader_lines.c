/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/elf_cache_parts.h"

#include "symbol/lines_block.h"

#include <string.h>

#define MAX_ADDRESSES 1024 /* a request: others may be waiting for their files to be read */

int elf_loader_send_lines(struct elf_cache *cache, struct elf_job *job)
{
	const struct elf_table *table = job->table;
	const int fds[] = { table->lines_fd, table->alt_fd };
	size_t nr = table->nr_wanted < MAX_ADDRESSES ? table->nr_wanted : MAX_ADDRESSES;
	uint64_t addresses[MAX_ADDRESSES];
	const struct worker_request request = {
		.kind = SYMBOL_REQUEST_LINES,
		.nr_bytes = (uint32_t)(nr * sizeof(addresses[0])),
		.key = elf_tables_full_key(cache, table),
		.max_bytes = cache->opts.max_bytes / 4,
	};

	for (size_t i = 0; i < nr; i++)
		addresses[i] = table->wanted[i].address;
	job->nr_sent = nr;
	return elf_loader_send(cache, job, &request, addresses, fds, table->alt_fd >= 0 ? 2 : 1);
}

static int add_lines(struct elf_cache *cache, struct elf_table *table,
		     const struct wanted_address *wanted, const struct lines_block *block,
		     const struct lines_block_range *range)
{
	struct symbol_line lines[SYMBOL_MAX_LINES];
	struct symbol_line line_by_symbol;
	struct symbol_frames frames;

	int r = elf_table_find(table, wanted->offset, &line_by_symbol, &frames);
	(void)r; /* code without a symbol */
	for (uint32_t i = 0; i < range->nr; i++) {
		const struct lines_block_line *line = &block->lines[range->first + i];

		lines[i] = (struct symbol_line){
			.system_name = block->strings + line->name,
			.filename = block->strings + line->filename,
			.line = line->line,
			.start_line = line->start_line,
		};
		if (line->language != LANGUAGE_UNKNOWN)
			frames.language = line->language;
	}
	frames.lines = lines;
	frames.nr_lines = range->nr;
	return elf_cache_remember(cache, table, wanted->offset, FRAMES_FINAL, &frames);
}

/* Where the debug information knows nothing, the symbol tables have the last word. */
static void take_one(struct elf_cache *cache, struct elf_table *table,
		     const struct wanted_address *wanted, const struct lines_block *block, size_t i)
{
	int r = block && block->ranges[i].nr > 0
			? add_lines(cache, table, wanted, block, &block->ranges[i])
			: elf_cache_resolve(cache, table, wanted->offset, FRAMES_FINAL);

	if (r < 0)
		frame_cache_settle(&cache->frames, elf_cache_place(table, wanted->offset));
}

/* A file that could not be read or took too long is not asked again. */
void elf_loader_take_lines(struct elf_cache *cache, struct elf_job *job, int error,
			   const void *bytes, size_t len)
{
	struct elf_table *table = job->table;
	size_t nr = job->nr_sent;
	struct lines_block block;

	if (error == 0) {
		error = lines_block_parse(bytes, len, (uint32_t)nr, &block);
		if (error < 0)
			elf_loader_distrust(cache, job);
	}
	for (size_t i = 0; i < nr; i++)
		take_one(cache, table, &table->wanted[i], error == 0 ? &block : NULL, i);
	elf_cache_count(cache, &cache->stats.nr_resolved, nr);
	if (error < 0) {
		elf_table_close_files(table);
		return;
	}
	table->nr_wanted -= nr;
	memmove(table->wanted, table->wanted + nr, table->nr_wanted * sizeof(*table->wanted));
}

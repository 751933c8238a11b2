/* SPDX-License-Identifier: Apache-2.0 */
/* Which names are demangled when. A name is asked for once, however many places and files have it: on the account of the
 * table in which it was met first. Its worker is a process that foreign names may keep busy or break, so
 *
 *	a name that takes too long	stays as it is, and its owner's requests take the slow lane for a while
 *	a few of those in a table	the table's other names stay as they are for a while, unless other tables have
 *					them, too
 *	a worker that dies or lies	the same, at once
 *
 * and the other files' names are not concerned. */
#include "symbol/elf_cache_parts.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "symbol/worker/names_block.h"

#include <string.h>

#define MAX_GIVEN_UP 3
#define RAW_NS (60 * NSEC_PER_SEC)

static bool is_left_raw(const struct name_table *table)
{
	return table->raw_until_ns != 0 && clock_mono_ns() < table->raw_until_ns;
}

static void leave(struct elf_cache *cache, uint32_t name)
{
	frame_cache_set_name_state(&cache->frames, name, NAME_LEFT);
	elf_cache_count(cache, &cache->stats.nr_names_left, 1);
}

/* Whether there is nothing to wait for. Without room or memory it is asked for later. */
static bool ask_one(struct elf_cache *cache, struct name_table *table, uint32_t name)
{
	enum name_state state = frame_cache_name_state(&cache->frames, name);

	if (state == NAME_ASKED)
		return false;
	if (is_left_raw(table)) {
		if (state == NAME_NEW)
			leave(cache, name);
		return true;
	}
	if (array_grow(table->names, table->cap_names, table->nr_names + 1, NAME_TABLE_MAX_NAMES) <
	    0)
		return true;
	table->names[table->nr_names++] = name;
	frame_cache_set_name_state(&cache->frames, name, NAME_ASKED);
	return false;
}

int elf_names_ask(struct elf_cache *cache, struct name_table *table, uint64_t place)
{
	uint32_t names[SYMBOL_MAX_LINES];
	bool is_done = true;

	int nr = frame_cache_open_names(&cache->frames, place, names);
	for (int i = 0; i < nr; i++)
		is_done &= ask_one(cache, table, names[i]);
	return nr < 0 ? nr : is_done;
}

void elf_names_drop(struct elf_cache *cache, struct name_table *table)
{
	for (size_t i = 0; i < table->nr_names; i++)
		frame_cache_set_name_state(&cache->frames, table->names[i], NAME_NEW);
	table->nr_names = 0;
}

/* An answer that is on its way is about names that nobody knows any more. */
void elf_names_forget_all(struct elf_cache *cache)
{
	frame_cache_done(&cache->frames);
	for (struct name_table *table = cache->tables; table; table = table->next)
		table->nr_names = 0;
	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++)
		if (cache->jobs[lane].kind == JOB_NAMES)
			cache->jobs[lane].nr_sent = 0;
}

/* As many names as a request may have. Returns their number. */
static uint32_t append_names(const struct elf_cache *cache, const struct name_table *table,
			     struct strbuf *out)
{
	uint32_t nr = 0;

	for (; nr < table->nr_names && nr < NAMES_MAX; nr++) {
		const char *name = frame_cache_raw_name(&cache->frames, table->names[nr]);
		size_t len = strlen(name) + 1;

		if (len > out->max - out->len)
			break;
		strbuf_append(out, name, len);
	}
	return nr;
}

int elf_names_send(struct elf_cache *cache, struct elf_job *job)
{
	struct names_header header = { .detail = (uint32_t)cache->opts.demangle };
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(sizeof(header) +
								     NAMES_MAX_BYTES);

	job->nr_sent = 0;
	strbuf_append(&bytes, &header, sizeof(header));
	header.nr_names = append_names(cache, job->table, &bytes);
	if (strbuf_error(&bytes) < 0)
		return strbuf_error(&bytes);
	if (header.nr_names == 0)
		return -ENOENT;
	memcpy(bytes.data, &header, sizeof(header));
	job->nr_sent = header.nr_names;
	const struct worker_request request = {
		.kind = SYMBOL_REQUEST_NAMES,
		.nr_bytes = (uint32_t)bytes.len,
		.key = 1,
		.max_bytes = NAMES_MAX_REPLY_BYTES,
	};
	return elf_loader_send(cache, job, &request, bytes.data, NULL, 0);
}

/* From now on the names that the table wants stay as they are. */
static void leave_all(struct elf_cache *cache, struct name_table *table)
{
	for (size_t i = 0; i < table->nr_names; i++)
		leave(cache, table->names[i]);
	table->nr_names = 0;
	table->nr_given_up = 0;
	table->raw_until_ns = clock_mono_ns() + RAW_NS;
}

static void remove_names(struct name_table *table, size_t nr)
{
	table->nr_names -= nr;
	memmove(table->names, table->names + nr, table->nr_names * sizeof(*table->names));
}

/* It is not asked for again. */
static void give_up(struct elf_cache *cache, struct elf_job *job)
{
	elf_cache_count(cache, &cache->stats.nr_names_given_up, 1);
	if (++job->table->nr_given_up >= MAX_GIVEN_UP)
		leave_all(cache, job->table);
}

static void take_block(struct elf_cache *cache, struct elf_job *job,
		       const struct names_block *block)
{
	struct name_table *table = job->table;
	const char *pretty = block->first;

	for (uint32_t i = 0; i < block->nr_names; i++) {
		if (frame_cache_name(&cache->frames, table->names[i], pretty) < 0)
			leave(cache, table->names[i]);
		pretty = names_block_next(pretty);
	}
	remove_names(table, block->nr_names);
	if (block->detail != NAMES_ALL)
		elf_loader_punish(cache, job);
	if (block->detail == NAMES_GIVEN_UP)
		give_up(cache, job);
}

void elf_names_take(struct elf_cache *cache, struct elf_job *job, int error, const void *bytes,
		    size_t len)
{
	struct names_block block;

	if (error < 0) {
		leave_all(cache, job->table);
		return;
	}
	if (job->nr_sent == 0)
		return;
	if (names_block_parse(bytes, len, (uint32_t)job->nr_sent, NAMES_GIVEN_UP, &block) < 0) {
		elf_loader_distrust(cache, job);
		leave_all(cache, job->table);
		return;
	}
	take_block(cache, job, &block);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/elf_cache_parts.h"

#include "base/clock.h"
#include "base/random.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BUILD_IDS ((size_t)4 * ELF_CACHE_MAX_FILES) /* for which debuginfod was asked */
#define MAX_BUILD_ID_BYTES ((size_t)32 << 20)
#define OFFSET_BITS 36 /* ELF_MAX_FILE_BYTES; above them a place has its table's key */

#define PAUSE_NS (10 * NSEC_PER_MSEC)

/* A worker needs about as much as a table has for the largest ones, and the first of these for libdw, if the pool has it. The
 * worker of the fast lane has the second: what does not fit there is read in the slow lane. */
#define WORKER_LINES_BYTES ((size_t)128 << 20)
#define WORKER_FAST_BYTES ((size_t)64 << 20)

void elf_cache_free(struct elf_cache *cache)
{
	if (!cache)
		return;
	elf_loader_abandon(cache);
	for (struct name_table *table = cache->tables; table;) {
		struct name_table *next = table->next;

		elf_lines_save(cache, table);
		name_table_free(table);
		table = next;
	}
	memory_pool_give(cache->opts.pool, cache->nr_pooled_bytes);
	frame_cache_done(&cache->frames);
	worker_lanes_free(cache->lanes);
	row_cache_close(cache->lines_cache);
	file_index_done(&cache->files);
	intern_done(&cache->build_ids);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

int elf_cache_new(const struct elf_cache_opts *opts, struct elf_cache **ret_cache)
{
	_cleanup_(elf_cache_freep) struct elf_cache *cache = calloc(1, sizeof(*cache));
	const struct worker_client_opts client = {
		.program = opts->worker_program,
		.command = SYMBOL_WORKER_COMMAND,
		.max_data_bytes = opts->max_bytes + WORKER_LINES_BYTES,
		.max_fast_data_bytes = WORKER_FAST_BYTES,
		.pool = opts->pool,
	};

	if (!cache)
		return -ENOMEM;
	cache->opts = *opts;
	elf_loader_init(cache);
	pthread_mutex_init(&cache->lock, NULL);
	int r = intern_init(&cache->build_ids, MAX_BUILD_IDS, MAX_BUILD_ID_BYTES);
	if (r == 0)
		r = worker_lanes_new(&client, &cache->lanes);
	if (r == 0)
		r = random_bytes(&cache->seed, sizeof(cache->seed));
	if (r < 0)
		return r;
	elf_lines_open(cache);
	elf_cache_open_vdso(cache);
	*ret_cache = take_ptr(cache);
	return 0;
}

uint32_t elf_cache_vdso(const struct elf_cache *cache)
{
	return cache->vdso;
}

/* What can be said of a file now. */
static int get_file(struct elf_cache *cache, uint32_t id, enum file_state *ret_state,
		    struct name_table **ret_table)
{
	LOCKED(cache);
	struct known_file *file = file_index_get(&cache->files, id);

	if (!file)
		return -ENOENT;
	file->last_use = ++cache->nr_uses;
	if (file->table)
		file->table->last_use = file->last_use;
	*ret_state = file->state;
	*ret_table = file->table;
	return file->state == FILE_BAD ? file->error : 0;
}

uint64_t elf_cache_place(const struct name_table *table, uint64_t file_offset)
{
	return table->key << OFFSET_BITS | file_offset;
}

int elf_cache_remember(struct elf_cache *cache, struct name_table *table, uint64_t file_offset,
		       enum frames_state state, const struct symbol_frames *frames)
{
	uint64_t place = elf_cache_place(table, file_offset);

	int r = frame_cache_add(&cache->frames, place, state, frames, cache->opts.demangle);
	if (r == 0)
		r = elf_names_ask(cache, table, place);
	return r < 0 ? r : 0;
}

int elf_cache_resolve(struct elf_cache *cache, struct name_table *table, uint64_t file_offset,
		      enum frames_state state)
{
	struct symbol_frames frames;
	struct symbol_line line;

	int r = name_table_find(table, file_offset, &line, &frames);
	if (r < 0 && r != -ENOENT)
		return r;
	return elf_cache_remember(cache, table, file_offset, state, &frames);
}

/* Whether the lines are there already. */
static bool are_lines_known(struct elf_cache *cache, struct name_table *table, uint64_t file_offset)
{
	uint64_t address;

	return table->lines_state == LINES_READY &&
	       elf_symbols_address_of(table->symbols, file_offset, &address) == 0 &&
	       elf_lines_resolve(cache, table, file_offset, address);
}

/* Its lines are asked for once; until they come there is the name from the symbol tables. */
static bool ask_for_lines(struct elf_cache *cache, struct name_table *table, uint64_t file_offset)
{
	enum frames_state state = FRAMES_PROVISIONAL;
	struct symbol_frames frames;

	if (table->lines_fd < 0 && table->lines.nr_bytes == 0)
		return true;
	table->asked_ns = clock_mono_ns();
	frame_cache_find(&cache->frames, elf_cache_place(table, file_offset), &state, &frames);
	if (state != FRAMES_PROVISIONAL)
		return state == FRAMES_FINAL || table->lines_fd < 0;
	if (are_lines_known(cache, table, file_offset) || table->lines_fd < 0)
		return true;
	if (name_table_want_lines(table, file_offset) < 0)
		return true;
	return elf_cache_resolve(cache, table, file_offset, FRAMES_ASKED) < 0;
}

/* Also those of symbols for which lines were asked: the lines may come too late. */
static bool ask_for_names(struct elf_cache *cache, struct name_table *table, uint64_t file_offset)
{
	uint64_t place = elf_cache_place(table, file_offset);

	int r = elf_names_ask(cache, table, place);
	if (r != -ENOENT)
		return r != 0;
	r = elf_cache_resolve(cache, table, file_offset, FRAMES_PROVISIONAL);
	return r < 0 || elf_names_ask(cache, table, place) != 0;
}

bool elf_cache_ask(struct elf_cache *cache, uint32_t id, uint64_t file_offset)
{
	struct name_table *table = NULL;
	enum file_state state;

	if (file_offset >> OFFSET_BITS != 0 || get_file(cache, id, &state, &table) < 0)
		return true;
	if (state != FILE_LOADED || table->is_completing ||
	    elf_downloads_are_awaited_by(cache, table))
		return false;
	if (!table->has_names)
		return true;

	bool has_lines = ask_for_lines(cache, table, file_offset);
	return ask_for_names(cache, table, file_offset) && has_lines;
}

/* Keeps the budget, also when nothing is read, and the figures that are not this module's. */
static void tidy(struct elf_cache *cache)
{
	struct worker_stats worker = worker_lanes_get_stats(cache->lanes);
	struct debuginfod_stats debuginfod = { 0 };

	if (cache->opts.debuginfod)
		debuginfod = debuginfod_get_stats(cache->opts.debuginfod);
	elf_lines_save_settled(cache);
	name_store_tidy(cache, NULL);
	worker_lanes_tidy(cache->lanes, clock_mono_ns());

	LOCKED(cache);
	cache->stats.worker = worker;
	cache->stats.debuginfod = debuginfod;
}

/* Does one step of what there is to do. Returns 1 when all is done, 0 when it is not, -EAGAIN when the next step takes
 * a while: for a debug file to be there, or until a new worker may be started. */
static int step(struct elf_cache *cache, uint64_t until_ns)
{
	uint64_t soon_ns = clock_mono_ns() + PAUSE_NS;

	elf_loader_start_next(cache);
	switch (elf_loader_progress(cache)) {
	case PROGRESS_DONE:
		return elf_downloads_are_awaited(cache) ? -EAGAIN : 1;
	case PROGRESS_STUCK:
		return -EAGAIN;
	case PROGRESS_HALF_STUCK:
		until_ns = soon_ns < until_ns ? soon_ns : until_ns;
		break;
	case PROGRESS_AT_WORK:
		break;
	}
	worker_lanes_wait(cache->lanes, -1, until_ns);
	elf_loader_take_answers(cache);
	return 0;
}

bool elf_cache_wait(struct elf_cache *cache, uint64_t until_ns)
{
	int r;

	tidy(cache);
	while ((r = step(cache, until_ns)) < 1) {
		uint64_t now_ns = clock_mono_ns();
		struct timespec wake = clock_timespec(now_ns + PAUSE_NS);

		if (now_ns >= until_ns)
			return false;
		if (r == -EAGAIN)
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
	}
	return true;
}

bool elf_cache_is_slow_only(const struct elf_cache *cache)
{
	const struct elf_job *fast = &cache->jobs[WORKER_LANE_FAST];
	bool is_fast_busy = fast->kind != JOB_NONE;

	return (!is_fast_busy || fast->is_try || fast->is_late) &&
	       (is_fast_busy || cache->jobs[WORKER_LANE_SLOW].kind != JOB_NONE);
}

static int symbolize_in(struct elf_cache *cache, struct name_table *table, uint64_t file_offset,
			struct symbol_frames *ret_frames)
{
	uint64_t place = elf_cache_place(table, file_offset);
	enum frames_state state;

	if (!frame_cache_find(&cache->frames, place, &state, ret_frames)) {
		int r = elf_cache_resolve(cache, table, file_offset, FRAMES_PROVISIONAL);
		if (r < 0)
			return r;
		frame_cache_find(&cache->frames, place, &state, ret_frames);
	}
	return ret_frames->nr_lines > 0 ? 0 : -ENOENT;
}

int elf_cache_symbolize(struct elf_cache *cache, uint32_t id, uint64_t file_offset,
			struct symbol_frames *ret_frames)
{
	struct name_table *table = NULL;
	enum file_state state;

	*ret_frames = (struct symbol_frames){ .address = file_offset };
	int r = get_file(cache, id, &state, &table);
	if (r < 0)
		return r;
	if (!table || file_offset >> OFFSET_BITS != 0)
		return -ENOENT;
	return symbolize_in(cache, table, file_offset, ret_frames);
}

bool elf_cache_find_segment(struct elf_cache *cache, uint32_t id, uint64_t file_offset,
			    struct elf_block_segment *ret_segment)
{
	const struct elf_block_segment *segment = NULL;
	struct name_table *table = NULL;
	enum file_state state;

	if (get_file(cache, id, &state, &table) == 0 && table)
		segment = elf_symbols_find_segment(table->symbols, file_offset);
	if (segment)
		*ret_segment = *segment;
	return segment != NULL;
}

void elf_cache_count(struct elf_cache *cache, uint64_t *counter, uint64_t nr)
{
	LOCKED(cache);
	*counter += nr;
}

struct elf_cache_stats elf_cache_get_stats(struct elf_cache *cache)
{
	LOCKED(cache);
	struct elf_cache_stats stats = cache->stats;

	stats.nr_files = cache->files.nr_slots;
	return stats;
}

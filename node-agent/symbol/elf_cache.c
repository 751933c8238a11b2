/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/elf_cache_parts.h"

#include "base/clock.h"
#include "unwind/elf_rows.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BUILD_IDS ((size_t)4 * ELF_CACHE_MAX_FILES)
#define MAX_BUILD_ID_BYTES ((size_t)32 << 20)
#define OFFSET_BITS 36 /* ELF_MAX_FILE_BYTES; above them a place has its table's key */

#define MAX_FAILURES 3 /* then a file is not opened again */
#define PAUSE_NS (10 * NSEC_PER_MSEC)

/* The worker needs about as much for the largest tables, and some for libdw. */
#define WORKER_MIN_BYTES ((size_t)128 << 20)

void elf_cache_free(struct elf_cache *cache)
{
	if (!cache)
		return;
	elf_loader_abandon(cache);
	for (struct elf_table *table = cache->tables; table;) {
		struct elf_table *next = table->next;

		elf_table_free(table);
		table = next;
	}
	frame_cache_done(&cache->frames);
	symbol_client_free(cache->client);
	elf_files_done(&cache->files);
	intern_done(&cache->build_ids);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

static void remove_waiting(struct elf_cache *cache, size_t i)
{
	size_t nr_behind = --cache->stats.nr_waiting - i;

	memmove(&cache->waiting[i], &cache->waiting[i + 1], nr_behind * sizeof(cache->waiting[0]));
}

static void release_victim(struct elf_cache *cache, struct elf_file *victim)
{
	for (size_t i = 0; i < cache->stats.nr_waiting; i++)
		if (cache->waiting[i] == victim->id)
			remove_waiting(cache, i--);
	elf_file_release(victim);
	if (victim->table)
		victim->table->nr_refs--;
	victim->table = NULL;
}

/* Whether it may go better the next time: the worker was killed for want of memory, the machine was busy. */
static bool is_passing(int error)
{
	return error != -EBADMSG && error != -ENOSPC;
}

/* Whether a file whose names were dropped, or could not be read, may be read once more. */
static bool wants_reopening(const struct elf_file *file)
{
	const struct elf_table *table = file->table;
	uint64_t since_ns = file->failed_ns;

	if (file->nr_failures >= MAX_FAILURES)
		return false;
	if (file->state == ELF_FILE_LOADED) {
		if (table->has_names && !table->wants_files)
			return false;
		if (table->dropped_ns > since_ns)
			since_ns = table->dropped_ns;
	} else if (file->state != ELF_FILE_BAD) {
		return false;
	}
	return clock_mono_ns() - since_ns >= ELF_CACHE_REOPEN_NS;
}

/* The file with that identity, a new one where there is none. */
static int take_file(struct elf_cache *cache, const struct file_identity *identity,
		     struct elf_file **ret_file, bool *ret_is_new)
{
	struct elf_file *file = elf_files_find(&cache->files, identity);

	*ret_is_new = !file;
	if (!file) {
		struct elf_file *victim = elf_files_next_victim(&cache->files);

		if (victim)
			release_victim(cache, victim);
		int r = elf_files_add(&cache->files, identity, &file);
		if (r < 0)
			return r;
	}
	file->last_use = ++cache->nr_uses;
	*ret_file = file;
	return 0;
}

/* Puts an open file among those that wait, unless another thread was faster. Takes over what is open on success. */
static int add_waiting(struct elf_cache *cache, const struct file_identity *identity,
		       struct elf_file *opened, uint32_t *ret_id)
{
	struct elf_file *file;
	bool is_new;
	LOCKED(cache);

	if (cache->stats.nr_waiting == ELF_CACHE_MAX_OPEN)
		return -ENOSPC;
	int r = take_file(cache, identity, &file, &is_new);
	if (r < 0)
		return r;
	if (is_new || wants_reopening(file)) {
		file->fd = take_fd(opened->fd);
		file->root_fd = take_fd(opened->root_fd);
		file->path = take_ptr(opened->path);
		file->state = ELF_FILE_WAITING;
		cache->waiting[cache->stats.nr_waiting++] = file->id;
	}
	*ret_id = file->id;
	return 0;
}

/* The id of a file that is known and need not be opened; else 0, or -ENOSPC when no more may wait. */
static int find_known(struct elf_cache *cache, const struct file_identity *identity,
		      uint32_t *ret_id)
{
	LOCKED(cache);
	struct elf_file *file = elf_files_find(&cache->files, identity);

	if (file)
		file->last_use = ++cache->nr_uses;
	*ret_id = file && !wants_reopening(file) ? file->id : 0;
	return *ret_id == 0 && cache->stats.nr_waiting >= ELF_CACHE_MAX_OPEN ? -ENOSPC : 0;
}

/* Where debug files of the program may be, when it is gone. Without it there are the host's to look at. */
static void open_root(struct elf_cache *cache, uint32_t pid, struct elf_file *opened)
{
	if (cache->opts.debug_files.host_root_fd < 0)
		return;
	int r = file_opener_open_root(cache->opts.proc_fd, pid, &opened->root_fd);
	(void)r; /* root_fd stays -EBADF */
}

static int open_pinned(struct elf_cache *cache, uint32_t pid, const char *path,
		       const struct pinned_file *pinned, uint32_t *ret_id)
{
	_cleanup_(elf_file_release) struct elf_file opened = { .fd = -EBADF, .root_fd = -EBADF };
	uint32_t known_id;

	int r = find_known(cache, &pinned->identity, &known_id);
	if (r < 0)
		return r;
	if (known_id != 0) {
		*ret_id = known_id;
		return 0;
	}

	r = file_opener_open(cache->opts.proc_fd, pid, pinned, &opened.fd);
	if (r < 0)
		return r;
	open_root(cache, pid, &opened);
	opened.path = path ? strdup(path) : NULL;
	return add_waiting(cache, &pinned->identity, &opened, ret_id);
}

int elf_cache_open(struct elf_cache *cache, uint32_t pid, const struct mapping *mapping,
		   uint32_t *ret_id)
{
	_cleanup_(file_opener_unpin) struct pinned_file pinned = { .fd = -EBADF };

	int r = file_opener_pin(cache->opts.proc_fd, pid, mapping, &pinned);
	if (r == 0)
		r = open_pinned(cache, pid, mapping->file->path, &pinned, ret_id);
	if (r < 0) {
		LOCKED(cache);
		cache->stats.nr_open_failures++;
	}
	return r;
}

static void open_vdso(struct elf_cache *cache)
{
	_cleanup_(elf_file_release) struct elf_file opened = { .fd = -EBADF, .root_fd = -EBADF };
	struct pinned_file pinned;

	if (elf_rows_open_vdso(&opened.fd) < 0 || file_opener_look_at(opened.fd, &pinned) < 0)
		return;
	int r = add_waiting(cache, &pinned.identity, &opened, &cache->vdso);
	(void)r; /* vdso stays 0: its code is named by offset */
}

int elf_cache_new(const struct elf_cache_opts *opts, struct elf_cache **ret_cache)
{
	_cleanup_(elf_cache_freep) struct elf_cache *cache = calloc(1, sizeof(*cache));
	const struct symbol_client_opts client = {
		.program = opts->worker_program,
		.max_bytes = opts->max_bytes + WORKER_MIN_BYTES,
	};

	if (!cache)
		return -ENOMEM;
	cache->opts = *opts;
	elf_loader_init(cache);
	pthread_mutex_init(&cache->lock, NULL);
	int r = intern_init(&cache->build_ids, MAX_BUILD_IDS, MAX_BUILD_ID_BYTES);
	if (r == 0)
		r = symbol_client_new(&client, &cache->client);
	if (r < 0)
		return r;
	open_vdso(cache);
	*ret_cache = take_ptr(cache);
	return 0;
}

uint32_t elf_cache_vdso(const struct elf_cache *cache)
{
	return cache->vdso;
}

/* The place in the list of the one that is read next: files take the longer the larger they are. */
static size_t find_smallest(const struct elf_cache *cache)
{
	uint64_t smallest_size = UINT64_MAX;
	size_t smallest = 0;

	for (size_t i = 0; i < cache->stats.nr_waiting; i++) {
		uint64_t size = elf_files_get(&cache->files, cache->waiting[i])->identity.size;

		if (size < smallest_size) {
			smallest_size = size;
			smallest = i;
		}
	}
	return smallest;
}

bool elf_cache_take_waiting(struct elf_cache *cache, bool oldest, struct elf_file *ret_file)
{
	LOCKED(cache);
	size_t i = oldest ? 0 : find_smallest(cache);

	if (cache->stats.nr_waiting == 0)
		return false;
	struct elf_file *file = elf_files_get(&cache->files, cache->waiting[i]);
	remove_waiting(cache, i);
	*ret_file = *file;
	file->fd = -EBADF;
	file->root_fd = -EBADF;
	file->path = NULL;
	file->state = ELF_FILE_LOADING;
	return true;
}

static void set_build_id(struct elf_cache *cache, struct elf_file *file)
{
	const char *build_id = elf_symbols_info(file->table->symbols)->build_id;
	uint32_t number;

	if (intern_add(&cache->build_ids, build_id, &number) == 0)
		file->build_id = intern_get(&cache->build_ids, number);
}

static void fail_file(struct elf_cache *cache, struct elf_file *file, int error)
{
	cache->stats.nr_bad_files++;
	file->state = file->table ? ELF_FILE_LOADED : ELF_FILE_BAD;
	file->error = error;
	file->failed_ns = clock_mono_ns();
	file->nr_failures = is_passing(error) ? file->nr_failures + 1 : MAX_FAILURES;
}

void elf_cache_finish_file(struct elf_cache *cache, uint32_t id, struct elf_table *table, int error)
{
	LOCKED(cache);
	struct elf_file *file = elf_files_get(&cache->files, id);

	if (error < 0) {
		fail_file(cache, file, error);
		return;
	}
	if (file->table)
		file->table->nr_refs--;
	table->nr_refs++;
	table->wants_files = false;
	table->is_kept |= id == cache->vdso;
	if (file->last_use > table->last_use)
		table->last_use = file->last_use;
	file->table = table;
	file->state = ELF_FILE_LOADED;
	file->nr_failures = 0;
	set_build_id(cache, file);
}

/* What can be said of a file now. */
static int get_file(struct elf_cache *cache, uint32_t id, enum elf_file_state *ret_state,
		    struct elf_table **ret_table)
{
	LOCKED(cache);
	struct elf_file *file = elf_files_get(&cache->files, id);

	if (!file)
		return -ENOENT;
	file->last_use = ++cache->nr_uses;
	if (file->table)
		file->table->last_use = file->last_use;
	*ret_state = file->state;
	*ret_table = file->table;
	return file->state == ELF_FILE_BAD ? file->error : 0;
}

uint64_t elf_cache_place(const struct elf_table *table, uint64_t file_offset)
{
	return table->key << OFFSET_BITS | file_offset;
}

int elf_cache_resolve(struct elf_cache *cache, const struct elf_table *table, uint64_t file_offset,
		      enum frames_state state)
{
	struct symbol_frames frames;
	struct symbol_line line;

	int r = elf_table_find(table, file_offset, &line, &frames);
	if (r < 0 && r != -ENOENT)
		return r;
	return frame_cache_add(&cache->frames, elf_cache_place(table, file_offset), state, &frames,
			       cache->opts.demangle);
}

/* Its lines are asked for once; until they come there is the name from the symbol tables. */
static bool ask_for_lines(struct elf_cache *cache, struct elf_table *table, uint64_t file_offset)
{
	enum frames_state state = FRAMES_PROVISIONAL;
	struct symbol_frames frames;

	if (table->lines_fd < 0)
		return true;
	table->asked_ns = clock_mono_ns();
	frame_cache_find(&cache->frames, elf_cache_place(table, file_offset), &state, &frames);
	if (state != FRAMES_PROVISIONAL)
		return state == FRAMES_FINAL;
	if (elf_table_want_lines(table, file_offset) < 0)
		return true;
	return elf_cache_resolve(cache, table, file_offset, FRAMES_ASKED) < 0;
}

bool elf_cache_ask(struct elf_cache *cache, uint32_t id, uint64_t file_offset)
{
	struct elf_table *table = NULL;
	enum elf_file_state state;

	if (file_offset >> OFFSET_BITS != 0 || get_file(cache, id, &state, &table) < 0)
		return true;
	if (state != ELF_FILE_LOADED || table->is_completing ||
	    elf_downloads_are_awaited_by(cache, table))
		return false;
	return !table->has_names || ask_for_lines(cache, table, file_offset);
}

/* Keeps the budget, also when nothing is read, and the figures that are not this module's. */
static void tidy(struct elf_cache *cache)
{
	struct symbol_client_stats worker = symbol_client_get_stats(cache->client);
	struct debuginfod_stats debuginfod = { 0 };

	if (cache->opts.debuginfod)
		debuginfod = debuginfod_get_stats(cache->opts.debuginfod);
	elf_tables_tidy(cache, NULL);

	LOCKED(cache);
	cache->stats.worker = worker;
	cache->stats.debuginfod = debuginfod;
}

/* Does one step of what there is to do. Returns 1 when all is done, 0 when it is not, -EAGAIN when the next step takes
 * a while: for a debug file to be there, or until a new worker may be started. */
static int step(struct elf_cache *cache, uint64_t until_ns)
{
	void *bytes = NULL;
	size_t len = 0;
	int error = 0;

	elf_loader_start_next(cache);
	if (!symbol_client_is_busy(cache->client))
		return cache->job.kind == JOB_NONE && !elf_downloads_are_awaited(cache) ? 1
											: -EAGAIN;
	if (symbol_client_wait(cache->client, until_ns, &error, &bytes, &len) > 0)
		elf_loader_take_answer(cache, error, bytes, len);
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

static int symbolize_in(struct elf_cache *cache, const struct elf_table *table,
			uint64_t file_offset, struct symbol_frames *ret_frames)
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
	struct elf_table *table = NULL;
	enum elf_file_state state;

	*ret_frames = (struct symbol_frames){ .address = file_offset };
	int r = get_file(cache, id, &state, &table);
	if (r < 0)
		return r;
	if (!table || file_offset >> OFFSET_BITS != 0)
		return -ENOENT;
	return symbolize_in(cache, table, file_offset, ret_frames);
}

bool elf_cache_wants_file(struct elf_cache *cache, uint32_t id)
{
	LOCKED(cache);
	const struct elf_file *file = elf_files_get(&cache->files, id);

	return !file || wants_reopening(file);
}

void elf_cache_count(struct elf_cache *cache, uint64_t *counter, uint64_t nr)
{
	LOCKED(cache);
	*counter += nr;
}

const char *elf_cache_build_id(struct elf_cache *cache, uint32_t id)
{
	LOCKED(cache);
	const struct elf_file *file = elf_files_get(&cache->files, id);

	return file ? file->build_id : "";
}

uint64_t elf_cache_size(struct elf_cache *cache, uint32_t id)
{
	LOCKED(cache);
	const struct elf_file *file = elf_files_get(&cache->files, id);

	return file ? file->identity.size : 0;
}

struct elf_cache_stats elf_cache_get_stats(struct elf_cache *cache)
{
	LOCKED(cache);
	struct elf_cache_stats stats = cache->stats;

	stats.nr_files = cache->files.nr_slots;
	return stats;
}

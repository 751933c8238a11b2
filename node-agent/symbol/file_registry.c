/* SPDX-License-Identifier: Apache-2.0 */
/* The files of an ELF cache: who opens them, which wait to be read, what came of them. The reader's side, and all that
 * the lock covers but the counters. */
#include "symbol/elf_cache_parts.h"

#include "base/clock.h"
#include "unwind/file/elf_rows.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FAILURES 3 /* then a file is not opened again */

static void remove_waiting(struct elf_cache *cache, size_t i)
{
	size_t nr_behind = --cache->stats.nr_waiting - i;

	memmove(&cache->waiting[i], &cache->waiting[i + 1], nr_behind * sizeof(cache->waiting[0]));
}

static void release_victim(struct elf_cache *cache, struct known_file *victim)
{
	for (size_t i = 0; i < cache->stats.nr_waiting; i++)
		if (cache->waiting[i] == victim->id)
			remove_waiting(cache, i--);
	known_file_release(victim);
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
static bool wants_reopening(const struct known_file *file)
{
	const struct name_table *table = file->table;
	uint64_t since_ns = file->failed_ns;

	if (file->nr_failures >= MAX_FAILURES)
		return false;
	if (file->state == FILE_LOADED) {
		if (table->has_names && !table->wants_files)
			return false;
		if (table->dropped_ns > since_ns)
			since_ns = table->dropped_ns;
	} else if (file->state != FILE_BAD) {
		return false;
	}
	return clock_mono_ns() - since_ns >= ELF_CACHE_REOPEN_NS;
}

static void use_file(struct elf_cache *cache, struct known_file *file, uint64_t owner)
{
	file->last_use = ++cache->nr_uses;
	file_owners_add(&file->owners, owner);
	if (file->table)
		file_owners_add(&file->table->owners, owner);
}

/* The file with that identity, a new one where there is none. */
static int take_file(struct elf_cache *cache, const struct file_identity *identity, uint64_t owner,
		     struct known_file **ret_file, bool *ret_is_new)
{
	struct known_file *file = file_index_find(&cache->files, identity);

	*ret_is_new = !file;
	if (!file) {
		struct known_file *victim = file_index_next_victim(&cache->files);

		if (victim)
			release_victim(cache, victim);
		int r = file_index_add(&cache->files, identity, &file);
		if (r < 0)
			return r;
	}
	use_file(cache, file, owner);
	*ret_file = file;
	return 0;
}

/* Whether there is room for one more file of an owner. */
static bool may_wait(const struct elf_cache *cache, uint64_t owner)
{
	size_t nr = 0;

	for (size_t i = 0; i < cache->stats.nr_waiting; i++)
		nr += file_index_get(&cache->files, cache->waiting[i])->owners.ids[0] == owner;
	return cache->stats.nr_waiting < ELF_CACHE_MAX_OPEN &&
	       (owner == 0 || nr < ELF_CACHE_MAX_OPEN_EACH);
}

/* Puts an open file among those that wait, unless another thread was faster. Takes over what is open on success. */
static int add_waiting(struct elf_cache *cache, const struct file_identity *identity,
		       uint64_t owner, struct known_file *opened, uint32_t *ret_id)
{
	struct known_file *file;
	bool is_new;
	LOCKED(cache);

	if (!may_wait(cache, owner))
		return -ENOSPC;
	int r = take_file(cache, identity, owner, &file, &is_new);
	if (r < 0)
		return r;
	if (is_new || wants_reopening(file)) {
		file->fd = take_fd(opened->fd);
		file->root_fd = take_fd(opened->root_fd);
		file->path = take_ptr(opened->path);
		file->state = FILE_WAITING;
		cache->waiting[cache->stats.nr_waiting++] = file->id;
	}
	*ret_id = file->id;
	return 0;
}

/* The id of a file that is known and need not be opened; else 0, or -ENOSPC when no more may wait. */
static int find_known(struct elf_cache *cache, const struct file_identity *identity, uint64_t owner,
		      uint32_t *ret_id)
{
	LOCKED(cache);
	struct known_file *file = file_index_find(&cache->files, identity);

	if (file)
		use_file(cache, file, owner);
	*ret_id = file && !wants_reopening(file) ? file->id : 0;
	return *ret_id == 0 && !may_wait(cache, owner) ? -ENOSPC : 0;
}

/* Where debug files of the program may be, when it is gone. Without it there are the host's to look at. */
static void open_root(struct elf_cache *cache, uint32_t pid, struct known_file *opened)
{
	if (cache->opts.debug_files.host_root_fd < 0)
		return;
	int r = file_opener_open_root(cache->opts.proc_fd, pid, &opened->root_fd);
	(void)r; /* root_fd stays -EBADF */
}

static int open_pinned(struct elf_cache *cache, uint64_t owner, uint32_t pid, const char *path,
		       const struct pinned_file *pinned, uint32_t *ret_id)
{
	_cleanup_(known_file_release) struct known_file opened = { .fd = -EBADF,
								   .root_fd = -EBADF };
	uint32_t known_id;

	int r = find_known(cache, &pinned->identity, owner, &known_id);
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
	return add_waiting(cache, &pinned->identity, owner, &opened, ret_id);
}

int elf_cache_open(struct elf_cache *cache, uint64_t owner, uint32_t pid,
		   const struct mapping *mapping, uint32_t *ret_id)
{
	_cleanup_(file_opener_unpin) struct pinned_file pinned = { .fd = -EBADF };

	int r = file_opener_pin(cache->opts.proc_fd, pid, mapping, &pinned);
	if (r == 0)
		r = open_pinned(cache, owner, pid, mapping->file->path, &pinned, ret_id);
	if (r < 0) {
		LOCKED(cache);
		cache->stats.nr_open_failures++;
	}
	return r;
}

int elf_cache_open_file(struct elf_cache *cache, uint64_t owner, const char *path, int *fd,
			uint32_t *ret_id)
{
	_cleanup_(known_file_release) struct known_file opened = { .fd = take_fd(*fd),
								   .root_fd = -EBADF };
	struct pinned_file pinned;
	uint32_t known_id = 0;

	int r = file_opener_look_at(opened.fd, &pinned);
	if (r == 0)
		r = find_known(cache, &pinned.identity, owner, &known_id);
	if (r < 0)
		return r;
	if (known_id != 0) {
		*ret_id = known_id;
		return 0;
	}
	opened.path = path ? strdup(path) : NULL;
	return add_waiting(cache, &pinned.identity, owner, &opened, ret_id);
}

void elf_cache_open_vdso(struct elf_cache *cache)
{
	_cleanup_(known_file_release) struct known_file opened = { .fd = -EBADF,
								   .root_fd = -EBADF };
	struct pinned_file pinned;

	if (elf_rows_open_vdso(&opened.fd) < 0 || file_opener_look_at(opened.fd, &pinned) < 0)
		return;
	int r = add_waiting(cache, &pinned.identity, 0, &opened, &cache->vdso);
	(void)r; /* vdso stays 0: its code is named by offset */
}

/* Which of two files comes first, of those of the same rank. */
static bool is_before(const struct known_file *file, const struct known_file *other, bool oldest)
{
	return !oldest && file->identity.size < other->identity.size;
}

/* The place in the list of the file that a lane reads next: of those of the best rank the oldest or the smallest one, as files
 * take the longer the larger they are. False when there is none. */
static bool find_next(const struct elf_cache *cache, enum worker_lane lane, bool oldest,
		      size_t *ret_place)
{
	const struct known_file *best = NULL;
	enum worker_rank best_rank = WORKER_RANK_LATE;
	uint64_t now_ns = clock_mono_ns();

	for (size_t i = 0; i < cache->stats.nr_waiting; i++) {
		const struct known_file *file = file_index_get(&cache->files, cache->waiting[i]);

		if (file_owners_lane(&file->owners, cache->lanes, now_ns) != lane)
			continue;
		enum worker_rank rank = file_owners_rank(&file->owners, cache->lanes, now_ns);
		if (best &&
		    (rank > best_rank || (rank == best_rank && !is_before(file, best, oldest))))
			continue;
		best = file;
		best_rank = rank;
		*ret_place = i;
	}
	return best != NULL;
}

bool elf_cache_take_waiting(struct elf_cache *cache, enum worker_lane lane, bool oldest,
			    struct known_file *ret_file)
{
	size_t i = 0;
	LOCKED(cache);

	if (!find_next(cache, lane, oldest, &i))
		return false;
	struct known_file *file = file_index_get(&cache->files, cache->waiting[i]);
	remove_waiting(cache, i);
	*ret_file = *file;
	file->fd = -EBADF;
	file->root_fd = -EBADF;
	file->path = NULL;
	file->state = FILE_LOADING;
	return true;
}

bool elf_cache_put_back(struct elf_cache *cache, struct known_file *file)
{
	LOCKED(cache);
	struct known_file *known = file_index_get(&cache->files, file->id);

	if (!known || cache->stats.nr_waiting == ELF_CACHE_MAX_OPEN)
		return false;
	known->fd = take_fd(file->fd);
	known->root_fd = take_fd(file->root_fd);
	known->path = take_ptr(file->path);
	known->state = FILE_WAITING;
	cache->waiting[cache->stats.nr_waiting++] = known->id;
	return true;
}

static void fail_file(struct elf_cache *cache, struct known_file *file, int error)
{
	cache->stats.nr_bad_files++;
	file->state = file->table ? FILE_LOADED : FILE_BAD;
	file->error = error;
	file->failed_ns = clock_mono_ns();
	file->nr_failures = is_passing(error) ? file->nr_failures + 1 : MAX_FAILURES;
}

void elf_cache_finish_file(struct elf_cache *cache, uint32_t id, struct name_table *table,
			   int error)
{
	LOCKED(cache);
	struct known_file *file = file_index_get(&cache->files, id);

	if (error < 0) {
		fail_file(cache, file, error);
		return;
	}
	if (file->table)
		file->table->nr_refs--;
	table->nr_refs++;
	file_owners_merge(&table->owners, &file->owners);
	table->wants_files = false;
	table->is_kept |= id == cache->vdso;
	if (file->last_use > table->last_use)
		table->last_use = file->last_use;
	file->table = table;
	file->state = FILE_LOADED;
	file->nr_failures = 0;
}

bool elf_cache_wants_file(struct elf_cache *cache, uint32_t id)
{
	LOCKED(cache);
	const struct known_file *file = file_index_get(&cache->files, id);

	return !file || wants_reopening(file);
}

struct build_ids elf_cache_build_ids(struct elf_cache *cache, uint32_t id)
{
	LOCKED(cache);
	const struct known_file *file = file_index_get(&cache->files, id);

	if (!file || !file->table)
		return BUILD_IDS_UNKNOWN;
	const struct elf_symbols_info *info = elf_symbols_info(file->table->symbols);
	return (struct build_ids){ info->build_id, info->go_build_id, info->htlhash };
}

uint64_t elf_cache_size(struct elf_cache *cache, uint32_t id)
{
	LOCKED(cache);
	const struct known_file *file = file_index_get(&cache->files, id);

	return file ? file->identity.size : 0;
}

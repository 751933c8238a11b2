/* SPDX-License-Identifier: Apache-2.0 */
/* The lock covers the files, the counters and who refers to a table; it is never held while a file is read
 * or opened. Tables themselves are the loader's: it alone adds, searches, empties and frees them. A table
 * that no file has any more is freed at its next load, so that the reader frees nothing under its hands. */
#include "symbol/elf_cache.h"

#include "base/clock.h"
#include "base/intern.h"
#include "symbol/elf_files.h"
#include "symbol/elf_table.h"

#include <pthread.h>
#include <stdlib.h>

#define MAX_BUILD_IDS ((size_t)4 * ELF_CACHE_MAX_FILES)
#define MAX_BUILD_ID_BYTES ((size_t)32 << 20)

struct elf_cache {
	int proc_fd; /* borrowed */
	size_t max_bytes;

	pthread_mutex_t lock;
	struct elf_files files;
	struct intern build_ids;
	uint64_t nr_uses; /* counts up with each use of a file */
	struct elf_cache_stats stats;

	struct elf_table *tables; /* owned list; this and the next: the loader's */
	uint64_t deadline_ns; /* no file is read after it */
};

int elf_cache_new(int proc_fd, size_t max_bytes, struct elf_cache **ret_cache)
{
	struct elf_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return -ENOMEM;
	if (intern_init(&cache->build_ids, MAX_BUILD_IDS, MAX_BUILD_ID_BYTES) < 0) {
		free(cache);
		return -ENOMEM;
	}
	cache->proc_fd = proc_fd;
	cache->max_bytes = max_bytes;
	cache->deadline_ns = UINT64_MAX;
	pthread_mutex_init(&cache->lock, NULL);
	*ret_cache = cache;
	return 0;
}

void elf_cache_free(struct elf_cache *cache)
{
	if (!cache)
		return;
	for (struct elf_table *table = cache->tables; table;) {
		struct elf_table *next = table->next;

		elf_table_free(table);
		table = next;
	}
	elf_files_done(&cache->files);
	intern_done(&cache->build_ids);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

static void unlockp(pthread_mutex_t **lock)
{
	pthread_mutex_unlock(*lock);
}

/* Holds the cache's lock up to the end of the block. */
#define LOCKED(cache)                                                                              \
	_cleanup_(unlockp) pthread_mutex_t *locked_ = &(cache)->lock;                              \
	pthread_mutex_lock(locked_)

static void touch(struct elf_cache *cache, struct elf_file *file)
{
	file->last_use = ++cache->nr_uses;
}

/* Whether a file whose names were dropped may be read once more. */
static bool wants_reopening(const struct elf_file *file)
{
	return file->state == ELF_FILE_LOADED && !file->table->has_names &&
	       clock_mono_ns() - file->table->dropped_ns >= ELF_CACHE_REOPEN_NS;
}

/* The id of a file that is known and need not be opened; else 0, or -ENOSPC when no more may wait. */
static int find_known(struct elf_cache *cache, const struct file_identity *identity,
		      uint32_t *ret_id)
{
	LOCKED(cache);
	struct elf_file *file = elf_files_find(&cache->files, identity);

	if (file)
		touch(cache, file);
	*ret_id = file && !wants_reopening(file) ? file->id : 0;
	return *ret_id == 0 && cache->stats.nr_waiting >= ELF_CACHE_MAX_OPEN ? -ENOSPC : 0;
}

static void release_victim(struct elf_cache *cache)
{
	struct elf_file *victim = elf_files_next_victim(&cache->files);

	if (!victim)
		return;
	if (victim->fd >= 0)
		cache->stats.nr_waiting--;
	cleanup_closep(&victim->fd);
	victim->fd = -EBADF;
	if (victim->table)
		victim->table->nr_refs--;
	victim->table = NULL;
}

/* Puts an open file among those that wait, unless another thread was faster. Takes *fd over on success. */
static int add_waiting(struct elf_cache *cache, const struct file_identity *identity, int *fd,
		       uint32_t *ret_id)
{
	LOCKED(cache);
	struct elf_file *file = elf_files_find(&cache->files, identity);

	if (!file) {
		release_victim(cache);

		int r = elf_files_add(&cache->files, identity, &file);
		if (r < 0)
			return r;
	}
	touch(cache, file);
	if (file->fd < 0 && (!file->table || wants_reopening(file)) &&
	    (file->state == ELF_FILE_WAITING || file->state == ELF_FILE_LOADED)) {
		file->fd = take_fd(*fd);
		file->state = ELF_FILE_WAITING;
		cache->stats.nr_waiting++;
	}
	*ret_id = file->id;
	return 0;
}

static int open_pinned(struct elf_cache *cache, uint32_t pid, const struct pinned_file *pinned,
		       uint32_t *ret_id)
{
	uint32_t known_id;
	int fd;

	int r = find_known(cache, &pinned->identity, &known_id);
	if (r < 0)
		return r;
	if (known_id != 0) {
		*ret_id = known_id;
		return 0;
	}

	r = file_opener_open(cache->proc_fd, pid, pinned, &fd);
	if (r < 0)
		return r;
	r = add_waiting(cache, &pinned->identity, &fd, ret_id);
	cleanup_closep(&fd);
	return r;
}

int elf_cache_open(struct elf_cache *cache, uint32_t pid, const struct mapping *mapping,
		   uint32_t *ret_id)
{
	_cleanup_(file_opener_unpin) struct pinned_file pinned = { .fd = -EBADF };

	int r = file_opener_pin(cache->proc_fd, pid, mapping, &pinned);
	if (r == 0)
		r = open_pinned(cache, pid, &pinned, ret_id);
	if (r < 0) {
		LOCKED(cache);
		cache->stats.nr_open_failures++;
	}
	return r;
}

static struct elf_table *find_table(struct elf_cache *cache, const struct elf_fingerprint *print)
{
	for (struct elf_table *table = cache->tables; table; table = table->next)
		if (table->has_print && table->has_names &&
		    elf_fingerprint_is_equal(&table->print, print))
			return table;
	return NULL;
}

/* The table for an open file, of a copy or a new one. Without the lock. */
static int load_table(struct elf_cache *cache, int fd, struct elf_table **ret_table)
{
	struct elf_fingerprint print;
	bool has_print = elf_fingerprint_take(fd, cache->max_bytes / 2, &print) == 0;
	struct elf_table *table = has_print ? find_table(cache, &print) : NULL;

	if (table) {
		*ret_table = table;
		return 0;
	}

	int r = elf_table_new(fd, has_print ? &print : NULL, cache->max_bytes / 2, &table);
	if (r < 0)
		return r;
	table->next = cache->tables;
	cache->tables = table;
	*ret_table = table;
	return 0;
}

static void set_build_id(struct elf_cache *cache, struct elf_file *file)
{
	const char *build_id = elf_symbols_build_id(file->table->symbols);
	uint32_t number;

	if (intern_add(&cache->build_ids, build_id, &number) == 0)
		file->build_id = intern_get(&cache->build_ids, number);
}

static void finish_loading(struct elf_cache *cache, uint32_t id, struct elf_table *table, int error)
{
	LOCKED(cache);
	struct elf_file *file = elf_files_get(&cache->files, id);

	if (error < 0) {
		cache->stats.nr_bad_files++;
		file->state = file->table ? ELF_FILE_LOADED : ELF_FILE_BAD;
		file->error = error;
		return;
	}
	if (file->table)
		file->table->nr_refs--;
	table->nr_refs++;
	file->table = table;
	file->state = ELF_FILE_LOADED;
	set_build_id(cache, file);
}

/* Frees the tables of files that were replaced; counts the rest. */
static void sweep_tables(struct elf_cache *cache)
{
	uint64_t nr_bytes = 0;
	uint64_t nr_tables = 0;
	LOCKED(cache);

	for (struct elf_table **link = &cache->tables; *link;) {
		struct elf_table *table = *link;

		if (table->nr_refs == 0) {
			*link = table->next;
			elf_table_free(table);
			continue;
		}
		nr_bytes += elf_table_bytes(table);
		nr_tables += table->has_names;
		link = &table->next;
	}
	cache->stats.nr_bytes = nr_bytes;
	cache->stats.nr_tables = nr_tables;
}

static struct elf_table *find_least_used(struct elf_cache *cache, const struct elf_table *except)
{
	struct elf_table *least = NULL;

	for (struct elf_table *table = cache->tables; table; table = table->next)
		if (table != except && table->has_names &&
		    (!least || table->last_use < least->last_use))
			least = table;
	return least;
}

/* Drops names until the budget is kept; never those of the table in use, whose size is bounded. */
static void evict(struct elf_cache *cache, const struct elf_table *in_use)
{
	while (cache->stats.nr_bytes > cache->max_bytes) {
		struct elf_table *table = find_least_used(cache, in_use);

		if (!table)
			return;

		LOCKED(cache);
		size_t before = elf_table_bytes(table);
		elf_table_drop_names(table, clock_mono_ns());
		cache->stats.nr_bytes -= before - elf_table_bytes(table);
		cache->stats.nr_tables--;
		cache->stats.nr_evicted++;
	}
}

static void load_file(struct elf_cache *cache, uint32_t id, int fd)
{
	struct elf_table *table = NULL;

	int r = load_table(cache, fd, &table);
	finish_loading(cache, id, table, r);
	sweep_tables(cache);
	evict(cache, table);
}

/* The table of a file; where the file is still to be read, its descriptor in *ret_fd instead. */
static int get_table(struct elf_cache *cache, uint32_t id, int *ret_fd,
		     struct elf_table **ret_table)
{
	LOCKED(cache);
	struct elf_file *file = elf_files_get(&cache->files, id);

	if (!file)
		return -ENOENT;
	touch(cache, file);
	if (file->fd >= 0 && clock_mono_ns() < cache->deadline_ns) {
		*ret_fd = take_fd(file->fd);
		file->state = ELF_FILE_LOADING;
		cache->stats.nr_waiting--;
	}
	*ret_table = file->table;
	if (file->table)
		file->table->last_use = file->last_use;
	return file->state == ELF_FILE_BAD ? file->error : 0;
}

static int get_loaded_table(struct elf_cache *cache, uint32_t id, struct elf_table **ret_table)
{
	_cleanup_close_ int fd = -EBADF;
	int no_fd = -EBADF;

	int r = get_table(cache, id, &fd, ret_table);
	if (r < 0 || fd < 0)
		return r;
	load_file(cache, id, fd);
	return get_table(cache, id, &no_fd, ret_table);
}

static int symbolize_in(struct elf_cache *cache, struct elf_table *table, uint64_t file_offset,
			struct elf_frame *ret_frame)
{
	size_t before = elf_table_bytes(table);
	int r = elf_table_symbolize(table, file_offset, cache->max_bytes / 4, ret_frame);
	size_t after = elf_table_bytes(table);

	if (after == before)
		return r;
	pthread_mutex_lock(&cache->lock);
	cache->stats.nr_bytes += after - before;
	pthread_mutex_unlock(&cache->lock);
	evict(cache, table);
	return r;
}

int elf_cache_symbolize(struct elf_cache *cache, uint32_t id, uint64_t file_offset,
			struct elf_frame *ret_frame)
{
	struct elf_table *table = NULL;

	*ret_frame = (struct elf_frame){ .address = file_offset };
	int r = get_loaded_table(cache, id, &table);
	if (r < 0)
		return r;
	return table ? symbolize_in(cache, table, file_offset, ret_frame) : -ENOENT;
}

void elf_cache_set_deadline(struct elf_cache *cache, uint64_t deadline_ns)
{
	cache->deadline_ns = deadline_ns;
}

/* Any of those that wait, or 0. */
static uint32_t find_waiting(struct elf_cache *cache)
{
	LOCKED(cache);
	if (cache->stats.nr_waiting == 0)
		return 0;
	for (size_t i = 0; i < cache->files.nr_slots; i++)
		if (cache->files.slots[i].fd >= 0)
			return cache->files.slots[i].id;
	return 0;
}

bool elf_cache_read_next(struct elf_cache *cache)
{
	struct elf_table *table;
	uint32_t id = clock_mono_ns() < cache->deadline_ns ? find_waiting(cache) : 0;

	if (id != 0)
		(void)get_loaded_table(cache, id, &table);
	return id != 0;
}

bool elf_cache_wants_file(struct elf_cache *cache, uint32_t id)
{
	LOCKED(cache);
	const struct elf_file *file = elf_files_get(&cache->files, id);

	return file && wants_reopening(file);
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

/* SPDX-License-Identifier: Apache-2.0 */
/* A file is a struct file_head and the bytes of a table. All of the head follows from key and
 * table, so reading is making the head again and comparing.
 *
 * What is in the directory is not remembered: it is read when the cache is opened, and again
 * when it is full. Then an eighth of it goes, so that this is rare. */
#include "unwind/file/row_cache.h"

#include "base/cold_file.h"
#include "base/fileio.h"
#include "base/hash.h"
#include "base/own_dir.h"
#include "unwind/file/row_seed.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TOUCH_AFTER_SECONDS 3600

struct file_head {
	uint64_t magic;
	uint64_t version;
	uint64_t nr_bytes; /* of the table */
	uint64_t key_hash[2];
	char build_id[(2 * ELF_BUILD_ID_MAX + 1 + 7) / 8 * 8];
	uint64_t checksum[2]; /* of the head with the table's own here */
};

struct row_cache {
	const struct row_cache_kind *kind; /* borrowed */
	int dir_fd; /* owned */
	uint64_t max_bytes;
	uint64_t seed;
	struct row_cache_stats stats;
};

const struct row_cache_kind row_cache_unwind_tables = {
	.suffix = ".rows",
	.magic = UINT64_C(0x3153574f52454c46), /* "FLEROWS1" */
	.version = ROW_CACHE_VERSION,
	.is_valid = row_table_is_valid,
};

static struct file_head make_head(const struct row_cache *cache, const struct elf_rows_key *key,
				  const struct row_table_bytes *table)
{
	struct file_head head = {
		.magic = cache->kind->magic,
		.version = cache->kind->version,
		.nr_bytes = table->len,
		.key_hash = { key->hash[0], key->hash[1] },
	};
	struct file_head content;

	memcpy(head.build_id, key->build_id, strlen(key->build_id));
	content = head;
	hash_128(table->data, table->len, content.checksum);
	hash_128(&content, sizeof(content), head.checksum);
	return head;
}

/* Removes the least recently used tables until no more than `limit` bytes are left. */
static int evict(struct row_cache *cache, uint64_t limit)
{
	_cleanup_(row_cache_files_done) struct row_cache_files files = { 0 };
	struct row_cache_stats *stats = &cache->stats;
	int r = row_cache_files_load(&files, cache->dir_fd, cache->kind, &stats->nr_evicted);

	if (r < 0)
		return r;
	stats->nr_bytes = files.nr_bytes;
	for (size_t i = 0; i < files.nr_items && stats->nr_bytes > limit; i++) {
		if (unlinkat(cache->dir_fd, files.items[i].name, 0) < 0)
			continue;
		stats->nr_bytes -= files.items[i].bytes;
		stats->nr_evicted++;
	}
	return 0;
}

int row_cache_open(const char *path, const struct row_cache_kind *kind, uint64_t max_bytes,
		   struct strbuf *reterr_msg, struct row_cache **ret_cache)
{
	_cleanup_(row_cache_closep) struct row_cache *cache = calloc(1, sizeof(*cache));
	int r;

	if (!cache)
		return -ENOMEM;
	*cache = (struct row_cache){ .kind = kind, .dir_fd = -EBADF, .max_bytes = max_bytes };
	r = own_dir_open(path, OWN_DIR_FOR_FILES, OWN_DIR_MAKE_ALL, reterr_msg, &cache->dir_fd);
	if (r < 0)
		return r;
	r = evict(cache, max_bytes);
	if (r == 0)
		r = row_seed_load(cache->dir_fd, &cache->seed);
	if (r < 0) {
		strbuf_appendf(reterr_msg, "%s: %s", path, strerror(-r));
		return r;
	}
	*ret_cache = take_ptr(cache);
	return 0;
}

void row_cache_close(struct row_cache *cache)
{
	if (!cache)
		return;
	if (cache->dir_fd >= 0)
		close(cache->dir_fd);
	free(cache);
}

/* Checks that a file is one of ours. Sets the number of bytes of its table. */
static int check_file(const struct row_cache *cache, const struct stat *st, size_t *ret_len)
{
	uint64_t bytes = (uint64_t)st->st_size;

	if (!S_ISREG(st->st_mode) || st->st_uid != geteuid() ||
	    (st->st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return -EBADMSG;
	if (bytes <= sizeof(struct file_head) || bytes > cache->max_bytes)
		return -EBADMSG;
	*ret_len = bytes - sizeof(struct file_head);
	return 0;
}

static int read_table(const struct row_cache *cache, int fd, const struct elf_rows_key *key,
		      size_t len, struct row_table_bytes *ret_table)
{
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { .len = len };
	struct file_head head, expected;
	int r = fd_read_all(fd, &head, sizeof(head));

	if (r < 0)
		return r;
	table.data = malloc(len);
	if (!table.data)
		return -ENOMEM;
	r = fd_read_all(fd, table.data, len);
	if (r < 0)
		return r;
	expected = make_head(cache, key, &table);
	if (memcmp(&head, &expected, sizeof(head)) != 0 || !cache->kind->is_valid(table.data, len))
		return -EBADMSG;
	*ret_table = table;
	table.data = NULL;
	return 0;
}

/* Notes when a file was used, in its modification time. Precision to the hour saves a write for
 * each read. */
static void touch(int fd, const struct stat *st)
{
	static const struct timespec now[2] = { { .tv_nsec = UTIME_OMIT },
						{ .tv_nsec = UTIME_NOW } };
	int64_t age = time(NULL) - st->st_mtim.tv_sec;

	if (age < 0 || age > TOUCH_AFTER_SECONDS)
		(void)!futimens(fd, now);
}

static int read_file(const struct row_cache *cache, const char *name,
		     const struct elf_rows_key *key, struct row_table_bytes *ret_table)
{
	_cleanup_close_ int fd = openat(cache->dir_fd, name,
					O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	size_t len;
	int r;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	r = check_file(cache, &st, &len);
	if (r == 0)
		r = read_table(cache, fd, key, len, ret_table);
	if (r == 0)
		touch(fd, &st);
	cold_file_drop_all(fd);
	return r;
}

/* Returns the size of a file; 0 if there is none. */
static uint64_t size_of(const struct row_cache *cache, const char *name)
{
	struct stat st;

	if (fstatat(cache->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return 0;
	return (uint64_t)st.st_size;
}

/* Subtracts bytes from the estimate. Other processes may have removed files as well, so it is
 * exact only after an eviction. */
static void forget_bytes(struct row_cache *cache, uint64_t bytes)
{
	uint64_t *nr_bytes = &cache->stats.nr_bytes;

	*nr_bytes -= bytes < *nr_bytes ? bytes : *nr_bytes;
}

static void remove_bad_file(struct row_cache *cache, const char *name)
{
	uint64_t bytes = size_of(cache, name);

	cache->stats.nr_bad_files++;
	if (unlinkat(cache->dir_fd, name, 0) == 0)
		forget_bytes(cache, bytes);
}

int row_cache_get(struct row_cache *cache, const struct elf_rows_key *key,
		  struct row_table_bytes *ret_table)
{
	char name[ROW_CACHE_NAME_MAX];
	int r = row_cache_files_name(cache->kind, key, name);

	if (r == 0)
		r = read_file(cache, name, key, ret_table);
	if (r == 0) {
		cache->stats.nr_hits++;
		return 0;
	}
	cache->stats.nr_misses++;
	if (r == -ENOMEM)
		return r;
	if (r == -EBADMSG || r == -ELOOP)
		remove_bad_file(cache, name);
	return -ENOENT;
}

static int write_file(const struct row_cache *cache, const char *name, const struct file_head *head,
		      const struct row_table_bytes *table)
{
	char temp[ROW_CACHE_NAME_MAX];
	const struct file_content content = {
		.name = name,
		.temp_name = temp,
		.mode = 0600,
		.parts = { { head, sizeof(*head) }, { table->data, table->len } },
	};
	int r = row_cache_files_temp_name(temp);

	return r < 0 ? r : file_replace_at(cache->dir_fd, &content);
}

static int make_room(struct row_cache *cache, uint64_t bytes)
{
	uint64_t max = cache->max_bytes, limit = max - max / 8;
	int r;

	if (bytes > max)
		return -ENOSPC;
	if (cache->stats.nr_bytes <= max - bytes)
		return 0;
	r = evict(cache, limit < max - bytes ? limit : max - bytes);
	return r == 0 && cache->stats.nr_bytes > max - bytes ? -ENOSPC : r;
}

static int put(struct row_cache *cache, const struct elf_rows_key *key,
	       const struct row_table_bytes *table)
{
	char name[ROW_CACHE_NAME_MAX];
	uint64_t bytes = sizeof(struct file_head) + table->len, old_bytes;
	struct file_head head;
	int r = row_cache_files_name(cache->kind, key, name);

	if (r == 0)
		r = make_room(cache, bytes);
	if (r < 0)
		return r;
	old_bytes = size_of(cache, name);
	head = make_head(cache, key, table);
	r = write_file(cache, name, &head, table);
	if (r < 0)
		return r;
	forget_bytes(cache, old_bytes);
	cache->stats.nr_bytes += bytes;
	return 0;
}

void row_cache_put(struct row_cache *cache, const struct elf_rows_key *key,
		   const struct row_table_bytes *table)
{
	if (put(cache, key, table) < 0)
		cache->stats.nr_write_failures++;
}

uint64_t row_cache_get_seed(const struct row_cache *cache)
{
	return cache->seed;
}

struct row_cache_stats row_cache_get_stats(const struct row_cache *cache)
{
	return cache->stats;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/debuginfod/debuginfod_cache.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/own_dir.h"
#include "elf/build_id.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define SCAN_MAX_ENTRIES (4 * DEBUGINFOD_CACHE_MAX_IDS) /* all entries of the directory count */
#define ID_MAX_ENTRIES 4096 /* per build id; includes source files */
#define REFUSAL_MAX_BYTES 8192
#define BLOCK_BYTES 512 /* unit of st_blocks on every file system */

/* If the cache is over its limit, files are removed down to 90 % of it, so that not every new file
 * causes another scan. */
#define KEEP(bytes) ((bytes) / 10 * 9)

struct cached_id {
	char name[BUILD_ID_MAX_DIGITS + 1];
	uint64_t bytes;
	int64_t used_ns; /* time of the last access to one of its files */
};

struct listing {
	struct cached_id *ids; /* owned */
	size_t nr_ids, cap_ids;
	uint64_t nr_bytes;
};

typedef void file_fn(int dir_fd, const char *name, const struct stat *st, void *data);

static void listing_done(struct listing *listing)
{
	free(listing->ids);
}

int debuginfod_cache_open(const char *path, uint64_t max_bytes, struct debuginfod_cache *ret_cache)
{
	_cleanup_(strbuf_done) struct strbuf refusal = strbuf_with_max(REFUSAL_MAX_BYTES);
	int fd = -EBADF;

	int r = own_dir_open(path, OWN_DIR_FOR_FILES, OWN_DIR_MAKE_ALL, &refusal, &fd);
	if (r < 0)
		return r;
	*ret_cache = (struct debuginfod_cache){ fd, max_bytes, UINT64_MAX };
	return 0;
}

void debuginfod_cache_close(struct debuginfod_cache *cache)
{
	cleanup_closep(&cache->dir_fd);
	cache->dir_fd = -EBADF;
}

static bool begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Returns whether libdebuginfod writes files of that name, including unfinished ones. */
static bool is_librarys(const char *name)
{
	static const char *const whole[] = { "debuginfo", "executable" };

	for (size_t i = 0; i < array_len(whole); i++) {
		const char *rest = name + strlen(whole[i]);

		if (begins_with(name, whole[i]) && (*rest == '\0' || *rest == '.'))
			return true;
	}
	return begins_with(name, "source") || begins_with(name, "section-") ||
	       begins_with(name, "hdr-");
}

/* Returns NULL and sets errno on failure. */
static DIR *open_directory(int dir_fd, const char *name)
{
	_cleanup_close_ int fd = openat(dir_fd, name,
					O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (dir)
		(void)take_fd(fd);
	return dir;
}

/* Calls `fn` for each file of a build id. Files that cannot be examined are skipped. */
static void visit_files(int cache_fd, const char *build_id, file_fn *fn, void *data)
{
	_cleanup_closedir_ DIR *dir = open_directory(cache_fd, build_id);
	const struct dirent *entry;
	struct stat st;

	if (!dir)
		return;
	for (int i = 0; i < ID_MAX_ENTRIES && (entry = readdir(dir)); i++) {
		const char *name = entry->d_name;

		if (is_librarys(name) && fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			fn(dirfd(dir), name, &st, data);
	}
}

static int64_t latest_use_ns(const struct stat *st)
{
	int64_t read_ns = st->st_atim.tv_sec * INT64_C(1000000000) + st->st_atim.tv_nsec;
	int64_t written_ns = st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec;

	return read_ns > written_ns ? read_ns : written_ns;
}

static void count_file(int dir_fd, const char *name, const struct stat *st, void *data)
{
	struct cached_id *id = data;
	int64_t used_ns = latest_use_ns(st);

	(void)dir_fd;
	(void)name;
	id->bytes += (uint64_t)st->st_blocks * BLOCK_BYTES;
	if (used_ns > id->used_ns)
		id->used_ns = used_ns;
}

static void touch_file(int dir_fd, const char *name, const struct stat *st, void *data)
{
	const struct timespec times[] = { { .tv_nsec = UTIME_NOW }, { .tv_nsec = UTIME_OMIT } };

	(void)st;
	(void)data;
	utimensat(dir_fd, name, times, AT_SYMLINK_NOFOLLOW);
}

static void remove_file(int dir_fd, const char *name, const struct stat *st, void *data)
{
	(void)st;
	(void)data;
	unlinkat(dir_fd, name, 0);
}

static void remove_id(int cache_fd, const char *build_id)
{
	visit_files(cache_fd, build_id, remove_file, NULL);
	unlinkat(cache_fd, build_id, AT_REMOVEDIR);
}

static int list_id(struct listing *listing, int cache_fd, const char *name)
{
	struct cached_id id = { .bytes = DEBUGINFOD_CACHE_ID_BYTES };
	int r = array_grow(listing->ids, listing->cap_ids, listing->nr_ids + 1,
			   DEBUGINFOD_CACHE_MAX_IDS);

	if (r == -ENOSPC)
		remove_id(cache_fd, name);
	if (r < 0)
		return r == -ENOSPC ? 0 : r;
	memcpy(id.name, name, strnlen(name, sizeof(id.name) - 1));
	visit_files(cache_fd, name, count_file, &id);
	listing->ids[listing->nr_ids++] = id;
	listing->nr_bytes += id.bytes;
	return 0;
}

static int list_ids(struct listing *listing, int cache_fd)
{
	_cleanup_closedir_ DIR *dir = open_directory(cache_fd, ".");
	const struct dirent *entry;
	int r = 0;

	if (!dir)
		return -errno;
	for (int i = 0; r == 0 && i < SCAN_MAX_ENTRIES && (entry = readdir(dir)); i++) {
		if (build_id_is_valid(entry->d_name))
			r = list_id(listing, cache_fd, entry->d_name);
	}
	return r;
}

static int compare_use(const void *left, const void *right)
{
	const struct cached_id *a = left, *b = right;

	if (a->used_ns != b->used_ns)
		return a->used_ns < b->used_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int trim(struct debuginfod_cache *cache)
{
	_cleanup_(listing_done) struct listing listing = { 0 };
	int r = list_ids(&listing, cache->dir_fd);

	if (r < 0)
		return r;
	if (listing.nr_bytes > cache->max_bytes) {
		qsort(listing.ids, listing.nr_ids, sizeof(*listing.ids), compare_use);
		for (size_t i = 0; i < listing.nr_ids && listing.nr_bytes > KEEP(cache->max_bytes);
		     i++) {
			remove_id(cache->dir_fd, listing.ids[i].name);
			listing.nr_bytes -= listing.ids[i].bytes;
		}
	}
	cache->nr_bytes = listing.nr_bytes;
	return 0;
}

void debuginfod_cache_use(struct debuginfod_cache *cache, const char *build_id)
{
	visit_files(cache->dir_fd, build_id, touch_file, NULL);
}

int debuginfod_cache_grow(struct debuginfod_cache *cache, uint64_t nr_bytes)
{
	nr_bytes += DEBUGINFOD_CACHE_ID_BYTES;
	if (cache->max_bytes >= nr_bytes && cache->nr_bytes <= cache->max_bytes - nr_bytes) {
		cache->nr_bytes += nr_bytes;
		return 0;
	}
	return trim(cache);
}

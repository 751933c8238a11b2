/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/file/row_cache_files.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/hex.h"
#include "base/parse.h"
#include "base/random.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMP_SUFFIX ".rows-temp"

/* Of the directory, including files that are not the cache's. */
#define SCAN_MAX_ENTRIES (4 * ROW_CACHE_MAX_FILES)

enum entry_class {
	ENTRY_FOREIGN,
	ENTRY_TABLE,
	ENTRY_STALE, /* to be removed */
};

static enum entry_class classify(const char *name, const struct row_cache_kind *kind)
{
	size_t stem_len = strspn(name, "0123456789abcdef-");
	const char *suffix = name + stem_len;
	uint32_t version;

	if (stem_len == 0)
		return ENTRY_FOREIGN;
	if (strcmp(suffix, TEMP_SUFFIX) == 0)
		return ENTRY_STALE;
	if (strncmp(suffix, kind->suffix, strlen(kind->suffix)) != 0 ||
	    parse_u32(suffix + strlen(kind->suffix), &version) < 0)
		return ENTRY_FOREIGN;
	return version == kind->version ? ENTRY_TABLE : ENTRY_STALE;
}

static int add_file(struct row_cache_files *files, const char *name, const struct stat *st)
{
	struct row_cache_file *file;
	int r = array_grow(files->items, files->cap_items, files->nr_items + 1,
			   ROW_CACHE_MAX_FILES);

	if (r < 0)
		return r;
	file = &files->items[files->nr_items++];
	snprintf(file->name, sizeof(file->name), "%s", name);
	file->bytes = (uint64_t)st->st_size;
	file->used_ns = st->st_mtim.tv_sec * (int64_t)NSEC_PER_SEC + st->st_mtim.tv_nsec;
	files->nr_bytes += file->bytes;
	return 0;
}

static int take_entry(struct row_cache_files *files, int dir_fd, const char *name,
		      enum entry_class class, uint64_t *nr_evicted)
{
	struct stat st;
	int r;

	if (class == ENTRY_FOREIGN || fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode))
		return 0;
	if (class == ENTRY_STALE) {
		unlinkat(dir_fd, name, 0);
		return 0;
	}
	r = add_file(files, name, &st);
	if (r != -ENOSPC)
		return r;
	if (unlinkat(dir_fd, name, 0) == 0)
		++*nr_evicted;
	return 0;
}

static int compare_use(const void *left, const void *right)
{
	const struct row_cache_file *a = left, *b = right;

	if (a->used_ns != b->used_ns)
		return a->used_ns < b->used_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

int row_cache_files_load(struct row_cache_files *files, int dir_fd,
			 const struct row_cache_kind *kind, uint64_t *nr_evicted)
{
	_cleanup_closedir_ DIR *dir = NULL;
	const struct dirent *entry;
	int r = 0;
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	for (int i = 0; r == 0 && i < SCAN_MAX_ENTRIES && (entry = readdir(dir)); i++)
		r = take_entry(files, dir_fd, entry->d_name, classify(entry->d_name, kind),
			       nr_evicted);
	if (files->nr_items > 0)
		qsort(files->items, files->nr_items, sizeof(*files->items), compare_use);
	return r;
}

void row_cache_files_done(struct row_cache_files *files)
{
	free(files->items);
	*files = (struct row_cache_files){ 0 };
}

int row_cache_files_name(const struct row_cache_kind *kind, const struct elf_rows_key *key,
			 char ret_name[static ROW_CACHE_NAME_MAX])
{
	size_t len = strnlen(key->build_id, sizeof(key->build_id));

	if (len == sizeof(key->build_id) || !hex_is(key->build_id, len))
		return -EINVAL;
	snprintf(ret_name, ROW_CACHE_NAME_MAX, "%s-%016" PRIx64 "%016" PRIx64 "%s%" PRIu32,
		 key->build_id, key->hash[0], key->hash[1], kind->suffix, kind->version);
	return 0;
}

int row_cache_files_temp_name(char ret_name[static ROW_CACHE_NAME_MAX])
{
	uint64_t random;

	int r = random_bytes(&random, sizeof(random));
	if (r < 0)
		return r;
	snprintf(ret_name, ROW_CACHE_NAME_MAX, "%016" PRIx64 TEMP_SUFFIX, random);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_dir.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/strview.h"
#include "store/store_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>

#define MAX_FILES 100000
#define PATH_BYTES 4096
#define LOG_SUFFIX "-wal"

/* "20261120T150000Z.db" */
static bool is_name(const char *name)
{
	static const char form[] = "00000000T000000Z" STORE_FILE_SUFFIX;
	size_t i = 0;

	for (; form[i] && name[i]; i++) {
		bool is_digit = name[i] >= '0' && name[i] <= '9';

		if (form[i] == '0' ? !is_digit : name[i] != form[i])
			return false;
	}
	return !form[i] && !name[i];
}

static uint64_t size_of(int dir_fd, const char *name, struct stat *status)
{
	if (fstatat(dir_fd, name, status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(status->st_mode))
		return 0;
	return (uint64_t)status->st_size;
}

static struct store_dir_entry look_at(int dir_fd, const char *name)
{
	struct store_dir_entry entry = { 0 };
	char log[STORE_NAME_BYTES + sizeof(LOG_SUFFIX)];
	struct stat status = { 0 }, log_status;

	snprintf(entry.name, sizeof(entry.name), "%s", name);
	snprintf(log, sizeof(log), "%s" LOG_SUFFIX, name);
	entry.bytes = size_of(dir_fd, name, &status);
	entry.changed_s = (uint64_t)status.st_mtime;
	entry.has_log = fstatat(dir_fd, log, &log_status, AT_SYMLINK_NOFOLLOW) == 0;
	entry.bytes += size_of(dir_fd, log, &log_status);
	return entry;
}

static int compare(const void *a, const void *b)
{
	const struct store_dir_entry *one = a, *other = b;

	return strcmp(one->name, other->name);
}

static int add_entries(DIR *dir, struct store_dir_list *list)
{
	const struct dirent *found;

	while ((found = readdir(dir))) {
		if (!is_name(found->d_name))
			continue;
		int r = array_grow(list->items, list->cap, list->nr + 1, MAX_FILES);
		if (r < 0)
			return r;
		list->items[list->nr++] = look_at(dirfd(dir), found->d_name);
	}
	return 0;
}

int store_dir_list(const char *path, struct store_dir_list *ret_list)
{
	_cleanup_closedir_ DIR *dir = opendir(path);
	struct store_dir_list list = { 0 };

	if (!dir)
		return -errno;
	int r = add_entries(dir, &list);
	if (r < 0) {
		store_dir_list_done(&list);
		return r;
	}
	if (list.nr > 1)
		qsort(list.items, list.nr, sizeof(*list.items), compare);
	*ret_list = list;
	return 0;
}

void store_dir_list_done(struct store_dir_list *list)
{
	free(list->items);
	*list = (struct store_dir_list){ 0 };
}

void store_dir_name(uint64_t first_s, char name[static STORE_NAME_BYTES])
{
	time_t time = (time_t)first_s;
	struct tm utc = { 0 };

	gmtime_r(&time, &utc);
	strftime(name, STORE_NAME_BYTES, "%Y%m%dT%H%M%SZ" STORE_FILE_SUFFIX, &utc);
}

int store_dir_remove(const char *dir, const char *name)
{
	static const char *const suffixes[] = { LOG_SUFFIX, "-shm", "-journal", "" };
	char path[PATH_BYTES];
	int r = 0;

	for (size_t i = 0; i < array_len(suffixes); i++) {
		snprintf(path, sizeof(path), "%s/%s%s", dir, name, suffixes[i]);
		r = unlink(path) < 0 ? -errno : 0;
	}
	return r; /* of the file itself */
}

static bool is_full(const char *dir, unsigned int min_free_percent)
{
	struct statvfs status;

	return statvfs(dir, &status) == 0 && status.f_blocks > 0 &&
	       status.f_bavail * 100 / status.f_blocks < min_free_percent;
}

static bool must_go(const struct store_dir_entry *entry, const struct store_dir_limits *limits,
		    const char *dir, uint64_t now_s, uint64_t total)
{
	return total > limits->max_bytes || now_s > entry->changed_s + limits->max_age_s ||
	       is_full(dir, limits->min_free_percent);
}

int store_dir_prune(const char *dir, const char *current, const struct store_dir_limits *limits,
		    uint64_t now_s, uint64_t *ret_bytes)
{
	_cleanup_(store_dir_list_done) struct store_dir_list list = { 0 };
	uint64_t total = limits->other_bytes;
	int nr_removed = 0;

	int r = store_dir_list(dir, &list);
	if (r < 0)
		return r;
	for (size_t i = 0; i < list.nr; i++)
		total += list.items[i].bytes;
	for (size_t i = 0; i < list.nr; i++) {
		const struct store_dir_entry *entry = &list.items[i];

		if (!must_go(entry, limits, dir, now_s, total))
			break;
		if (current && strcmp(entry->name, current) == 0)
			continue;
		if (limits->may_remove && !limits->may_remove(entry->name, limits->data))
			break;
		if (store_dir_remove(dir, entry->name) < 0)
			continue;
		total -= entry->bytes;
		nr_removed++;
	}
	*ret_bytes = total;
	return is_full(dir, limits->min_free_percent) ? -ENOSPC : nr_removed;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "store/recorder_dir.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/own_dir.h"
#include "store/store_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#define DAY_S 86400

static int lock(struct recorder_dir *dir, struct strbuf *reterr_msg)
{
	dir->lock_fd = openat(dir->dir_fd, STORE_DIR_LOCK,
			      O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (dir->lock_fd < 0) {
		int r = -errno;

		strbuf_appendf(reterr_msg, "%s/" STORE_DIR_LOCK ": %s", dir->path, strerror(-r));
		return r;
	}
	if (flock(dir->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	strbuf_appendf(reterr_msg, "another flamelet writes the record in %s", dir->path);
	return -EBUSY;
}

int recorder_dir_open(struct recorder_dir *dir, const char *path, struct strbuf *reterr_msg)
{
	dir->dir_fd = dir->lock_fd = -EBADF;
	if (snprintf(dir->path, sizeof(dir->path), "%s", path) >= RECORDER_DIR_BYTES)
		return -ENAMETOOLONG;
	int r = own_dir_open(dir->path, OWN_DIR_FOR_FILES, OWN_DIR_MAKE_ALL, reterr_msg,
			     &dir->dir_fd);
	return r < 0 ? r : lock(dir, reterr_msg);
}

void recorder_dir_close(struct recorder_dir *dir)
{
	cleanup_closep(&dir->lock_fd);
	cleanup_closep(&dir->dir_fd);
	dir->dir_fd = dir->lock_fd = -EBADF;
}

static int complete(const struct recorder_dir *dir, const struct store_dir_entry *entry)
{
	char path[RECORDER_PATH_BYTES];

	if (!entry->has_log)
		return 0;
	snprintf(path, sizeof(path), "%s/%s", dir->path, entry->name);
	int r = store_file_repair(path);
	if (r == -ENODATA) /* the agent was killed while it created the file */
		r = store_dir_remove(dir->path, entry->name);
	if (r < 0)
		log_warn("%s cannot be completed: %s", path, strerror(-r));
	return r;
}

int recorder_dir_adopt(const struct recorder_dir *dir, uint64_t now_s, struct budget *budget,
		       uint64_t *nr_damaged)
{
	_cleanup_(store_dir_list_done) struct store_dir_list list = { 0 };
	char today[STORE_NAME_BYTES];

	int r = store_dir_list(dir->path, &list);
	if (r < 0)
		return r;
	store_dir_name(now_s / DAY_S * DAY_S, today);
	for (size_t i = 0; i < list.nr; i++) {
		if (strcmp(list.items[i].name, today) >= 0)
			budget_spend(budget, now_s, list.items[i].bytes);
		if (complete(dir, &list.items[i]) < 0)
			(*nr_damaged)++;
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/delivery/spool_dir.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/own_dir.h"
#include "otlp/delivery/spool_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>

#define REFUSAL_MAX_BYTES 8192

/* A new directory is safe only after its parent was synced, which is impossible if the parent is
 * not readable. */
static void sync_parent(int dir_fd)
{
	_cleanup_close_ int fd = openat(dir_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		fsync(fd);
}

int spool_dir_open(const char *path, int *ret_fd)
{
	_cleanup_(strbuf_done) struct strbuf refusal = strbuf_with_max(REFUSAL_MAX_BYTES);
	_cleanup_close_ int fd = -EBADF;

	int r = own_dir_open(path, OWN_DIR_FOR_FILES, OWN_DIR_MAKE_LAST, &refusal, &fd);
	if (r < 0)
		return r;
	sync_parent(fd);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	/* A queue from which nothing can be removed would deliver the same requests at each
	 * start. */
	if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) < 0)
		return -errno;
	*ret_fd = take_fd(fd);
	return 0;
}

static int add_seq(struct spool_dir_list *list, uint64_t seq)
{
	int r = array_grow(list->seqs, list->cap_seqs, list->nr_seqs + 1, SPOOL_DIR_MAX_FILES);

	if (r == 0)
		list->seqs[list->nr_seqs++] = seq;
	return r == -ENOSPC ? 0 : r;
}

/* Files that only have the name of a request use up a number, too. */
static int take_entry(struct spool_dir_list *list, int dir_fd, const char *name)
{
	uint64_t seq = 0;
	enum spool_file_kind kind = spool_file_kind_of(name, &seq);

	if (kind == SPOOL_FILE_FOREIGN)
		return 0;
	if (seq >= list->next_seq)
		list->next_seq = seq + 1;
	if (kind == SPOOL_FILE_REQUEST)
		return add_seq(list, seq);
	unlinkat(dir_fd, name, 0);
	return 0;
}

/* Returns NULL and sets errno on failure. */
static DIR *open_listing(int dir_fd)
{
	_cleanup_close_ int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir)
		(void)take_fd(fd);
	return dir;
}

static int compare_seqs(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int spool_dir_list(int dir_fd, struct spool_dir_list *ret_list)
{
	_cleanup_(spool_dir_list_done) struct spool_dir_list list = { 0 };
	_cleanup_closedir_ DIR *dir = open_listing(dir_fd);

	if (!dir)
		return -errno;
	for (const struct dirent *entry; (entry = readdir(dir));) {
		int r = take_entry(&list, dir_fd, entry->d_name);

		if (r < 0)
			return r;
	}
	if (list.nr_seqs > 0)
		qsort(list.seqs, list.nr_seqs, sizeof(*list.seqs), compare_seqs);
	*ret_list = list;
	list.seqs = NULL;
	return 0;
}

void spool_dir_list_done(struct spool_dir_list *list)
{
	free(list->seqs);
	list->seqs = NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "process/kept_files.h"

#include "base/cleanup.h"

#include <stdlib.h>

static void close_item(struct kept_files *kept, struct kept_file *item)
{
	if (item->fd < 0)
		return;
	cleanup_closep(&item->fd);
	item->fd = -EBADF;
	kept->nr_open--;
}

static void remove_item(struct kept_files *kept, struct mapped_files *files, struct kept_file *item)
{
	struct mapped_file *file = item->file;

	close_item(kept, item);
	item->file = NULL;
	file->kept_plus_1 = 0;
	kept->nr_files--;
	mapped_file_unref(files, file);
}

void kept_files_done(struct kept_files *kept, struct mapped_files *files)
{
	for (size_t i = 0; i < KEPT_FILES_MAX && kept->nr_files > 0; i++)
		if (kept->items[i].file)
			remove_item(kept, files, &kept->items[i]);
	free(kept->items);
	*kept = (struct kept_files){ 0 };
}

/* Returns whether the file is mapped, or was mapped since the last call. */
static bool take_use(struct kept_file *item, uint64_t now_ns)
{
	bool was_used = item->file->was_taken || item->file->nr_refs > 1;

	item->file->was_taken = false;
	if (was_used)
		item->used_ns = now_ns;
	return was_used;
}

/* A clock: a file that was mapped since the hand last passed it stays for another round. */
static struct kept_file *find_place(struct kept_files *kept, struct mapped_files *files,
				    uint64_t now_ns)
{
	struct kept_file *item;

	for (size_t i = 0;; i++) {
		item = &kept->items[kept->hand];
		kept->hand = (kept->hand + 1) % KEPT_FILES_MAX;
		if (!item->file)
			return item;
		if (kept->nr_files == KEPT_FILES_MAX &&
		    (!take_use(item, now_ns) || i >= KEPT_FILES_MAX))
			break;
	}
	remove_item(kept, files, item);
	return item;
}

static struct kept_file *find(const struct kept_files *kept, const struct mapped_file *file)
{
	return file->kept_plus_1 ? &kept->items[file->kept_plus_1 - 1] : NULL;
}

int kept_files_add(struct kept_files *kept, struct mapped_files *files, struct mapped_file *file,
		   int *fd, uint64_t now_ns)
{
	_cleanup_close_ int taken = take_fd(*fd);

	if (!kept->items)
		kept->items = calloc(KEPT_FILES_MAX, sizeof(*kept->items));
	if (!kept->items)
		return -ENOMEM;
	struct kept_file *item = find(kept, file);
	if (!item) {
		item = find_place(kept, files, now_ns);
		*item = (struct kept_file){ .file = mapped_file_ref(file), .fd = -EBADF };
		file->kept_plus_1 = (uint32_t)(item - kept->items) + 1;
		kept->nr_files++;
	}
	item->used_ns = now_ns;
	if (taken < 0 || kept->nr_open == KEPT_FILES_MAX_OPEN || item->fd >= 0)
		return 0;
	item->fd = take_fd(taken);
	item->opened_ns = now_ns;
	kept->nr_open++;
	return 0;
}

int kept_files_take_fd(struct kept_files *kept, struct mapped_file *file)
{
	struct kept_file *item = find(kept, file);

	if (!item || item->fd < 0)
		return -EBADF;
	kept->nr_open--;
	return take_fd(item->fd);
}

void kept_files_remove(struct kept_files *kept, struct mapped_files *files,
		       struct mapped_file *file)
{
	struct kept_file *item = find(kept, file);

	if (item)
		remove_item(kept, files, item);
}

static void tidy_item(struct kept_files *kept, struct mapped_files *files, struct kept_file *item,
		      uint64_t now_ns)
{
	if (item->fd >= 0 && now_ns >= item->opened_ns + KEPT_FILES_OPEN_NS)
		close_item(kept, item);
	if (!take_use(item, now_ns) && now_ns >= item->used_ns + KEPT_FILES_NS)
		remove_item(kept, files, item);
}

void kept_files_tidy(struct kept_files *kept, struct mapped_files *files, uint64_t now_ns)
{
	for (size_t i = 0; kept->nr_files > 0 && i < KEPT_FILES_MAX; i++)
		if (kept->items[i].file)
			tidy_item(kept, files, &kept->items[i], now_ns);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/table_queue.h"

#include "base/cleanup.h"

#include <string.h>
#include <unistd.h>

void table_queue_done(struct table_queue *queue)
{
	while (queue->nr_files > 0)
		close(queue->files[--queue->nr_files].fd);
}

int table_queue_add(struct table_queue *queue, const struct waiting_file *file)
{
	if (queue->nr_files == TABLE_QUEUE_MAX)
		return -ENOSPC;
	queue->files[queue->nr_files++] = *file;
	return 0;
}

static void remove_at(struct table_queue *queue, size_t at)
{
	queue->nr_files--;
	memmove(&queue->files[at], &queue->files[at + 1],
		(queue->nr_files - at) * sizeof(*queue->files));
}

bool table_queue_next(struct table_queue *queue,
		      bool (*may_be_read)(const struct waiting_file *file, void *data), void *data,
		      struct waiting_file *ret_file)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < queue->nr_files; i++) {
		const struct waiting_file *file = &queue->files[i];

		if (best != SIZE_MAX && file->nr_wanted <= queue->files[best].nr_wanted)
			continue;
		if (may_be_read(file, data))
			best = i;
	}
	if (best == SIZE_MAX)
		return false;
	*ret_file = queue->files[best];
	remove_at(queue, best);
	return true;
}

void table_queue_want(struct table_queue *queue, uint32_t slot)
{
	for (size_t i = 0; i < queue->nr_files; i++)
		if (queue->files[i].slot == slot && queue->files[i].nr_wanted < UINT64_MAX)
			queue->files[i].nr_wanted++;
}

void table_queue_remove(struct table_queue *queue, uint32_t slot)
{
	for (size_t i = 0; i < queue->nr_files; i++) {
		if (queue->files[i].slot != slot)
			continue;
		close(queue->files[i].fd);
		remove_at(queue, i);
		return;
	}
}

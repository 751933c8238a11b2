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

int table_queue_add(struct table_queue *queue, uint32_t slot, uint64_t nr_wanted, int *fd)
{
	if (queue->nr_files == TABLE_QUEUE_MAX)
		return -ENOSPC;
	queue->files[queue->nr_files++] = (struct waiting_file){ nr_wanted, slot, take_fd(*fd) };
	return 0;
}

static void remove_at(struct table_queue *queue, size_t at)
{
	queue->nr_files--;
	memmove(&queue->files[at], &queue->files[at + 1],
		(queue->nr_files - at) * sizeof(*queue->files));
}

bool table_queue_next(struct table_queue *queue, struct waiting_file *ret_file)
{
	size_t best = 0;

	if (queue->nr_files == 0)
		return false;
	for (size_t i = 1; i < queue->nr_files; i++)
		if (queue->files[i].nr_wanted > queue->files[best].nr_wanted)
			best = i;
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

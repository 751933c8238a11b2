/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/tables/table_queue.h"

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
		      int (*rank)(const struct waiting_file *file, void *data), void *data,
		      struct waiting_file *ret_file)
{
	size_t best = SIZE_MAX;
	int best_rank = 0;

	for (size_t i = 0; i < queue->nr_files; i++) {
		const struct waiting_file *file = &queue->files[i];
		int file_rank = rank(file, data);
		bool is_before = best == SIZE_MAX || file_rank < best_rank ||
				 (file_rank == best_rank &&
				  file->nr_wanted > queue->files[best].nr_wanted);

		if (file_rank < 0 || !is_before)
			continue;
		best = i;
		best_rank = file_rank;
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
		if (queue->files[i].claim.slot == slot && queue->files[i].nr_wanted < UINT64_MAX)
			queue->files[i].nr_wanted++;
}

void table_queue_remove(struct table_queue *queue, uint32_t slot)
{
	for (size_t i = 0; i < queue->nr_files; i++) {
		if (queue->files[i].claim.slot != slot)
			continue;
		close(queue->files[i].fd);
		remove_at(queue, i);
		return;
	}
}

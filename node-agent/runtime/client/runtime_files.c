/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/client/runtime_files.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <stdlib.h>

#define PAGE_BYTES 4096 /* the smallest; segments begin at any byte, mappings at a page */

void runtime_files_init(struct runtime_files *files)
{
	*files = (struct runtime_files){ 0 };
	TAILQ_INIT(&files->waiting);
}

void runtime_files_done(struct runtime_files *files)
{
	for (size_t i = 0; i < files->nr_rows; i++)
		if (files->rows[i])
			runtime_files_remove(files, files->rows[i]);
	free(files->rows);
}

/* Returns the row of a new file. Errors: -ENOSPC, -ENOMEM. */
static int find_row(struct runtime_files *files, size_t *ret_row)
{
	size_t row = files->first_free;

	while (row < files->nr_rows && files->rows[row])
		row++;
	if (row == files->nr_rows) {
		/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
		int r = array_grow(files->rows, files->cap_rows, row + 1, RUNTIME_FILES_MAX);

		if (r < 0)
			return r;
		files->rows[files->nr_rows++] = NULL;
	}
	files->first_free = row;
	*ret_row = row;
	return 0;
}

int runtime_files_add(struct runtime_files *files, int *fd, uint64_t owner,
		      struct runtime_known_file **ret_file)
{
	_cleanup_close_ int taken = take_fd(*fd);
	size_t row;

	if (files->nr_waiting >= RUNTIME_FILES_MAX_WAITING)
		return -ENOSPC;
	int r = find_row(files, &row);
	if (r < 0)
		return r;
	struct runtime_known_file *file = calloc(1, sizeof(*file));
	if (!file)
		return -ENOMEM;
	file->id = (uint32_t)row + 1;
	file->nr_refs = 1;
	file->owner = owner;
	file->fd = take_fd(taken);
	files->rows[row] = file;
	files->first_free++;
	files->nr_used++;
	runtime_files_put_back(files, file);
	*ret_file = file;
	return 0;
}

struct runtime_known_file *runtime_files_find(const struct runtime_files *files, uint32_t id)
{
	return id > 0 && id <= files->nr_rows ? files->rows[id - 1] : NULL;
}

void runtime_files_remove(struct runtime_files *files, struct runtime_known_file *file)
{
	size_t row = file->id - 1;

	files->rows[row] = NULL;
	files->nr_used--;
	if (row < files->first_free)
		files->first_free = row;
	if (file->is_waiting)
		runtime_files_take(files, file);
	file->id = 0;
	runtime_known_file_unref(file);
}

struct runtime_known_file *runtime_known_file_ref(struct runtime_known_file *file)
{
	file->nr_refs++;
	return file;
}

void runtime_known_file_unref(struct runtime_known_file *file)
{
	if (--file->nr_refs > 0)
		return;
	cleanup_closep(&file->fd);
	free(file->answer);
	free(file->shared);
	free(file);
}

void runtime_files_take(struct runtime_files *files, struct runtime_known_file *file)
{
	TAILQ_REMOVE(&files->waiting, file, link);
	file->is_waiting = false;
	files->nr_waiting--;
}

void runtime_files_put_back(struct runtime_files *files, struct runtime_known_file *file)
{
	TAILQ_INSERT_TAIL(&files->waiting, file, link);
	file->is_waiting = true;
	files->nr_waiting++;
}

void runtime_files_settle(struct runtime_known_file *file, const struct runtime_file_answer *answer)
{
	cleanup_closep(&file->fd);
	file->fd = -EBADF;
	file->state = RUNTIME_FILE_NONE;
	if (!answer)
		return;
	file->answer = malloc(sizeof(*file->answer));
	if (!file->answer)
		return;
	*file->answer = *answer;
	file->state = RUNTIME_FILE_RUNTIME;
}

bool runtime_known_file_is_trusted(const struct runtime_known_file *file, uint64_t owner)
{
	size_t nr = file->nr_trusting < RUNTIME_FILES_MAX_TRUSTING ? file->nr_trusting
								   : RUNTIME_FILES_MAX_TRUSTING;

	for (size_t i = 0; i < nr; i++)
		if (file->trusting[i] == owner)
			return true;
	return false;
}

void runtime_known_file_trust(struct runtime_known_file *file, uint64_t owner)
{
	if (!runtime_known_file_is_trusted(file, owner))
		file->trusting[file->nr_trusting++ % RUNTIME_FILES_MAX_TRUSTING] = owner;
}

uint64_t runtime_file_bias(const struct runtime_file_answer *answer, uint64_t start,
			   uint64_t offset)
{
	for (uint32_t i = 0; i < answer->nr_segments; i++) {
		const struct runtime_segment *segment = &answer->segments[i];
		uint64_t page = segment->offset - segment->offset % PAGE_BYTES;

		if (offset >= page && offset - page < segment->nr_bytes + PAGE_BYTES)
			return start - offset - (segment->address - segment->offset);
	}
	return start - offset;
}

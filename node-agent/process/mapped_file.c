/* SPDX-License-Identifier: Apache-2.0 */
#include "process/mapped_file.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"

#include <string.h>

static void file_free(struct mapped_file *file)
{
	if (!file)
		return;
	free(file->path);
	free(file);
}

DEFINE_FREEP(struct mapped_file, file_free)

static size_t file_bytes(const struct mapped_file *file)
{
	return sizeof(*file) + strlen(file->path) + 1;
}

void mapped_files_done(struct mapped_files *files)
{
	htable_done(&files->index);
	free(files->rows);
	*files = (struct mapped_files){ 0 };
}

static uint32_t key_hash(const struct mapped_file_key *key)
{
	uint64_t numbers[] = { key->inode, (uint64_t)key->dev_major << 32 | key->dev_minor,
			       hash_bytes(key->path, key->path_len) };

	return hash_bytes(numbers, sizeof(numbers));
}

static bool has_key(const struct mapped_file *file, const struct mapped_file_key *key)
{
	bool is_same_generation = key->generation == 0 || file->generation == key->generation;

	return !file->is_outdated && is_same_generation && file->inode == key->inode &&
	       file->dev_major == key->dev_major && file->dev_minor == key->dev_minor &&
	       strlen(file->path) == key->path_len &&
	       memcmp(file->path, key->path, key->path_len) == 0;
}

static struct mapped_file *find(const struct mapped_files *files, uint32_t hash,
				const struct mapped_file_key *key)
{
	struct htable_iter it = htable_lookup(&files->index, hash);
	struct mapped_file *latest = NULL;

	for (uint32_t row; htable_next(&it, &row);) {
		struct mapped_file *file = files->rows[row].file;

		if (has_key(file, key) && (!latest || file->number > latest->number))
			latest = file;
	}
	return latest;
}

/* Makes sure that the list of free rows is not empty. */
static int reserve_row(struct mapped_files *files)
{
	if (files->first_free_plus_1)
		return 0;

	int r = array_grow(files->rows, files->cap_rows, files->nr_rows + 1, MAPPED_FILES_MAX);
	if (r < 0)
		return r;
	files->rows[files->nr_rows] = (struct mapped_file_row){ 0 };
	files->first_free_plus_1 = (uint32_t)++files->nr_rows;
	return 0;
}

static int file_new(const struct mapped_file_key *key, uint32_t hash, struct mapped_file **ret_file)
{
	_cleanup_(file_freep) struct mapped_file *file = calloc(1, sizeof(*file));

	if (!file)
		return -ENOMEM;
	file->inode = key->inode;
	file->generation = key->generation;
	file->dev_major = key->dev_major;
	file->dev_minor = key->dev_minor;
	file->hash = hash;
	file->path = calloc(1, key->path_len + 1);
	if (!file->path)
		return -ENOMEM;
	memcpy(file->path, key->path, key->path_len);
	*ret_file = take_ptr(file);
	return 0;
}

static int add(struct mapped_files *files, const struct mapped_file_key *key, uint32_t hash,
	       struct mapped_file **ret_file)
{
	_cleanup_(file_freep) struct mapped_file *file = NULL;

	int r = reserve_row(files);
	if (r < 0)
		return r;
	r = file_new(key, hash, &file);
	if (r < 0)
		return r;
	file->row = files->first_free_plus_1 - 1;
	file->number = ++files->last_number;
	r = htable_add(&files->index, hash, file->row);
	if (r < 0)
		return r;

	struct mapped_file_row *row = &files->rows[file->row];
	files->first_free_plus_1 = row->next_free_plus_1;
	row->file = file;
	files->nr_bytes += file_bytes(file);
	*ret_file = take_ptr(file);
	return 0;
}

int mapped_files_take(struct mapped_files *files, const struct mapped_file_key *key,
		      struct mapped_file **ret_file)
{
	uint32_t hash = key_hash(key);
	struct mapped_file *file = find(files, hash, key);

	if (!file) {
		int r = add(files, key, hash, &file);
		if (r < 0)
			return r;
	}
	file->is_doubtful |= file->kept_plus_1 != 0 && file->nr_refs == 1;
	file->was_taken = true;
	*ret_file = mapped_file_ref(file);
	return 0;
}

int mapped_files_renew(struct mapped_files *files, struct mapped_file *file,
		       struct mapped_file **ret_file)
{
	const struct mapped_file_key key = {
		.inode = file->inode,
		.generation = file->generation,
		.dev_major = file->dev_major,
		.dev_minor = file->dev_minor,
		.path = file->path,
		.path_len = strlen(file->path),
	};

	file->is_outdated = true;
	int r = mapped_files_take(files, &key, ret_file);
	if (r < 0)
		file->is_outdated = false;
	return r;
}

struct mapped_file *mapped_file_ref(struct mapped_file *file)
{
	file->nr_refs++;
	return file;
}

void mapped_file_unref(struct mapped_files *files, struct mapped_file *file)
{
	if (--file->nr_refs > 0)
		return;
	if (files->watcher.file_gone)
		files->watcher.file_gone(file, files->watcher.data);
	htable_remove(&files->index, file->hash, file->row);
	files->rows[file->row] =
		(struct mapped_file_row){ .next_free_plus_1 = files->first_free_plus_1 };
	files->first_free_plus_1 = file->row + 1;
	files->nr_bytes -= file_bytes(file);
	file_free(file);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/file_index.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "symbol/elf_cache.h"

#include <stdlib.h>

static uint32_t hash_identity(const struct file_identity *identity)
{
	const uint64_t key[] = {
		identity->inode,
		identity->size,
		(uint64_t)identity->mtime_ns,
		(uint64_t)identity->dev_major << 32 | identity->dev_minor,
	};

	return hash_bytes(key, sizeof(key));
}

static bool is_equal(const struct file_identity *a, const struct file_identity *b)
{
	return a->inode == b->inode && a->size == b->size && a->mtime_ns == b->mtime_ns &&
	       a->dev_major == b->dev_major && a->dev_minor == b->dev_minor;
}

void known_file_release(struct known_file *file)
{
	cleanup_closep(&file->fd);
	cleanup_closep(&file->root_fd);
	free(file->path);
	file->fd = -EBADF;
	file->root_fd = -EBADF;
	file->path = NULL;
}

void file_index_done(struct file_index *files)
{
	for (size_t i = 0; i < files->nr_slots; i++)
		known_file_release(&files->slots[i]);
	free(files->slots);
	htable_done(&files->index);
	*files = (struct file_index){ 0 };
}

struct known_file *file_index_get(const struct file_index *files, uint32_t id)
{
	size_t slot = (id - 1) % ELF_CACHE_MAX_FILES;

	if (id == 0 || slot >= files->nr_slots || files->slots[slot].id != id)
		return NULL;
	return &files->slots[slot];
}

struct known_file *file_index_find(const struct file_index *files,
				   const struct file_identity *identity)
{
	struct htable_iter it = htable_lookup(&files->index, hash_identity(identity));

	for (uint32_t slot; htable_next(&it, &slot);)
		if (is_equal(&files->slots[slot].identity, identity))
			return &files->slots[slot];
	return NULL;
}

struct known_file *file_index_next_victim(const struct file_index *files)
{
	struct known_file *victim = NULL;

	if (files->nr_slots < ELF_CACHE_MAX_FILES)
		return NULL;
	for (size_t i = 0; i < files->nr_slots; i++) {
		struct known_file *file = &files->slots[i];

		if (file->state == FILE_LOADING || file->id > UINT32_MAX - ELF_CACHE_MAX_FILES)
			continue;
		if (!victim || file->last_use < victim->last_use)
			victim = file;
	}
	return victim;
}

static int take_slot(struct file_index *files, struct known_file **ret_slot)
{
	struct known_file *victim = file_index_next_victim(files);

	if (victim) {
		htable_remove(&files->index, hash_identity(&victim->identity),
			      (uint32_t)(victim - files->slots));
		victim->id += ELF_CACHE_MAX_FILES;
		*ret_slot = victim;
		return 0;
	}

	int r = array_grow(files->slots, files->cap_slots, files->nr_slots + 1,
			   ELF_CACHE_MAX_FILES);
	if (r < 0)
		return r;
	*ret_slot = &files->slots[files->nr_slots++];
	(*ret_slot)->id = (uint32_t)files->nr_slots;
	return 0;
}

/* A slot that cannot be indexed stays, without an identity that could be found, until it is reused. */
int file_index_add(struct file_index *files, const struct file_identity *identity,
		   struct known_file **ret_file)
{
	struct known_file *file;

	int r = take_slot(files, &file);
	if (r < 0)
		return r;
	*file = (struct known_file){
		.id = file->id,
		.state = FILE_WAITING,
		.fd = -EBADF,
		.root_fd = -EBADF,
		.identity = *identity,
	};

	r = htable_add(&files->index, hash_identity(identity), (uint32_t)(file - files->slots));
	if (r < 0)
		return r;
	*ret_file = file;
	return 0;
}

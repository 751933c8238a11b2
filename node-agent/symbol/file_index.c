/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/file_index.h"

#include "base/array.h"
#include "base/hash.h"

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

void file_index_done(struct file_index *index)
{
	for (size_t i = 0; i < index->nr_slots; i++)
		opened_file_close(&index->slots[i].opened);
	free(index->slots);
	htable_done(&index->by_identity);
	*index = (struct file_index){ 0 };
}

struct known_file *file_index_get(const struct file_index *index, uint32_t id)
{
	size_t slot = (id - 1) % FILE_INDEX_MAX;

	if (id == 0 || slot >= index->nr_slots || index->slots[slot].id != id)
		return NULL;
	return &index->slots[slot];
}

struct known_file *file_index_find(const struct file_index *index,
				   const struct file_identity *identity)
{
	struct htable_iter it = htable_lookup(&index->by_identity, hash_identity(identity));

	for (uint32_t slot; htable_next(&it, &slot);)
		if (is_equal(&index->slots[slot].identity, identity))
			return &index->slots[slot];
	return NULL;
}

struct known_file *file_index_next_victim(const struct file_index *index)
{
	struct known_file *victim = NULL;

	if (index->nr_slots < FILE_INDEX_MAX)
		return NULL;
	for (size_t i = 0; i < index->nr_slots; i++) {
		struct known_file *file = &index->slots[i];

		if (file->state == FILE_LOADING || file->id > UINT32_MAX - FILE_INDEX_MAX)
			continue;
		if (!victim || file->last_use < victim->last_use)
			victim = file;
	}
	return victim;
}

static int take_slot(struct file_index *index, struct known_file **ret_slot)
{
	struct known_file *victim = file_index_next_victim(index);

	if (victim) {
		htable_remove(&index->by_identity, hash_identity(&victim->identity),
			      (uint32_t)(victim - index->slots));
		victim->id += FILE_INDEX_MAX;
		*ret_slot = victim;
		return 0;
	}

	int r = array_grow(index->slots, index->cap_slots, index->nr_slots + 1, FILE_INDEX_MAX);
	if (r < 0)
		return r;
	*ret_slot = &index->slots[index->nr_slots++];
	(*ret_slot)->id = (uint32_t)index->nr_slots;
	return 0;
}

/* If the index has no memory, the slot is not found by identity, and stays until it is reused. */
int file_index_add(struct file_index *index, const struct file_identity *identity,
		   struct known_file **ret_file)
{
	struct known_file *file;

	int r = take_slot(index, &file);
	if (r < 0)
		return r;
	*file = (struct known_file){
		.id = file->id,
		.state = FILE_WAITING,
		.opened = OPENED_FILE_NONE,
		.identity = *identity,
	};

	r = htable_add(&index->by_identity, hash_identity(identity),
		       (uint32_t)(file - index->slots));
	if (r < 0)
		return r;
	*ret_file = file;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/tables/unwind_memory.h"

#include <sys/mman.h>

void unwind_memory_free(struct unwind_memory *memory)
{
	if (!memory)
		return;
	memory_pool_give(memory->pool, memory->nr_pooled_chunks * (uint64_t)ARENA_CHUNK_BYTES);
	memory->ops->free(memory);
}

int unwind_memory_add_chunk(struct unwind_memory *memory, uint32_t index)
{
	if (index < memory->nr_pooled_chunks)
		return memory->ops->add_chunk(memory, index);
	int r = memory_pool_take(memory->pool, ARENA_CHUNK_BYTES);
	if (r < 0)
		return r;
	r = memory->ops->add_chunk(memory, index);
	if (r < 0)
		memory_pool_give(memory->pool, ARENA_CHUNK_BYTES);
	else
		memory->nr_pooled_chunks++;
	return r;
}

int unwind_memory_map(struct unwind_memory *memory, uint64_t address, size_t len,
		      struct unwind_window *ret_window)
{
	return memory->ops->map(memory, address, len, ret_window);
}

void unwind_memory_unmap(struct unwind_window *window)
{
	if (window->pages)
		munmap(window->pages, window->len);
}

int unwind_memory_bind(struct unwind_memory *memory, uint32_t pid, uint64_t binding)
{
	return memory->ops->bind(memory, pid, binding);
}

int unwind_memory_find_binding(struct unwind_memory *memory, uint32_t pid, uint64_t *ret_binding)
{
	return memory->ops->find_binding(memory, pid, ret_binding);
}

int unwind_memory_set_binding(struct unwind_memory *memory, uint32_t pid, uint64_t binding)
{
	return memory->ops->set_binding(memory, pid, binding);
}

int unwind_memory_open_view(struct unwind_memory *memory, struct unwind_view *ret_view)
{
	return memory->ops->open_view(memory, ret_view);
}

void unwind_memory_close_view(struct unwind_memory *memory, struct unwind_view *view)
{
	if (memory->ops->close_view)
		memory->ops->close_view(view);
}

int unwind_memory_find_key(struct unwind_memory *memory, int fd, struct file_key *ret_key)
{
	return memory->ops->find_key ? memory->ops->find_key(memory, fd, ret_key) : -EOPNOTSUPP;
}

int unwind_memory_set_file(struct unwind_memory *memory, const struct file_key *key, uint32_t slot)
{
	return memory->ops->set_file ? memory->ops->set_file(memory, key, slot) : -EOPNOTSUPP;
}

void unwind_memory_unset_file(struct unwind_memory *memory, const struct file_key *key,
			      uint32_t slot)
{
	if (memory->ops->unset_file)
		memory->ops->unset_file(memory, key, slot);
}

int unwind_memory_wait(struct unwind_memory *memory)
{
	return memory->ops->wait(memory);
}

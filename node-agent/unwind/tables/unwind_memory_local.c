/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/tables/unwind_memory_local.h"

#include "base/locked.h"

#include <stdlib.h>
#include <sys/mman.h>

static struct local_memory *get_local(struct unwind_memory *memory)
{
	return (struct local_memory *)memory;
}

static void free_local(struct unwind_memory *memory)
{
	struct local_memory *local = get_local(memory);

	if (local->arena)
		munmap(local->arena, local->max_bytes);
	bound_processes_done(&local->processes);
	pthread_mutex_destroy(&local->unwinding);
	free(memory->tables);
	free(local);
}

static int add_chunk(struct unwind_memory *memory, uint32_t index)
{
	struct local_memory *local = get_local(memory);
	size_t start = (size_t)index * ARENA_CHUNK_BYTES;

	if (start >= local->max_bytes)
		return -ENOSPC;
	if (mprotect(local->arena + start, ARENA_CHUNK_BYTES, PROT_READ | PROT_WRITE) < 0)
		return -errno;
	return 0;
}

static int map(struct unwind_memory *memory, uint64_t address, size_t len,
	       struct unwind_window *ret_window)
{
	(void)len;
	*ret_window = (struct unwind_window){ .place = get_local(memory)->arena + address };
	return 0;
}

static int bind(struct unwind_memory *memory, uint32_t pid, uint64_t binding)
{
	uint64_t *place = bound_processes_find(&get_local(memory)->processes, pid);

	if (!place)
		return -ENOENT;
	*place = binding;
	return 0;
}

static int find_binding(struct unwind_memory *memory, uint32_t pid, uint64_t *ret_binding)
{
	const uint64_t *place = bound_processes_find(&get_local(memory)->processes, pid);

	if (!place)
		return -ENOENT;
	*ret_binding = *place;
	return 0;
}

static int set_binding(struct unwind_memory *memory, uint32_t pid, uint64_t binding)
{
	return bound_processes_set(&get_local(memory)->processes, pid, binding);
}

static int open_view(struct unwind_memory *memory, struct unwind_view *ret_view)
{
	struct local_memory *local = get_local(memory);

	*ret_view = (struct unwind_view){ local->arena, local->max_bytes, &local->unwinding };
	return 0;
}

static int wait_for_unwinder(struct unwind_memory *memory)
{
	LOCKED(&get_local(memory)->unwinding);
	return 0;
}

static const struct unwind_memory_ops local_ops = {
	.free = free_local,
	.add_chunk = add_chunk,
	.map = map,
	.bind = bind,
	.find_binding = find_binding,
	.set_binding = set_binding,
	.open_view = open_view,
	.wait = wait_for_unwinder,
};

/* Reserves address space only: memory that cannot be written is not committed. */
static int reserve(struct local_memory *local, size_t max_bytes)
{
	size_t nr_chunks = (max_bytes + ARENA_CHUNK_BYTES - 1) / ARENA_CHUNK_BYTES;

	if (nr_chunks == 0)
		nr_chunks = 1;
	if (nr_chunks > ARENA_MAX_CHUNKS)
		nr_chunks = ARENA_MAX_CHUNKS;
	void *arena = mmap(NULL, nr_chunks * ARENA_CHUNK_BYTES, PROT_READ,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (arena == MAP_FAILED)
		return -errno;
	local->arena = arena;
	local->max_bytes = nr_chunks * ARENA_CHUNK_BYTES;
	return 0;
}

int unwind_memory_local_new(size_t max_bytes, struct unwind_memory **ret_memory)
{
	struct local_memory *local = calloc(1, sizeof(*local));

	if (!local)
		return -ENOMEM;
	local->memory.ops = &local_ops;
	pthread_mutex_init(&local->unwinding, NULL);
	_cleanup_(unwind_memory_freep) struct unwind_memory *memory = &local->memory;

	memory->tables = calloc(MAX_TABLE_SLOTS, sizeof(*memory->tables));
	if (!memory->tables)
		return -ENOMEM;
	int r = bound_processes_init(&local->processes, LOCAL_MAX_PROCESSES);
	if (r == 0)
		r = reserve(local, max_bytes);
	if (r == 0)
		*ret_memory = take_ptr(memory);
	return r;
}

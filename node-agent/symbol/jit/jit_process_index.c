/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/jit/jit_process_index.h"

#include "base/cleanup.h"
#include "base/hash.h"

#include <stdlib.h>

static uint32_t hash_process(uint32_t pid, uint64_t number)
{
	const uint64_t key[] = { pid, number };

	return hash_bytes(key, sizeof(key));
}

static size_t slot_of(uint32_t id)
{
	return (id - 1) % JIT_PROCESS_INDEX_MAX;
}

int jit_process_index_init(struct jit_process_index *index)
{
	_cleanup_free_ struct jit_process **slots = calloc(JIT_PROCESS_INDEX_MAX,
							   sizeof(struct jit_process *));
	_cleanup_free_ uint32_t *last_ids = calloc(JIT_PROCESS_INDEX_MAX, sizeof(uint32_t));

	if (!slots || !last_ids)
		return -ENOMEM;
	*index = (struct jit_process_index){
		.slots = take_ptr(slots),
		.last_ids = take_ptr(last_ids),
	};
	return 0;
}

void jit_process_free(struct jit_process *process)
{
	if (!process)
		return;
	for (size_t kind = 0; kind < JIT_SOURCE_KINDS; kind++) {
		cleanup_closep(&process->incoming[kind].fd);
		jit_source_done(&process->sources[kind]);
	}
	free(process);
}

void jit_process_index_done(struct jit_process_index *index)
{
	for (size_t i = 0; i < index->nr_slots; i++)
		jit_process_free(index->slots[i]);
	free(index->slots);
	free(index->last_ids);
	htable_done(&index->by_process);
	*index = (struct jit_process_index){ 0 };
}

struct jit_process *jit_process_index_get(const struct jit_process_index *index, uint32_t id)
{
	struct jit_process *process = id == 0 ? NULL : index->slots[slot_of(id)];

	return process && process->id == id ? process : NULL;
}

struct jit_process *jit_process_index_find(const struct jit_process_index *index,
					   const struct jit_sampled *sampled)
{
	uint32_t hash = hash_process(sampled->pid, sampled->number);
	struct htable_iter it = htable_lookup(&index->by_process, hash);

	for (uint32_t slot; htable_next(&it, &slot);) {
		struct jit_process *process = index->slots[slot];

		if (process->pid == sampled->pid && process->number == sampled->number)
			return process;
	}
	return NULL;
}

/* Finds a free slot: one that was used before, or else a new one. */
static int find_slot(struct jit_process_index *index, uint32_t *ret_slot)
{
	if (index->nr_used == index->nr_slots) {
		if (index->nr_slots == JIT_PROCESS_INDEX_MAX)
			return -ENOSPC;
		*ret_slot = (uint32_t)index->nr_slots++;
		return 0;
	}
	for (uint32_t i = 0; i < index->nr_slots; i++) {
		if (!index->slots[i]) {
			*ret_slot = i;
			return 0;
		}
	}
	return -ENOSPC;
}

static uint32_t next_id(const struct jit_process_index *index, uint32_t slot)
{
	uint32_t last_id = index->last_ids[slot];

	if (last_id == 0 || last_id > UINT32_MAX - JIT_PROCESS_INDEX_MAX)
		return slot + 1;
	return last_id + JIT_PROCESS_INDEX_MAX;
}

static struct jit_process *make_process(uint32_t id, const struct jit_sampled *sampled)
{
	struct jit_process *process = calloc(1, sizeof(*process));

	if (!process)
		return NULL;
	process->id = id;
	process->pid = sampled->pid;
	process->number = sampled->number;
	process->cgroup_id = sampled->cgroup_id;
	for (unsigned int kind = 0; kind < JIT_SOURCE_KINDS; kind++) {
		process->incoming[kind].fd = -EBADF;
		jit_source_init(&process->sources[kind], (enum jit_source_kind)kind);
	}
	return process;
}

int jit_process_index_add(struct jit_process_index *index, const struct jit_sampled *sampled,
			  struct jit_process **ret_process)
{
	uint32_t slot;

	int r = find_slot(index, &slot);
	if (r < 0)
		return r;
	struct jit_process *process = make_process(next_id(index, slot), sampled);
	if (!process)
		return -ENOMEM;
	r = htable_add(&index->by_process, hash_process(process->pid, process->number), slot);
	if (r < 0) {
		jit_process_free(process);
		return r;
	}
	index->slots[slot] = process;
	index->last_ids[slot] = process->id;
	index->nr_used++;
	*ret_process = process;
	return 0;
}

void jit_process_index_remove(struct jit_process_index *index, struct jit_process *process)
{
	uint32_t slot = (uint32_t)slot_of(process->id);

	htable_remove(&index->by_process, hash_process(process->pid, process->number), slot);
	index->slots[slot] = NULL;
	index->nr_used--;
}

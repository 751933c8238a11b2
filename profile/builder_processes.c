/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/builder_tables.h"

#include "base/array.h"
#include "base/hash.h"

static uint32_t hash_process(const struct profile_process *process)
{
	const uint64_t key[] = {
		process->start_ns,
		(uint64_t)process->pid << 32 | process->path,
		process->name,
	};

	return hash_bytes(key, sizeof(key));
}

static bool is_same(const struct profile_process *a, const struct profile_process *b)
{
	return a->start_ns == b->start_ns && a->pid == b->pid && a->path == b->path &&
	       a->name == b->name;
}

static bool find_process(const struct builder *builder, const struct profile_process *process,
			 uint32_t hash, uint32_t *ret_id)
{
	const struct profile *p = builder->profile;
	struct htable_iter it = htable_lookup(&builder->processes, hash);

	if (is_same(process, &p->processes[0])) {
		*ret_id = 0;
		return true;
	}
	for (uint32_t id; htable_next(&it, &id);) {
		if (is_same(process, &p->processes[id])) {
			*ret_id = id;
			return true;
		}
	}
	return false;
}

void builder_see_process(struct builder *builder, uint32_t process, uint64_t seen_ns)
{
	struct profile_process *known = &builder->profile->processes[process];

	if (process != 0 && seen_ns > known->seen_ns)
		known->seen_ns = seen_ns;
}

int builder_add_process(struct builder *builder, const struct profile_process *process,
			uint32_t *ret_id)
{
	struct profile *p = builder->profile;
	uint32_t hash = hash_process(process);

	if (find_process(builder, process, hash, ret_id)) {
		builder_see_process(builder, *ret_id, process->seen_ns);
		return 0;
	}

	int r = array_grow(p->processes, p->cap_processes, p->nr_processes + 1, BUILDER_MAX_ROWS);
	if (r < 0)
		return r;
	r = builder_book(builder, &builder->processes, hash, p->nr_processes, sizeof(*process));
	if (r < 0)
		return r;
	p->processes[p->nr_processes] = *process;
	*ret_id = (uint32_t)p->nr_processes++;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/tables/bound_processes.h"

#include "base/cleanup.h"
#include "base/hash.h"

int bound_processes_init(struct bound_processes *processes, uint32_t max)
{
	struct bound_process *items = calloc((size_t)max + 1, sizeof(*items));

	if (!items)
		return -ENOMEM;
	*processes = (struct bound_processes){ .items = items, .max = max, .end = 1 };
	return 0;
}

void bound_processes_done(struct bound_processes *processes)
{
	htable_done(&processes->index);
	free(processes->items);
}

/* 0: none. */
static uint32_t find(const struct bound_processes *processes, uint32_t pid)
{
	struct htable_iter it = htable_lookup(&processes->index, hash_u64(pid));

	for (uint32_t i; htable_next(&it, &i);)
		if (processes->items[i].pid == pid)
			return i;
	return 0;
}

static void unlink_item(struct bound_processes *processes, uint32_t i)
{
	struct bound_process *items = processes->items;

	items[items[i].newer].older = items[i].older;
	items[items[i].older].newer = items[i].newer;
}

static void link_newest(struct bound_processes *processes, uint32_t i)
{
	struct bound_process *items = processes->items;

	items[i].newer = 0;
	items[i].older = items[0].older;
	items[items[i].older].newer = i;
	items[0].older = i;
}

static void remove_item(struct bound_processes *processes, uint32_t i)
{
	htable_remove(&processes->index, hash_u64(processes->items[i].pid), i);
	unlink_item(processes, i);
	processes->items[i].older = processes->first_free;
	processes->first_free = i;
}

static uint32_t take_item(struct bound_processes *processes)
{
	if (processes->first_free == 0 && processes->end <= processes->max)
		return processes->end++;
	if (processes->first_free == 0)
		remove_item(processes, processes->items[0].newer);
	uint32_t i = processes->first_free;
	processes->first_free = processes->items[i].older;
	return i;
}

static int add(struct bound_processes *processes, uint32_t pid, uint64_t binding)
{
	uint32_t i = take_item(processes);

	processes->items[i] = (struct bound_process){ .pid = pid, .binding = binding };
	link_newest(processes, i);
	int r = htable_add(&processes->index, hash_u64(pid), i);
	if (r < 0)
		remove_item(processes, i);
	return r;
}

uint64_t *bound_processes_find(struct bound_processes *processes, uint32_t pid)
{
	uint32_t i = find(processes, pid);

	if (i == 0)
		return NULL;
	unlink_item(processes, i);
	link_newest(processes, i);
	return &processes->items[i].binding;
}

int bound_processes_set(struct bound_processes *processes, uint32_t pid, uint64_t binding)
{
	uint64_t *place = bound_processes_find(processes, pid);

	if (!place)
		return add(processes, pid, binding);
	*place = binding;
	return 0;
}

void bound_processes_remove(struct bound_processes *processes, uint32_t pid)
{
	uint32_t i = find(processes, pid);

	if (i != 0)
		remove_item(processes, i);
}

void bound_processes_clear(struct bound_processes *processes)
{
	while (processes->items[0].older != 0)
		remove_item(processes, processes->items[0].older);
}

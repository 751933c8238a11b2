/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/elf_budget.h"

#include "base/array.h"

int elf_budget_take(struct elf_budget *budget, uint64_t nr_bytes)
{
	if (!budget)
		return 0;
	if (nr_bytes > budget->max_bytes - budget->nr_bytes)
		return -ENOSPC;
	budget->nr_bytes += (size_t)nr_bytes;
	return 0;
}

void elf_budget_give(struct elf_budget *budget, size_t nr_bytes)
{
	if (budget)
		budget->nr_bytes -= nr_bytes;
}

size_t elf_budget_room(const struct elf_budget *budget, size_t elem_bytes)
{
	return budget ? (budget->max_bytes - budget->nr_bytes) / elem_bytes : SIZE_MAX / elem_bytes;
}

int elf_budget_reserve(struct elf_budget *budget, void **data, size_t *cap, size_t need,
		       size_t elem_bytes, size_t max)
{
	size_t room = elf_budget_room(budget, elem_bytes);
	size_t old_cap = *cap;

	if (room < max - old_cap)
		max = old_cap + room;

	int r = array_reserve(data, cap, need, elem_bytes, max);
	if (r == 0 && budget)
		budget->nr_bytes += (*cap - old_cap) * elem_bytes;
	return r;
}

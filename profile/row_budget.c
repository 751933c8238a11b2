/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/row_budget.h"

bool row_budget_has_room(const struct row_budget *budget, size_t bytes)
{
	return bytes <= budget->max_bytes - budget->nr_bytes;
}

int row_budget_book(struct row_budget *budget, struct htable *index, uint32_t hash, size_t row,
		    size_t bytes)
{
	if (!row_budget_has_room(budget, bytes + ROW_INDEX_BYTES))
		return -ENOSPC;

	int r = htable_add(index, hash, (uint32_t)row);
	if (r < 0)
		return r;
	budget->nr_bytes += bytes + ROW_INDEX_BYTES;
	return 0;
}

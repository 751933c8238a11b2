/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/support/row_lookup.h"
#include "unwind/rows/row_table.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Looks up addresses at which rules change, and around them. */
static void find_at_page(const void *table, uint64_t page)
{
	struct cfi_rule rule;

	for (uint64_t i = 0; i < ROW_PAGE_BYTES; i += 1 + i % 61) {
		row_lookup(table, page * ROW_PAGE_BYTES + i, &rule);
		if (rule.kind >= CFA_NR_KINDS || rule.reg >= NR_REGS ||
		    rule.flags & (CFI_RUN_UP | CFI_RUN_DOWN))
			abort();
	}
}

static void find_at_rows(const struct row_table *table)
{
	uint64_t nr_pages = table->nr_pages < 16 ? table->nr_pages : 16;
	struct cfi_rule rule;

	for (uint64_t page = 0; page < nr_pages; page++)
		find_at_page(table, table->first_page + page);
	find_at_page(table, (uint64_t)table->first_page + table->nr_pages);
	find_at_page(table, (uint64_t)table->first_page - 1);
	row_lookup(table, UINT64_MAX, &rule);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ uint8_t *table = malloc(size + 1);

	if (!table)
		return 0;
	memcpy(table, data, size);
	if (row_table_is_valid(table, size))
		find_at_rows((const void *)table);
	return 0;
}

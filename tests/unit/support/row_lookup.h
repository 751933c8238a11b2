/* SPDX-License-Identifier: Apache-2.0 */
/* Looks a rule up in a row table, as the BPF side does: for tests of what makes tables. */
#ifndef TESTS_UNIT_ROW_LOOKUP_H
#define TESTS_UNIT_ROW_LOOKUP_H

#include "base/search.h"
#include "bpf/shared/cfi.h"

#include <stdint.h>

/* Makes a run's rule the one that holds so many bytes behind its row. */
static inline void row_lookup_apply_run(struct cfi_rule *rule, uint32_t nr_bytes)
{
	uint32_t steps = rule->arg;
	int32_t passed;

	if (!(rule->flags & (CFI_RUN_UP | CFI_RUN_DOWN)))
		return;
	if (nr_bytes < CFI_MAX_RUN)
		steps &= (2U << nr_bytes) - 1;
	passed = 8 * __builtin_popcount(steps);
	/* A damaged table may say anything: wraps around as in BPF. */
	if (!(rule->flags & CFI_RUN_UP))
		passed = -passed;
	rule->offset = (int32_t)((uint32_t)rule->offset + (uint32_t)passed);
	rule->flags &= (uint8_t) ~(CFI_RUN_UP | CFI_RUN_DOWN);
	rule->arg = 0;
}

/* The rule that holds at an offset of the file. Its run is applied and gone; places below the stack
 * pointer are still there. Rule 0 (CFA_NONE) outside of all rows. `data` is a valid table. */
static inline void row_lookup(const void *data, uint64_t file_offset, struct cfi_rule *ret_rule)
{
	const struct row_table *head = data;
	const uint32_t *pages = (const void *)((const char *)data + ROW_TABLE_PAGES);
	const struct cfi_rule *rules = (const void *)((const char *)data + head->rules_offset);
	const uint32_t *rows = (const void *)((const char *)data + head->rows_offset);
	uint64_t page = file_offset / ROW_PAGE_BYTES - head->first_page;

	*ret_rule = (struct cfi_rule){ .kind = CFA_NONE };
	if (page >= head->nr_pages)
		return;

	const uint32_t *first = rows + pages[page];
	size_t next = pages[page] + search_count(pages[page + 1] - pages[page], i,
						 ROW_PC(first[i]) <= (file_offset & 0xffff));
	if (next == 0)
		return;
	*ret_rule = rules[ROW_RULE(rows[next - 1])];
	row_lookup_apply_run(ret_rule, (uint32_t)(file_offset - ROW_PC(rows[next - 1])) & 0xffff);
}

#endif

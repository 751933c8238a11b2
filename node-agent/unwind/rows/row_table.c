/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/rows/row_table.h"

#include <string.h>

#define RULES_ALIGN 16
#define ROWS_ALIGN 4

#define PAGE_PC_SHIFT 12 /* what is above it in a row's pc is of its page */

#define RUN_FLAGS (CFI_RUN_UP | CFI_RUN_DOWN)
#define KNOWN_FLAGS (CFI_SAVED_AT_RBP | CFI_RETURN_IN_REGISTER | CFI_SAVED_BELOW_SP | RUN_FLAGS)

/* A table taken apart. */
struct view {
	const struct row_table *head;
	const uint32_t *pages;
	const struct cfi_rule *rules;
	const uint32_t *rows;
};

static struct view view_of(const void *data)
{
	const struct row_table *head = data;
	const char *bytes = data;

	return (struct view){
		.head = head,
		.pages = (const void *)(bytes + ROW_TABLE_PAGES),
		.rules = (const void *)(bytes + head->rules_offset),
		.rows = (const void *)(bytes + head->rows_offset),
	};
}

/* Checks that the parts lie behind each other, and that none reaches into the next one. */
static bool is_laid_out(const struct row_table *head)
{
	uint64_t pages_end = ROW_TABLE_PAGES + ((uint64_t)head->nr_pages + 1) * sizeof(uint32_t);
	uint64_t rules_end = head->rules_offset +
			     (uint64_t)head->nr_rules * sizeof(struct cfi_rule);
	uint64_t rows_end = head->rows_offset + (uint64_t)head->nr_rows * sizeof(uint32_t);

	return head->rules_offset % RULES_ALIGN == 0 && head->rows_offset % ROWS_ALIGN == 0 &&
	       pages_end <= head->rules_offset && rules_end <= head->rows_offset &&
	       rows_end == head->bytes;
}

static bool has_sane_counts(const struct row_table *head)
{
	return head->nr_pages > 0 && head->nr_rows > 0 && head->nr_rules > 0 &&
	       head->nr_rules <= ROW_TABLE_MAX_RULES;
}

/* A run has one direction, and no step at the row itself. */
static bool is_valid_run(const struct cfi_rule *rule)
{
	uint8_t direction = rule->flags & RUN_FLAGS;

	if (direction == 0)
		return true;
	return direction != RUN_FLAGS && rule->kind == CFA_REGISTER && (rule->arg & 1) == 0;
}

static bool is_valid_return(const struct cfi_rule *rule)
{
	if (!(rule->flags & CFI_RETURN_IN_REGISTER))
		return true;
	return rule->kind == CFA_REGISTER && rule->arg < NR_REGS && !(rule->flags & RUN_FLAGS);
}

static bool is_valid_rule(const struct cfi_rule *rule)
{
	return rule->kind < CFA_NR_KINDS && rule->reg < NR_REGS &&
	       (rule->flags & ~KNOWN_FLAGS) == 0 && is_valid_run(rule) && is_valid_return(rule);
}

static bool are_valid_rules(const struct view *view)
{
	static const struct cfi_rule none = { .kind = CFA_NONE };

	if (memcmp(&view->rules[0], &none, sizeof(none)) != 0)
		return false;
	for (uint32_t i = 1; i < view->head->nr_rules; i++)
		if (!is_valid_rule(&view->rules[i]))
			return false;
	return true;
}

/* Checks the rows of one page: they ascend strictly, so there are no more than the page has
 * bytes. */
static bool are_valid_rows(const struct view *view, uint32_t page)
{
	uint32_t page_bits = (view->head->first_page + page) % (0x10000 / ROW_PAGE_BYTES);
	uint32_t first = view->pages[page];

	for (uint32_t i = first; i < view->pages[page + 1]; i++) {
		uint32_t row = view->rows[i];

		if (ROW_PC(row) >> PAGE_PC_SHIFT != page_bits ||
		    ROW_RULE(row) >= view->head->nr_rules)
			return false;
		if (i > first && ROW_PC(row) <= ROW_PC(view->rows[i - 1]))
			return false;
	}
	return true;
}

static bool are_valid_pages(const struct view *view)
{
	const struct row_table *head = view->head;

	if (view->pages[0] != 0 || view->pages[head->nr_pages] != head->nr_rows)
		return false;
	for (uint32_t i = 0; i < head->nr_pages; i++) {
		if (view->pages[i + 1] < view->pages[i] || view->pages[i + 1] > head->nr_rows)
			return false;
		if (!are_valid_rows(view, i))
			return false;
	}
	return true;
}

bool row_table_is_valid(const void *data, size_t len)
{
	const struct row_table *head = data;

	if (len < sizeof(*head) || head->bytes != len)
		return false;
	if (!has_sane_counts(head) || !is_laid_out(head))
		return false;

	const struct view view = view_of(data);
	return are_valid_rules(&view) && are_valid_pages(&view);
}

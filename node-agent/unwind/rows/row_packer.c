/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/rows/row_packer.h"

#include "base/array.h"
#include "base/hash.h"

#include <string.h>

#define RULE_ALIGN 16

void row_packer_init(struct row_packer *packer, size_t max_bytes)
{
	*packer = (struct row_packer){
		.max_bytes = max_bytes < UINT32_MAX ? max_bytes : UINT32_MAX,
	};
}

void row_packer_done(struct row_packer *packer)
{
	free(packer->rows);
	free(packer->pages);
	free(packer->rules);
	htable_done(&packer->rule_index);
	row_packer_init(packer, packer->max_bytes);
}

static size_t rules_offset(const struct row_packer *packer)
{
	size_t end = ROW_TABLE_PAGES + (packer->nr_pages + 1) * sizeof(*packer->pages);

	return (end + RULE_ALIGN - 1) & ~(size_t)(RULE_ALIGN - 1);
}

static size_t rows_offset(const struct row_packer *packer)
{
	return rules_offset(packer) + (packer->nr_rules + 1) * sizeof(*packer->rules);
}

static size_t nr_bytes(const struct row_packer *packer)
{
	return rows_offset(packer) + packer->nr_rows * sizeof(*packer->rows);
}

static int add_rule(struct row_packer *packer, const struct cfi_rule *rule, uint32_t hash)
{
	int r = array_grow(packer->rules, packer->cap_rules, packer->nr_rules + 1,
			   ROW_TABLE_MAX_RULES - 1);

	if (r == 0)
		r = htable_add(&packer->rule_index, hash, (uint32_t)packer->nr_rules);
	if (r < 0)
		return r;
	packer->rules[packer->nr_rules++] = *rule;
	return 0;
}

/* Returns the number of a rule, adding it if it is new. */
static int number_rule(struct row_packer *packer, const struct cfi_rule *rule, uint32_t *ret_number)
{
	uint32_t hash;
	int r;

	if (rule->kind == CFA_NONE) {
		*ret_number = 0;
		return 0;
	}
	hash = hash_bytes(rule, sizeof(*rule));
	struct htable_iter it = htable_lookup(&packer->rule_index, hash);
	for (uint32_t i; htable_next(&it, &i);) {
		if (memcmp(&packer->rules[i], rule, sizeof(*rule)) == 0) {
			*ret_number = i + 1;
			return 0;
		}
	}
	r = add_rule(packer, rule, hash);
	if (r == 0)
		*ret_number = (uint32_t)packer->nr_rules;
	return r;
}

/* Makes the page of the next row the directory's last one. */
static int reach_page(struct row_packer *packer, uint64_t page)
{
	size_t need;
	int r;

	if (packer->nr_rows == 0)
		packer->first_page = page;
	if (page > UINT32_MAX)
		return -ENOSPC;
	need = page - packer->first_page + 1;
	if (need <= packer->nr_pages)
		return 0;
	r = array_grow(packer->pages, packer->cap_pages, need,
		       packer->max_bytes / sizeof(*packer->pages));
	if (r < 0)
		return r;
	while (packer->nr_pages < need)
		packer->pages[packer->nr_pages++] = (uint32_t)packer->nr_rows;
	return 0;
}

int row_packer_add(struct row_packer *packer, uint64_t file_offset, const struct cfi_rule *rule)
{
	uint32_t number = 0;
	int r = reach_page(packer, file_offset / ROW_PAGE_BYTES);

	if (r == 0)
		r = number_rule(packer, rule, &number);
	if (r == 0 && packer->nr_rows == packer->cap_rows)
		r = array_grow(packer->rows, packer->cap_rows, packer->nr_rows + 1,
			       packer->max_bytes / sizeof(*packer->rows));
	if (r < 0)
		return r;
	packer->rows[packer->nr_rows++] = ROW(file_offset, number);
	return nr_bytes(packer) <= packer->max_bytes ? 0 : -ENOSPC;
}

static void copy_pages(const struct row_packer *packer, uint8_t *table)
{
	uint32_t *pages = (uint32_t *)(void *)(table + ROW_TABLE_PAGES);

	memcpy(pages, packer->pages, packer->nr_pages * sizeof(*pages));
	pages[packer->nr_pages] = (uint32_t)packer->nr_rows;
}

/* Rule 0 is all zeros and there already. */
static void copy_rules(const struct row_packer *packer, uint8_t *table)
{
	struct cfi_rule *rules = (struct cfi_rule *)(void *)(table + rules_offset(packer));

	memcpy(rules + 1, packer->rules, packer->nr_rules * sizeof(*rules));
}

int row_packer_seal(const struct row_packer *packer, struct row_table_bytes *ret_table)
{
	struct row_table head = {
		.first_page = (uint32_t)packer->first_page,
		.nr_pages = (uint32_t)packer->nr_pages,
		.nr_rules = (uint32_t)packer->nr_rules + 1,
		.nr_rows = (uint32_t)packer->nr_rows,
		.rules_offset = (uint32_t)rules_offset(packer),
		.rows_offset = (uint32_t)rows_offset(packer),
		.bytes = (uint32_t)nr_bytes(packer),
	};
	uint8_t *table;

	if (packer->nr_rows == 0)
		return -ENODATA;
	table = calloc(1, head.bytes);
	if (!table)
		return -ENOMEM;
	memcpy(table, &head, sizeof(head));
	copy_pages(packer, table);
	if (packer->nr_rules > 0)
		copy_rules(packer, table);
	memcpy(table + head.rows_offset, packer->rows, packer->nr_rows * sizeof(*packer->rows));
	*ret_table = (struct row_table_bytes){ .data = table, .len = head.bytes };
	return 0;
}

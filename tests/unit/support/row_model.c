/* SPDX-License-Identifier: Apache-2.0 */
#include "row_model.h"

#include "row_lookup.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static const struct cfi_rule no_rule = { .kind = CFA_NONE };

void row_model_free(struct row_model *model)
{
	row_builder_free(model->builder);
	free(model);
}

struct row_model *row_model_new(void)
{
	struct row_model *model = calloc(1, sizeof(*model));

	assert_non_null(model);
	assert_int_equal(row_builder_new(ROW_MODEL_MAX_BYTES, &model->builder), 0);
	return model;
}

void row_model_begin(struct row_model *model, uint32_t start, uint32_t len)
{
	assert_true(start + len <= ROW_MODEL_TEXT_BYTES);
	assert_int_equal(row_builder_begin(model->builder, ROW_MODEL_BIAS + start, len, start), 0);
	model->function_end = start + len;
	memset(model->is_code + start, 1, len);
}

void row_model_add(struct row_model *model, uint32_t offset, struct cfi_rule rule)
{
	assert_int_equal(row_builder_add(model->builder, ROW_MODEL_BIAS + offset, &rule), 0);
	for (uint32_t i = offset; i < model->function_end; i++)
		model->rules[i] = rule;
}

/* As the BPF unwinder sees a rule: it does not look below the stack pointer. */
static struct cfi_rule seen(struct cfi_rule rule)
{
	bool is_at_cfa = rule.kind == CFA_REGISTER && !(rule.flags & CFI_SAVED_AT_RBP);

	for (size_t i = 0; i < NR_SAVED_REGS && is_at_cfa && rule.reg == CFI_RSP; i++)
		if (rule.saved[i] != CFI_LOST && rule.offset + 8 * rule.saved[i] < 0)
			rule.saved[i] = CFI_NOT_SAVED;
	return rule;
}

static void assert_rule_at(const void *table, uint64_t offset, struct cfi_rule expected)
{
	struct cfi_rule found;

	row_lookup(table, offset, &found);
	found = seen(found);
	expected = seen(expected);
	assert_memory_equal(&found, &expected, sizeof(found));
}

static uint32_t find_gap_end(const struct row_model *model, uint32_t start)
{
	while (start < ROW_MODEL_TEXT_BYTES && !model->is_code[start])
		start++;
	return start;
}

/* Gaps have no CFI, or (between functions, if they are small) any. */
static uint32_t assert_gap(const void *table, const struct row_model *model, uint32_t start)
{
	uint32_t end = find_gap_end(model, start);

	if (start == 0 || end == ROW_MODEL_TEXT_BYTES || end - start > ROW_BUILDER_PADDING)
		for (uint32_t i = start; i < end; i++)
			assert_rule_at(table, i, no_rule);
	return end;
}

static void assert_equals_model(const void *table, const struct row_model *model)
{
	uint32_t i = 0;

	while (i < ROW_MODEL_TEXT_BYTES) {
		if (!model->is_code[i]) {
			i = assert_gap(table, model, i);
			continue;
		}
		assert_rule_at(table, i, model->rules[i]);
		i++;
	}
	assert_rule_at(table, ROW_MODEL_TEXT_BYTES + 5 * ROW_PAGE_BYTES, no_rule);
	assert_rule_at(table, UINT64_MAX, no_rule);
}

struct row_table_bytes row_model_seal(struct row_model *model)
{
	struct row_table_bytes table = { 0 };

	assert_int_equal(row_builder_seal(model->builder, &table), 0);
	assert_true(row_table_is_valid(table.data, table.len));
	assert_equals_model(table.data, model);
	return table;
}

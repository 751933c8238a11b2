/* SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

static struct cfi_rule function_rules[SCENE_NR_FUNCTIONS];
static bool has_own_table;

struct cfi_rule scene_rule(enum cfa_kind kind, enum unwind_register reg, int32_t offset)
{
	struct cfi_rule rule = {
		.kind = (uint8_t)kind, .reg = (uint8_t)reg, .return_address = -1, .offset = offset
	};

	for (size_t i = 0; i < array_len(rule.saved); i++)
		rule.saved[i] = CFI_NOT_SAVED;
	return rule;
}

void scene_put_list(const uint64_t *starts, const uint32_t *slots, const uint64_t *biases,
		    uint32_t nr_ranges)
{
	const struct mapping_table list = {
		.id = SCENE_LIST_ID,
		.nr_ranges = nr_ranges,
		.ranges_offset = (MAPPING_TABLE_STARTS + 8 * nr_ranges + 31) & ~31U,
	};
	size_t len = list.ranges_offset + nr_ranges * sizeof(struct mapping_range);
	uint8_t *bytes = calloc(1, len);

	assert_non_null(bytes);
	memcpy(bytes, &list, sizeof(list));
	for (uint32_t i = 0; i < nr_ranges; i++) {
		bool has_slot = slots[i] != HOLE && slots[i] != POSTPONED;
		const struct mapping_range range = { .bias = biases[i],
						     .slot = has_slot ? slots[i] : 0,
						     .is_hole = slots[i] == HOLE,
						     .is_postponed = slots[i] == POSTPONED };

		memcpy(bytes + MAPPING_TABLE_STARTS + i * sizeof(*starts), &starts[i],
		       sizeof(*starts));
		memcpy(bytes + list.ranges_offset + i * sizeof(range), &range, sizeof(range));
	}
	fake_put(SCENE_LIST, bytes, len);
	free(bytes);
}

static void put_default_list(void)
{
	static const uint64_t starts[] = { SCENE_CODE, SCENE_CODE_END, SCENE_JIT, SCENE_JIT_END };
	static const uint32_t slots[] = { SCENE_SLOT, HOLE, 0, HOLE };
	static const uint64_t biases[] = { SCENE_CODE - SCENE_FILE_OFFSET, 0, 0, 0 };

	scene_put_list(starts, slots, biases, array_len(starts));
}

void scene_begin(void)
{
	fake_bpf_reset();
	put_default_list();
	fake_bind(SCENE_PID, MAPPING_BINDING(SCENE_LIST, SCENE_LIST_ID));
	fake_set_table(SCENE_SLOT, SCENE_TABLE);
	has_own_table = false;
	memset(function_rules, 0, sizeof(function_rules));
	for (unsigned int i = 1; i < SCENE_NR_FUNCTIONS; i++)
		function_rules[i] = scene_rule(CFA_REGISTER, CFI_SP, 8);
	function_rules[SCENE_ROOT] = scene_rule(CFA_END, 0, 0);
	fake_state()->pid = SCENE_PID;
	fake_state()->ip = IN_FUNCTION(1);
	fake_state()->regs[CFI_SP] = SCENE_STACK;
}

void scene_set_rule(unsigned int function, struct cfi_rule rule)
{
	function_rules[function] = rule;
}

void scene_set_stack(const uint64_t *words, size_t nr_words)
{
	fake_add_memory(SCENE_STACK, words, nr_words * sizeof(*words));
}

/* The page directory: for each page, how many rows are before it. */
static void fill_pages(uint32_t *pages, const struct row_table *table, const struct scene_row *rows)
{
	uint32_t row = 0;

	for (uint32_t page = 0; page <= table->nr_pages; page++) {
		while (row < table->nr_rows &&
		       rows[row].file_offset / ROW_PAGE_BYTES < table->first_page + page)
			row++;
		pages[page] = row;
	}
}

static void put_table(uint32_t unit, const struct cfi_rule *rules, size_t nr_rules,
		      const struct scene_row *rows, size_t nr_rows)
{
	struct row_table table = { .nr_rules = (uint32_t)nr_rules, .nr_rows = (uint32_t)nr_rows };
	uint32_t *row_words, *pages;
	uint8_t *bytes;

	table.first_page = rows[0].file_offset / ROW_PAGE_BYTES;
	table.nr_pages = rows[nr_rows - 1].file_offset / ROW_PAGE_BYTES + 1 - table.first_page;
	table.rules_offset = (uint32_t)(ROW_TABLE_PAGES + 4 * (table.nr_pages + 1) + 15) & ~15U;
	table.rows_offset = table.rules_offset + table.nr_rules * (uint32_t)sizeof(*rules);
	table.bytes = table.rows_offset + 4 * table.nr_rows;
	bytes = calloc(1, table.bytes);
	assert_non_null(bytes);
	memcpy(bytes, &table, sizeof(table));
	pages = (uint32_t *)(void *)(bytes + ROW_TABLE_PAGES);
	fill_pages(pages, &table, rows);
	memcpy(bytes + table.rules_offset, rules, nr_rules * sizeof(*rules));
	row_words = (uint32_t *)(void *)(bytes + table.rows_offset);
	for (size_t i = 0; i < nr_rows; i++)
		row_words[i] = ROW(rows[i].file_offset, rows[i].rule);
	fake_put(unit, bytes, table.bytes);
	free(bytes);
}

void scene_put_table_at(uint32_t unit, const struct cfi_rule *rules, size_t nr_rules,
			const struct scene_row *rows, size_t nr_rows)
{
	put_table(unit, rules, nr_rules, rows, nr_rows);
	fake_set_table(SCENE_SLOT, unit);
	has_own_table = true;
}

void scene_put_table(const struct cfi_rule *rules, size_t nr_rules, const struct scene_row *rows,
		     size_t nr_rows)
{
	scene_put_table_at(SCENE_TABLE, rules, nr_rules, rows, nr_rows);
}

static void put_default_table(void)
{
	struct scene_row rows[SCENE_NR_FUNCTIONS];

	for (uint16_t i = 0; i < SCENE_NR_FUNCTIONS; i++)
		rows[i] = (struct scene_row){ (uint32_t)SCENE_FILE_OFFSET + 0x100U * i, i };
	put_table(SCENE_TABLE, function_rules, SCENE_NR_FUNCTIONS, rows, SCENE_NR_FUNCTIONS);
}

void scene_put_v8(const struct v8_layout *layout, uint32_t slot)
{
	const struct mapping_table head = { .id = SCENE_LIST_ID,
					    .nr_ranges = 4,
					    .ranges_offset = 64,
					    .runtimes_offset = 192,
					    .nr_runtimes = 1 };
	const struct mapping_range ranges[] = {
		{ .bias = SCENE_CODE - SCENE_FILE_OFFSET, .slot = SCENE_SLOT },
		{ .is_hole = 1 },
		{ .slot = 0 },
		{ .is_hole = 1 },
	};
	const uint64_t starts[] = { SCENE_CODE, SCENE_CODE_END, SCENE_JIT, SCENE_JIT_END };
	struct runtime_descriptor descriptor = { 0 };
	uint8_t table[192 + sizeof(descriptor)] = { 0 };

	_Static_assert(64 + sizeof(ranges) <= 192, "the ranges are before the descriptor");
	descriptor.process.kind = RUNTIME_V8;
	descriptor.process.slot = slot;
	descriptor.layout.v8 = *layout;
	memcpy(table, &head, sizeof(head));
	memcpy(table + MAPPING_TABLE_STARTS, starts, sizeof(starts));
	memcpy(table + head.ranges_offset, ranges, sizeof(ranges));
	memcpy(table + head.runtimes_offset, &descriptor, sizeof(descriptor));
	fake_put(SCENE_LIST, table, sizeof(table));
}

int scene_unwind(void)
{
	if (!has_own_table)
		put_default_table();
	return unwind_native();
}

void scene_check(int result, const uint64_t *frames, size_t nr_frames)
{
	assert_int_equal(scene_unwind(), result);
	for (size_t i = 0; i < nr_frames && i < fake_event()->nr_user; i++)
		assert_int_equal(fake_event()->frames[i], frames[i]);
	assert_int_equal(fake_event()->nr_user, nr_frames);
}

bool scene_knows(enum unwind_register reg)
{
	return fake_state()->known & REGISTER_BIT(reg);
}

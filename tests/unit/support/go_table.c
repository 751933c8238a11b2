/* SPDX-License-Identifier: Apache-2.0 */
#include "go_table.h"

#include "base/cleanup.h"
#include "unit.h"
#include "elf/arch.h"
#include "unwind/rows/functions.h"

#include <string.h>

const struct go_layout go_layouts[GO_NR_LAYOUTS] = {
	{ 0xfffffffb, 0, false, 0 },
	{ 0xfffffffa, 7, false, 4 },
	{ 0xfffffff0, 8, true, 4 },
	{ 0xfffffff1, 8, true, 8 },
};

struct go_row go_rows[GO_MAX_ROWS];
size_t go_nr_rows;
int go_add_result;

/* Stands for the real one, so that the rows are seen before they are merged. */
int row_builder_add(struct row_builder *builder, uint64_t address, const struct cfi_rule *rule)
{
	assert_null(builder);
	if (go_nr_rows < GO_MAX_ROWS)
		go_rows[go_nr_rows++] = (struct go_row){ address, *rule };
	return go_add_result;
}

static size_t put(struct go_table *table, const void *bytes, size_t len)
{
	size_t at = table->len;

	assert_true(len <= sizeof(table->data) - at);
	memcpy(table->data + at, bytes, len);
	table->len += len;
	return at;
}

static size_t put_u32(struct go_table *table, uint32_t value)
{
	return put(table, &value, sizeof(value));
}

static size_t put_u64(struct go_table *table, uint64_t value)
{
	return put(table, &value, sizeof(value));
}

static void set_number(struct go_table *table, const struct go_layout *layout, size_t functab,
		       size_t index, uint64_t value)
{
	size_t bytes = layout->has_offsets ? 4 : 8;

	memcpy(table->data + functab + index * bytes, &value, bytes);
}

static uint64_t start_of(const struct go_layout *layout, uint32_t start)
{
	return layout->has_offsets ? start : GO_TEXT + start;
}

static size_t put_record(struct go_table *table, const struct go_layout *layout, uint64_t start,
			 size_t name, size_t pcsp)
{
	uint32_t zeros[2] = { 0 };
	size_t at = layout->has_offsets ? put_u32(table, (uint32_t)start) : put_u64(table, start);

	put_u32(table, (uint32_t)name);
	put(table, zeros, 8); /* size of arguments, deferreturn */
	put_u32(table, (uint32_t)pcsp);
	put(table, zeros, 8); /* pcfile, pcln */
	put_u32(table, 0); /* npcdata */
	put(table, zeros, layout->cu_and_line_bytes);
	return at;
}

/* All parts count from the beginning of the table; the records' part begins with functab. */
static void set_word(struct go_table *table, size_t index, uint64_t value)
{
	memcpy(table->data + 8 + 8 * index, &value, sizeof(value));
}

void go_table_make(struct go_table *table, const struct go_layout *layout,
		   const struct go_function *functions, size_t nr)
{
	size_t words = layout->header_words ? layout->header_words : 1;
	size_t names[8] = { 0 };
	size_t pcsp[8] = { 0 };
	size_t functab;

	memset(table, 0, sizeof(*table));
	put_u32(table, layout->magic);
	put(table, ((uint8_t[]){ 0, 0, ARCH_GO_PC_QUANTUM, 8 }), 4);
	for (size_t i = 0; i < words; i++)
		put_u64(table, 0);
	functab = table->len;
	table->len += (2 * nr + 1) * 8;
	for (size_t i = 0; i < nr; i++) {
		names[i] = put(table, functions[i].name, strlen(functions[i].name) + 1);
		if (functions[i].pcsp)
			pcsp[i] = put(table, functions[i].pcsp, strlen(functions[i].pcsp) + 1);
	}

	/* Records count from functab where that is a part of its own. */
	size_t base = layout->header_words ? functab : 0;
	for (size_t i = 0; i < nr; i++) {
		uint64_t start = start_of(layout, functions[i].start);
		size_t record = put_record(table, layout, start, names[i], pcsp[i]);

		put(table, (uint8_t[]){ 0, functions[i].flags, 0, 0 }, 4);
		set_number(table, layout, functab, 2 * i, start);
		set_number(table, layout, functab, 2 * i + 1, record - base);
	}
	set_number(table, layout, functab, 2 * nr, start_of(layout, 0x1000));
	set_word(table, 0, nr);
	if (layout->header_words)
		set_word(table, layout->header_words - 1, functab);
}

struct gopclntab_section go_table_section(const struct go_table *table)
{
	return (struct gopclntab_section){ table->data, table->len, GO_TEXT };
}

struct unwind_source *go_table_open(const struct go_table *table)
{
	struct gopclntab_section section = go_table_section(table);
	struct unwind_source *source;

	assert_int_equal(gopclntab_source_new(&section, &source), 0);
	return source;
}

struct unwind_losses go_table_read(const struct go_table *table, struct unwind_functions *functions)
{
	_cleanup_(unwind_source_freep) struct unwind_source *source = go_table_open(table);
	struct unwind_losses losses = { 0 };

	go_nr_rows = 0;
	functions->max_items = 100;
	assert_int_equal(source->ops->list(source, functions, &losses), 0);
	for (size_t i = 0; i < functions->nr_items; i++)
		assert_int_equal(source->ops->emit(source, &functions->items[i], NULL, &losses), 0);
	return losses;
}

struct unwind_losses go_table_read_one(const struct go_layout *layout,
				       const struct go_function *function)
{
	_cleanup_(unwind_functions_done) struct unwind_functions functions = { 0 };
	struct go_table table;

	go_table_make(&table, layout, function, 1);
	return go_table_read(&table, &functions);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "code_scan_fixture.h"

#include "base/cleanup.h"
#include "row_lookup.h"
#include "unwind/rows/functions.h"

#include "unit.h"

#define MAX_TABLE_BYTES (1 << 20)

static int add_functions(struct unwind_source *source, struct row_builder *builder)
{
	_cleanup_(unwind_functions_done) struct unwind_functions functions = { .max_items = 64 };
	struct unwind_losses losses = { 0 };
	int r = source->ops->list(source, &functions, &losses);

	for (size_t i = 0; i < functions.nr_items && r == 0; i++) {
		const struct unwind_function *function = &functions.items[i];

		r = row_builder_begin(builder, function->start, function->end - function->start,
				      function->start - SCAN_ADDRESS);
		if (r == 0)
			r = source->ops->emit(source, function, builder, &losses);
	}
	return r;
}

int scan_build(const struct code *code, struct row_table_bytes *ret_table)
{
	_cleanup_(unwind_source_freep) struct unwind_source *source = NULL;
	_cleanup_(row_builder_freep) struct row_builder *builder = NULL;
	const struct scan_code codes[] = { { (const uint8_t *)code->bytes, code->len,
					     SCAN_ADDRESS } };
	const struct code_scan_input input = { codes, 1, code->starts, code->nr_starts,
					       code->entry };

	int r = code_scan_source_new(&input, &source);
	if (r == 0)
		r = row_builder_new(MAX_TABLE_BYTES, &builder);
	if (r == 0)
		r = add_functions(source, builder);
	return r < 0 ? r : row_builder_seal(builder, ret_table);
}

void scan_code(const struct code *code, struct row_table_bytes *ret_table)
{
	assert_int_equal(scan_build(code, ret_table), 0);
	assert_true(row_table_is_valid(ret_table->data, ret_table->len));
}

struct cfi_rule scan_rule_at(const struct row_table_bytes *table, uint64_t offset)
{
	struct cfi_rule rule;

	row_lookup(table->data, offset, &rule);
	return rule;
}

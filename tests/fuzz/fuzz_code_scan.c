/* SPDX-License-Identifier: Apache-2.0 */
/* The first byte tells where the program's entry and one function are; the
 * rest is code, in two ranges. */
#include "unwind/code/code_scan.h"

#include "unwind/code/code_insn.h"
#include "unwind/rows/functions.h"

#define ADDRESS 0x401000
#define MAX_TABLE_BYTES ((size_t)1 << 24)
#define MAX_FUNCTIONS 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_lengths(const uint8_t *code, size_t len)
{
	for (size_t at = 0; at < len; at++) {
		struct code_insn insn;

		if (code_insn_decode(code + at, len - at, &insn) == 0 &&
		    (insn.len == 0 || insn.len > len - at || insn.len > CODE_MAX_INSN_BYTES))
			abort();
	}
}

static int emit(struct unwind_source *source, struct row_builder *builder)
{
	_cleanup_(unwind_functions_done) struct unwind_functions functions = {
		.max_items = MAX_FUNCTIONS
	};
	struct unwind_losses losses = { 0 };
	int r = source->ops->list(source, &functions, &losses);

	for (size_t i = 0; i < functions.nr_items && r == 0; i++) {
		const struct unwind_function *function = &functions.items[i];

		r = row_builder_begin(builder, function->start, function->end - function->start,
				      function->start - ADDRESS);
		if (r == 0)
			r = source->ops->emit(source, function, builder, &losses);
	}
	return r;
}

static void scan(const struct code_scan_input *input)
{
	_cleanup_(unwind_source_freep) struct unwind_source *source = NULL;
	_cleanup_(row_builder_freep) struct row_builder *builder = NULL;
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };

	if (code_scan_source_new(input, &source) < 0 ||
	    row_builder_new(MAX_TABLE_BYTES, &builder) < 0 || emit(source, builder) < 0 ||
	    row_builder_seal(builder, &table) < 0)
		return;
	if (!row_table_is_valid(table.data, table.len))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;

	size_t len = size - 1, middle = len / 2;
	const struct scan_code codes[] = {
		{ data + 1, middle, ADDRESS },
		{ data + 1 + middle, len - middle, ADDRESS + middle },
	};
	const struct scan_start starts[] = { { ADDRESS + data[0] / 2, data[0] & 1 } };

	check_lengths(data + 1, len);
	scan(&(struct code_scan_input){ codes, 2, starts, 1, ADDRESS + data[0] % 7 });
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The first byte says which section it is, the rest is the section. */
#include "unwind/cfi/cfi.h"

#include <stdlib.h>

#define MAX_FUNCTIONS 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Stands in for the real one, and is stricter: rows of a function come in order and lie inside. */
struct row_builder {
	uint64_t first; /* the least address allowed next */
	uint64_t end;
};

static void check_rule(const struct cfi_rule *rule)
{
	if (rule->kind == CFA_NONE || rule->kind >= CFA_NR_KINDS || rule->reg >= NR_REGS ||
	    (rule->flags & ~(CFI_SAVED_AT_RBP | CFI_RETURN_IN_REGISTER)))
		abort();
}

int row_builder_add(struct row_builder *builder, uint64_t address, const struct cfi_rule *rule)
{
	if (address < builder->first || address >= builder->end)
		abort();
	builder->first = address;
	check_rule(rule);
	return 0;
}

static void emit_all(struct unwind_source *source, const struct unwind_functions *functions,
		     struct unwind_losses *losses)
{
	for (size_t i = 0; i < functions->nr_items; i++) {
		const struct unwind_function *function = &functions->items[i];
		struct row_builder builder = { function->start, function->end };

		if (function->start >= function->end ||
		    source->ops->emit(source, function, &builder, losses) < 0 || builder.first == 0)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(unwind_source_freep) struct unwind_source *source = NULL;
	struct unwind_functions functions = { .max_items = MAX_FUNCTIONS };
	struct unwind_losses losses = { 0 };

	if (size == 0)
		return 0;
	const struct cfi_section section = {
		.data = data + 1,
		.len = size - 1,
		.address = 0x400000,
		.text_address = 0x10000,
		.data_address = 0x20000,
		.is_debug_frame = data[0] & 1,
	};
	if (cfi_source_new(&section, &source) < 0)
		return 0;
	if (source->ops->list(source, &functions, &losses) == 0)
		emit_all(source, &functions, &losses);
	free(functions.items);
	return 0;
}

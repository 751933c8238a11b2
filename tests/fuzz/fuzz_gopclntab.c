/* SPDX-License-Identifier: Apache-2.0 */
/* The rows are only looked at: the real builder has a target of its own. */
#include "base/cleanup.h"
#include "unwind/go/gopclntab.h"
#include "unwind/rows/functions.h"

#define TEXT 0x401000
#define MAX_FUNCTIONS 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int row_builder_add(struct row_builder *builder, uint64_t address, const struct cfi_rule *rule)
{
	(void)builder;
	(void)address;
	if (rule->kind >= CFA_NR_KINDS ||
	    (rule->kind == CFA_REGISTER && rule->offset < (CFI_IS_ARM64 ? 0 : 8)))
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(unwind_functions_done) struct unwind_functions functions = {
		.max_items = MAX_FUNCTIONS
	};
	_cleanup_(unwind_source_freep) struct unwind_source *source = NULL;
	const struct gopclntab_section section = { data, size, TEXT };
	struct unwind_losses losses = { 0 };

	if (gopclntab_source_new(&section, &source) < 0)
		return 0;
	if (source->ops->list(source, &functions, &losses) < 0)
		return 0;
	for (size_t i = 0; i < functions.nr_items; i++)
		if (source->ops->emit(source, &functions.items[i], NULL, &losses) < 0)
			abort();
	return 0;
}

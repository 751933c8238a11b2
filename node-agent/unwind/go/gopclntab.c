/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of Go functions. The table says at each pc how far the stack pointer is below where it
 * was at the function's entry; what that means differs by architecture (gopclntab_frame.h).
 *
 * Some functions of the runtime are not like others, see `special_functions`. The runtime says
 * so by names and by two flags (since Go 1.17); their numbers (abi.FuncID) change from version
 * to version. */
#include "unwind/go/gopclntab.h"

#include "elf/arch.h"
#include "elf/gopclntab_table.h"
#include "unwind/go/gopclntab_frame.h"
#include "unwind/rows/functions.h"

#include <string.h>

/* Limit of the steps of all functions, for each byte of the table. Real tables have less than
 * one; but functions may share steps. */
#define MAX_STEPS_PER_BYTE 4

static const struct {
	const char *name;
	enum go_role role;
} special_functions[] = {
	{ "_rt0_" ARCH_GO_NAME, GO_ROLE_ROOT },
	{ "_rt0_" ARCH_GO_NAME "_linux", GO_ROLE_ROOT },
	{ "runtime.rt0_go", GO_ROLE_ROOT },
	{ "runtime.mstart", GO_ROLE_ROOT },
	{ "runtime.goexit", GO_ROLE_ROOT },
	{ "runtime.sigreturn", GO_ROLE_SIGNAL_RETURN },
	{ "runtime.sigreturn__sigaction", GO_ROLE_SIGNAL_RETURN },
	{ "runtime.mcall", GO_ROLE_MCALL },
	{ "runtime.systemstack", GO_ROLE_STACK_SWITCH },
	{ "runtime.asmcgocall", GO_ROLE_STACK_SWITCH },
	{ "runtime.cgocallback", GO_ROLE_STACK_SWITCH },
	{ "runtime.cgocallback_gofunc", GO_ROLE_STACK_SWITCH },
	{ "runtime.morestack", GO_ROLE_STACK_SWITCH },
	{ "runtime.gogo", GO_ROLE_STACK_SWITCH },
	{ "runtime.sigtramp", GO_ROLE_CALLED_BY_C },
	{ "runtime.sigprofNonGoWrapper", GO_ROLE_CALLED_BY_C },
	{ "_rt0_" ARCH_GO_NAME "_lib", GO_ROLE_CALLED_BY_C },
	{ "crosscall2", GO_ROLE_CROSSCALL },
	{ "internal/chacha8rand.block", GO_ROLE_LEAF },
	{ "runtime.asyncPreempt", GO_ROLE_INJECTED },
	{ "runtime.sigpanic", GO_ROLE_INJECTED },
	{ "runtime.sigpanic0", GO_ROLE_INJECTED },
	/* Writes the stack pointer only in the child, which then calls mstart. */
	{ "runtime.clone", GO_ROLE_PLAIN },
};

struct gopclntab_source {
	struct unwind_source source;
	struct gopclntab_table table;
	uint64_t steps_left;
};

static enum go_role find_role(const struct gopclntab_function *function)
{
	for (size_t i = 0; i < sizeof(special_functions) / sizeof(special_functions[0]); i++)
		if (strcmp(function->name, special_functions[i].name) == 0)
			return special_functions[i].role;
	if (function->flags & GO_TOP_FRAME)
		return GO_ROLE_ROOT;
	return function->flags & GO_WRITES_SP ? GO_ROLE_STACK_SWITCH : GO_ROLE_PLAIN;
}

static struct gopclntab_source *to_gopclntab(struct unwind_source *source)
{
	return (struct gopclntab_source *)source;
}

/* A signal handler returns to the first byte of this function, as if the byte before had called
 * it. */
static void begin_before(struct unwind_functions *functions, struct unwind_function *function)
{
	if (functions->nr_items > 0 &&
	    functions->items[functions->nr_items - 1].end == function->start)
		functions->items[functions->nr_items - 1].end--;
	function->start--;
}

static int list(struct unwind_source *source, struct unwind_functions *functions,
		struct unwind_losses *losses)
{
	const struct gopclntab_table *table = &to_gopclntab(source)->table;
	int r = 0;

	for (size_t i = 0; i < table->nr_functions && r == 0; i++) {
		struct gopclntab_function entry;

		if (gopclntab_table_get(table, i, &entry) < 0) {
			losses->nr_bad_entries++;
			continue;
		}
		if (entry.pcsp == 0)
			continue;

		struct unwind_function function = { entry.start, entry.end, i, 0 };
		if (find_role(&entry) == GO_ROLE_SIGNAL_RETURN && entry.start > 0)
			begin_before(functions, &function);
		r = unwind_functions_add(functions, &function);
	}
	return r;
}

/* Reads the next step. Returns 0 at the end. Errors: -EBADMSG damaged, or too many steps. */
static int next_step(struct gopclntab_source *source, struct gopclntab_steps *steps,
		     uint64_t *ret_address, int32_t *ret_distance)
{
	int r = gopclntab_steps_next(steps, ret_address, ret_distance);

	if (r <= 0)
		return r;
	if (source->steps_left == 0 || *ret_distance > GO_MAX_DISTANCE)
		return -EBADMSG;
	source->steps_left--;
	return 1;
}

static int32_t find_deepest(struct gopclntab_source *source, const struct gopclntab_function *entry)
{
	struct gopclntab_steps steps;
	uint64_t address = entry->start;
	int32_t distance;
	int32_t deepest = 0;

	gopclntab_steps_init(&steps, &source->table, entry);
	while (address < entry->end && next_step(source, &steps, &address, &distance) > 0)
		deepest = distance > deepest ? distance : deepest;
	return deepest;
}

static int emit_steps(struct gopclntab_source *source, const struct gopclntab_function *entry,
		      struct gopclntab_frame *frame)
{
	struct gopclntab_steps steps;
	uint64_t address;
	int32_t distance;
	int r;

	gopclntab_steps_init(&steps, &source->table, entry);
	while ((r = next_step(source, &steps, &address, &distance)) > 0 && address < entry->end) {
		frame->step_end = steps.address;
		r = gopclntab_frame_add_step(frame, address, distance);
		if (r < 0)
			break;
	}
	return r;
}

static int emit(struct unwind_source *source, const struct unwind_function *function,
		struct row_builder *builder, struct unwind_losses *losses)
{
	struct gopclntab_source *self = to_gopclntab(source);
	struct gopclntab_function entry;
	int r;

	if (function->ref >= self->table.nr_functions ||
	    gopclntab_table_get(&self->table, (size_t)function->ref, &entry) < 0)
		return 0;

	struct gopclntab_frame frame = { .builder = builder, .role = find_role(&entry) };
	if (frame.role == GO_ROLE_ROOT)
		return gopclntab_frame_add_kind(builder, function->start, CFA_END);
	if (frame.role == GO_ROLE_SIGNAL_RETURN)
		return gopclntab_frame_add_kind(builder, function->start, CFA_SIGNAL);
	if (gopclntab_frame_switches(&frame))
		frame.deepest = find_deepest(self, &entry);

	r = emit_steps(self, &entry, &frame);
	if (r != -EBADMSG)
		return r < 0 ? r : 0;
	losses->nr_bad_entries++;
	return 0;
}

static void free_source(struct unwind_source *source)
{
	free(source);
}

int gopclntab_source_new(const struct gopclntab_section *section, struct unwind_source **ret_source)
{
	static const struct unwind_source_ops ops = { list, emit, free_source };
	struct gopclntab_table table;

	int r = gopclntab_table_init(&table, section);
	if (r < 0)
		return r;

	struct gopclntab_source *source = calloc(1, sizeof(*source));
	if (!source)
		return -ENOMEM;
	*source = (struct gopclntab_source){
		.source.ops = &ops,
		.table = table,
		.steps_left = (uint64_t)MAX_STEPS_PER_BYTE * section->len,
	};
	*ret_source = &source->source;
	return 0;
}

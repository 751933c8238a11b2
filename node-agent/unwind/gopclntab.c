/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of Go functions. The table says at each pc how far the stack pointer is below where it was at the
 * function's entry, which was 8 below the CFA:
 *
 *	                       pcsp    rule                  rbp
 *	push %rbp                 0    CFA = rsp +  8        is the caller's
 *	mov  %rsp,%rbp            8    CFA = rsp + 16        saved at CFA - 16
 *	sub  $24,%rsp             8
 *	…                        32    CFA = rsp + 40
 *	add  $24,%rsp            32
 *	pop  %rbp                 8    CFA = rsp + 16
 *	ret                       0    CFA = rsp +  8
 *
 * So it is since Go 1.21. Older functions open the whole frame at once, and save rbp in a second instruction, at
 * the same place: `sub $32,%rsp; mov %rbp,24(%rsp); lea 24(%rsp),%rbp`. Which of the two it is shows in the
 * first step down: 8, or more. Nothing says where rbp is in the few functions of hand-written assembly that
 * move the stack pointer but have no such frame; there its value may be wrong, but nothing else depends on it.
 *
 * Go code keeps no other register for its caller, except where C calls it.
 *
 * Some functions of the runtime are not like others, see `special_functions`. The runtime says so by names and by
 * two flags (since Go 1.17); their numbers (abi.FuncID) change from version to version.
 *
 * What switches stacks writes rsp, which no table follows; but its own frame is where rbp points to, on the stack
 * it came from. Without a frame of its own (before Go 1.21), rbp is the frame of its caller, which then is missing
 * in the stack. The same step is made where a function has popped its own return address (vfork() does). */
#include "unwind/gopclntab.h"

#include "unwind/functions.h"
#include "unwind/gopclntab_table.h"

#include <string.h>

#define WORD_BYTES 8
#define SAVED_RBP (-2) /* at CFA - 16 */
#define MAX_DISTANCE (INT32_MAX - WORD_BYTES)
#define MOV_BYTES 3 /* mov %rsp,%rbp */

/* All functions together may have that many steps for each byte of the table. Real ones have less than one;
 * but functions share their tables. */
#define MAX_STEPS_PER_BYTE 4

/* What C's callee-saved registers take where C calls Go (runtime/cgo/abi_amd64.h): rbx, r12 to r15, rbp, upwards. */
#define C_REGISTERS_BYTES 48

enum role {
	ROLE_PLAIN,
	ROLE_ROOT, /* nobody called it */
	ROLE_SIGNAL_RETURN,
	ROLE_STACK_SWITCH,
	ROLE_MCALL, /* goes to the scheduler's stack and never comes back */
	ROLE_CALLED_BY_C,
};

static const struct {
	const char *name;
	enum role role;
} special_functions[] = {
	{ "_rt0_amd64", ROLE_ROOT },
	{ "_rt0_amd64_linux", ROLE_ROOT },
	{ "runtime.rt0_go", ROLE_ROOT },
	{ "runtime.mstart", ROLE_ROOT },
	{ "runtime.goexit", ROLE_ROOT },
	{ "runtime.sigreturn", ROLE_SIGNAL_RETURN },
	{ "runtime.sigreturn__sigaction", ROLE_SIGNAL_RETURN },
	{ "runtime.mcall", ROLE_MCALL },
	{ "runtime.systemstack", ROLE_STACK_SWITCH },
	{ "runtime.asmcgocall", ROLE_STACK_SWITCH },
	{ "runtime.cgocallback", ROLE_STACK_SWITCH },
	{ "runtime.cgocallback_gofunc", ROLE_STACK_SWITCH },
	{ "runtime.morestack", ROLE_STACK_SWITCH },
	{ "runtime.gogo", ROLE_STACK_SWITCH },
	{ "runtime.sigtramp", ROLE_CALLED_BY_C },
	{ "runtime.sigprofNonGoWrapper", ROLE_CALLED_BY_C },
	{ "_rt0_amd64_lib", ROLE_CALLED_BY_C },
	{ "crosscall2", ROLE_CALLED_BY_C },
	/* Writes rsp only in the child, which then calls mstart. */
	{ "runtime.clone", ROLE_PLAIN },
};

struct gopclntab_source {
	struct unwind_source source;
	struct gopclntab_table table;
	uint64_t steps_left;
};

/* A function whose rows are being made. */
struct frame {
	struct row_builder *builder;
	enum role role;
	int32_t deepest; /* the largest distance */
	bool is_open; /* the prologue is over */
	int32_t c_registers; /* distance at which C's registers are saved; 0: they are not */
	bool has_c_registers; /* … by now */
	uint64_t step_end;
};

static enum role find_role(const struct gopclntab_function *function)
{
	for (size_t i = 0; i < sizeof(special_functions) / sizeof(special_functions[0]); i++)
		if (strcmp(function->name, special_functions[i].name) == 0)
			return special_functions[i].role;
	if (function->flags & GO_TOP_FRAME)
		return ROLE_ROOT;
	return function->flags & GO_WRITES_SP ? ROLE_STACK_SWITCH : ROLE_PLAIN;
}

static struct gopclntab_source *to_gopclntab(struct unwind_source *source)
{
	return (struct gopclntab_source *)source;
}

/* A signal handler returns to the first byte of this function, as if the byte before had called it. */
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
		if (find_role(&entry) == ROLE_SIGNAL_RETURN && entry.start > 0)
			begin_before(functions, &function);
		r = unwind_functions_add(functions, &function);
	}
	return r;
}

static struct cfi_rule plain_rule(int32_t distance, int8_t saved_rbp)
{
	return (struct cfi_rule){
		.kind = CFA_REGISTER,
		.reg = CFI_RSP,
		.return_address = -1,
		.offset = distance + WORD_BYTES,
		.saved = { saved_rbp, CFI_LOST, CFI_LOST, CFI_LOST, CFI_LOST, CFI_LOST },
	};
}

static int add_kind(struct row_builder *builder, uint64_t address, enum cfa_kind kind)
{
	const struct cfi_rule rule = { .kind = (uint8_t)kind };

	return row_builder_add(builder, address, &rule);
}

static int add_plain(struct row_builder *builder, uint64_t address, int32_t distance,
		     int8_t saved_rbp)
{
	struct cfi_rule rule = plain_rule(distance, saved_rbp);

	return row_builder_add(builder, address, &rule);
}

static bool switches_stacks(const struct frame *frame)
{
	return frame->role == ROLE_STACK_SWITCH || frame->role == ROLE_MCALL;
}

/* The bytes of `mov %rbp,distance-8(%rsp)`, and of the `lea` behind it; 0 if rbp was pushed before. */
static uint64_t saving_bytes(int32_t distance)
{
	if (distance == WORD_BYTES)
		return 0;
	return distance - WORD_BYTES <= INT8_MAX ? 5 : 8;
}

/* The frame was just opened: the next instructions save rbp, unless that is done, and set it. */
static int add_prologue(struct frame *frame, uint64_t address, int32_t distance)
{
	uint64_t saved = address + saving_bytes(distance);
	uint64_t set = saved > address ? saved + saving_bytes(distance) : address + MOV_BYTES;
	int r = 0;

	frame->is_open = true;
	if (saved > address)
		r = add_plain(frame->builder, address, distance, CFI_NOT_SAVED);
	if (r == 0 && saved < frame->step_end)
		r = add_plain(frame->builder, saved, distance, SAVED_RBP);
	if (r == 0 && set < frame->step_end && switches_stacks(frame))
		r = add_kind(frame->builder, set, CFA_STACK_SWITCH);
	return r;
}

/* Behind the 48 bytes in which C's registers are saved comes room for arguments: when that is there, they are. */
static int add_called_by_c(struct frame *frame, uint64_t address, int32_t distance)
{
	struct cfi_rule rule = plain_rule(distance, distance > 0 ? SAVED_RBP : CFI_NOT_SAVED);
	int32_t slot = -frame->c_registers / WORD_BYTES - 1;

	if (frame->c_registers > 0 && distance > frame->c_registers)
		frame->has_c_registers = true;
	for (size_t i = 1; i < NR_SAVED_REGS; i++)
		rule.saved[i] = (__s8)(frame->has_c_registers ? slot++ : CFI_NOT_SAVED);
	if (distance == C_REGISTERS_BYTES || distance == C_REGISTERS_BYTES + WORD_BYTES)
		frame->c_registers = distance;
	return row_builder_add(frame->builder, address, &rule);
}

static int add_step(struct frame *frame, uint64_t address, int32_t distance)
{
	if (distance < 0)
		return add_kind(frame->builder, address, CFA_NONE);
	if (frame->role == ROLE_CALLED_BY_C)
		return add_called_by_c(frame, address, distance);
	if (frame->role == ROLE_MCALL && distance > 0 && distance == frame->deepest)
		return add_kind(frame->builder, address, CFA_END);
	if (frame->role == ROLE_STACK_SWITCH && frame->deepest == 0)
		return add_kind(frame->builder, address, CFA_STACK_SWITCH);
	if (distance > 0 && !frame->is_open)
		return add_prologue(frame, address, distance);
	if (distance > 0 && switches_stacks(frame))
		return add_kind(frame->builder, address, CFA_STACK_SWITCH);
	return add_plain(frame->builder, address, distance, SAVED_RBP);
}

/* The next step that makes sense; 0 at the end, -EBADMSG when there is no sense in it. */
static int next_step(struct gopclntab_source *source, struct gopclntab_steps *steps,
		     uint64_t *ret_address, int32_t *ret_distance)
{
	int r = gopclntab_steps_next(steps, ret_address, ret_distance);

	if (r <= 0)
		return r;
	if (source->steps_left == 0 || *ret_distance > MAX_DISTANCE)
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
		      struct frame *frame)
{
	struct gopclntab_steps steps;
	uint64_t address;
	int32_t distance;
	int r;

	gopclntab_steps_init(&steps, &source->table, entry);
	while ((r = next_step(source, &steps, &address, &distance)) > 0 && address < entry->end) {
		frame->step_end = steps.address;
		r = add_step(frame, address, distance);
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

	struct frame frame = { .builder = builder, .role = find_role(&entry) };
	if (frame.role == ROLE_ROOT)
		return add_kind(builder, function->start, CFA_END);
	if (frame.role == ROLE_SIGNAL_RETURN)
		return add_kind(builder, function->start, CFA_SIGNAL);
	if (switches_stacks(&frame))
		frame.deepest = find_deepest(self, &entry);

	r = emit_steps(self, &entry, &frame);
	if (r != -EBADMSG)
		return r < 0 ? r : 0;
	losses->nr_bad_entries++;
	return 0;
}

int gopclntab_source_new(const struct gopclntab_section *section, struct unwind_source **ret_source)
{
	static const struct unwind_source_ops ops = { .list = list, .emit = emit };
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

void gopclntab_source_free(struct unwind_source *source)
{
	free(source);
}

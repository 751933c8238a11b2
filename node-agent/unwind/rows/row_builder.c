/* SPDX-License-Identifier: Apache-2.0 */
/* A row goes through three stages, each of which holds the last row back until the next one shows
 * what becomes of it:
 *
 *	function ──▶ pending row ──▶ run ──▶ row_packer
 *	clips        the last of      merges
 *	             one address
 *
 * A *run* is the rows of a prologue's pushes, or of an epilogue's pops. For
 *
 *	 0  push %rbp		rsp + 8
 *	 1  push %rbx		rsp + 16   rbp at CFA - 16
 *	 2  sub $8, %rsp	rsp + 24   rbp at CFA - 16, rbx at CFA - 24
 *	 6  …			rsp + 32   rbp at CFA - 16, rbx at CFA - 24
 *
 * it is one row: rsp + 8, up by 8 at the bytes 1, 2 and 6, rbp at CFA - 16, rbx at CFA - 24.
 * That the registers are saved says the row from its beginning on; until they are, their places
 * are below the stack pointer, where nobody looks. A row belongs to the run only if this gives
 * the very rule that was added.
 *
 * The distance from the row is known in 16 bits only, so a run whose last rule holds for long is
 * followed by a row with that rule alone. */
#include "unwind/rows/row_builder.h"

#include "unwind/rows/row_packer.h"

#include <string.h>

#define WORD_BYTES 8
#define RUN_REACH_BYTES 61440 /* less than what fits into 16 bits */

/* The code that is being added, in the file. */
struct function {
	uint64_t address; /* of the byte at file_offset */
	uint64_t file_offset;
	uint64_t start; /* not below the end of the function before */
	uint64_t end;
};

/* The rule from an offset on. */
struct place {
	uint64_t offset;
	struct cfi_rule rule;
};

/* A row that may yet become longer. Without steps it is a plain row. */
struct run {
	struct place first; /* its rule has all places that the run's rules have */
	struct cfi_rule last; /* what holds behind its last step */
	uint32_t steps; /* bit n: a step n bytes behind the first */
	int direction; /* +1, -1 */
};

struct row_builder {
	struct function function;
	struct place pending; /* in `function`, when that is not empty */
	struct run run;
	struct row_packer packer;
	uint64_t nr_added;
	int error; /* the first one */
};

static bool is_same_rule(const struct cfi_rule *a, const struct cfi_rule *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* Returns whether a place is below the stack pointer when the CFA is so far above it. */
static bool is_below_sp(cfi_slot slot, int32_t cfa_offset)
{
	return slot != CFI_LOST && WORD_BYTES * (int64_t)slot + cfa_offset < 0;
}

static bool is_sp_rule(const struct cfi_rule *rule)
{
	return rule->kind == CFA_REGISTER && rule->reg == CFI_SP;
}

static void drop_places_below_sp(struct cfi_rule *rule)
{
	for (size_t i = 0; i < NR_SAVED_REGS; i++)
		if (is_below_sp(rule->saved[i], rule->offset))
			rule->saved[i] = CFI_NOT_SAVED;
}

/* Clears what has no meaning in a rule. */
static void normalise(struct cfi_rule *rule)
{
	rule->flags &= CFI_SAVED_AT_RBP | CFI_RETURN_IN_REGISTER | CFI_SAVED_BELOW_SP;
	switch (rule->kind) {
	case CFA_REGISTER:
		if (!(rule->flags & CFI_RETURN_IN_REGISTER))
			rule->arg = 0;
		break;
	case CFA_DEREF:
	case CFA_PLT:
		break;
	case CFA_NONE:
	case CFA_SIGNAL:
	case CFA_END:
		*rule = (struct cfi_rule){ .kind = rule->kind };
		return;
	case CFA_STACK_SWITCH:
		*rule = (struct cfi_rule){ .kind = rule->kind, .offset = rule->offset };
		return;
	default:
		*rule = (struct cfi_rule){ .kind = CFA_UNSUPPORTED };
		return;
	}
	if (rule->reg >= NR_REGS)
		*rule = (struct cfi_rule){ .kind = CFA_UNSUPPORTED };
	else if (is_sp_rule(rule) && !(rule->flags & (CFI_SAVED_AT_RBP | CFI_SAVED_BELOW_SP)))
		drop_places_below_sp(rule);
}

/* Returns +1 or -1 if one step in this direction leads from a rule to the next; else 0. */
static int find_direction(const struct cfi_rule *from, const struct cfi_rule *to)
{
	int64_t difference = (int64_t)to->offset - from->offset;

	if (!is_sp_rule(from) || !is_sp_rule(to) || from->flags != to->flags ||
	    (from->flags & CFI_RETURN_IN_REGISTER) || from->return_address != to->return_address)
		return 0;
	if (difference == WORD_BYTES)
		return 1;
	return difference == -WORD_BYTES ? -1 : 0;
}

/* Adds the places of a run's next rule to those of the run. False if then one of its rules would
 * not be the one that was added: a place that is new must be below the stack pointer in all
 * rules before, one that is gone in the next one. */
static bool unite_places(const struct run *run, const struct cfi_rule *next, cfi_slot *places)
{
	bool is_movable = !(next->flags & (CFI_SAVED_AT_RBP | CFI_SAVED_BELOW_SP));

	for (size_t i = 0; i < NR_SAVED_REGS; i++) {
		cfi_slot old = places[i], new = next->saved[i];

		if (old == new)
			continue;
		if (!is_movable)
			return false;
		if (old == CFI_NOT_SAVED && is_below_sp(new, run->last.offset))
			places[i] = new;
		else if (new != CFI_NOT_SAVED || !is_below_sp(old, next->offset))
			return false;
	}
	return true;
}

static bool extend_run(struct run *run, const struct place *next)
{
	uint64_t distance = next->offset - run->first.offset;
	cfi_slot places[NR_SAVED_REGS];
	int direction;

	if (distance > CFI_MAX_RUN)
		return false;
	direction = find_direction(&run->last, &next->rule);
	if (direction == 0 || (run->steps && direction != run->direction))
		return false;
	memcpy(places, run->first.rule.saved, sizeof(places));
	if (!unite_places(run, &next->rule, places))
		return false;
	memcpy(run->first.rule.saved, places, sizeof(places));
	run->last = next->rule;
	run->steps |= 1U << distance;
	run->direction = direction;
	return true;
}

/* Packs the run, which ends where the next row begins. Code without CFI below all rows needs no
 * row. */
static int pack_run(struct row_builder *builder, uint64_t end)
{
	const struct run *run = &builder->run;
	struct cfi_rule rule = run->first.rule;
	int r;

	if (rule.kind == CFA_NONE && builder->packer.nr_rows == 0)
		return 0;
	if (run->steps) {
		rule.flags |= run->direction > 0 ? CFI_RUN_UP : CFI_RUN_DOWN;
		rule.arg = (uint16_t)run->steps;
	}
	r = row_packer_add(&builder->packer, run->first.offset, &rule);
	if (r == 0 && run->steps && end - run->first.offset > RUN_REACH_BYTES)
		r = row_packer_add(&builder->packer, run->first.offset + CFI_MAX_RUN + 1,
				   &run->last);
	return r;
}

static int add_to_run(struct row_builder *builder, const struct place *next)
{
	int r;

	if (is_same_rule(&builder->run.last, &next->rule) || extend_run(&builder->run, next))
		return 0;
	r = pack_run(builder, next->offset);
	if (r < 0)
		builder->error = r;
	builder->run = (struct run){ .first = *next, .last = next->rule };
	return r;
}

static bool is_in_function(const struct function *function)
{
	return function->start < function->end;
}

static void reset(struct row_builder *builder)
{
	builder->function = (struct function){ 0 };
	builder->run = (struct run){ .last = { .kind = CFA_NONE } };
	builder->error = 0;
	row_packer_done(&builder->packer);
}

int row_builder_new(size_t max_bytes, struct row_builder **ret_builder)
{
	struct row_builder *builder = calloc(1, sizeof(*builder));

	if (!builder)
		return -ENOMEM;
	row_packer_init(&builder->packer, max_bytes);
	*ret_builder = builder;
	return 0;
}

void row_builder_free(struct row_builder *builder)
{
	if (!builder)
		return;
	row_packer_done(&builder->packer);
	free(builder);
}

/* Adds a row without CFI at the end of the function. */
static int add_gap(struct row_builder *builder)
{
	struct place gap = { .offset = builder->function.end, .rule.kind = CFA_NONE };

	return add_to_run(builder, &gap);
}

/* A function has no CFI until its first row says otherwise. */
int row_builder_begin(struct row_builder *builder, uint64_t address, uint64_t len,
		      uint64_t file_offset)
{
	const struct function *last = &builder->function;
	struct function function = { .address = address, .file_offset = file_offset };
	int r = 0;

	function.start = file_offset > last->end ? file_offset : last->end;
	function.end = len < UINT64_MAX - file_offset ? file_offset + len : UINT64_MAX;
	if (is_in_function(last))
		r = add_to_run(builder, &builder->pending);
	if (r == 0 && is_in_function(&function) && function.start - last->end > ROW_BUILDER_PADDING)
		r = add_gap(builder);
	if (!is_in_function(&function))
		function.start = function.end = last->end;
	builder->function = function;
	builder->pending = (struct place){ .offset = function.start, .rule.kind = CFA_NONE };
	return r;
}

int row_builder_add(struct row_builder *builder, uint64_t address, const struct cfi_rule *rule)
{
	const struct function *function = &builder->function;
	uint64_t distance = address > function->address ? address - function->address : 0;
	uint64_t offset = function->file_offset + distance;
	int r = 0;

	builder->nr_added++;
	if (offset < distance || offset >= function->end || !is_in_function(function))
		return 0;
	if (offset < function->start)
		offset = function->start;
	if (offset > builder->pending.offset) {
		r = add_to_run(builder, &builder->pending);
		builder->pending.offset = offset;
	}
	builder->pending.rule = *rule;
	normalise(&builder->pending.rule);
	return r;
}

static int seal(struct row_builder *builder, struct row_table_bytes *ret_table)
{
	int r = builder->error;

	if (r == 0 && is_in_function(&builder->function))
		r = add_to_run(builder, &builder->pending);
	if (r == 0)
		r = add_gap(builder);
	if (r == 0)
		r = pack_run(builder, builder->run.first.offset);
	return r < 0 ? r : row_packer_seal(&builder->packer, ret_table);
}

int row_builder_seal(struct row_builder *builder, struct row_table_bytes *ret_table)
{
	int r = seal(builder, ret_table);

	reset(builder);
	return r;
}

uint64_t row_builder_nr_added(const struct row_builder *builder)
{
	return builder->nr_added;
}

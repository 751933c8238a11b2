/* SPDX-License-Identifier: Apache-2.0 */
/* At the entry the stack pointer is the CFA, and the return address is in lr. The assembler
 * saves lr at the bottom of the frame, and below it, where the frames of functions that are
 * called leave a word free, fp:
 *
 *	                       pcsp    rule                  lr             fp
 *	str  x30,[sp,#-48]!       0    CFA = sp +  0         is             is the caller's
 *	stur x29,[sp,#-8]        48    CFA = sp + 48         at CFA - 48
 *	sub  x29,sp,#8           48                                         at CFA - 56
 *	…                        48
 *	ldur x29,[sp,#-8]        48
 *	ldr  x30,[sp],#48        48
 *	ret                       0    CFA = sp +  0         is             is the caller's
 *
 * Frames of 256 bytes and more save both in one instruction before the stack pointer is moved.
 * fp points to a frame record, like in C, but not to where sp does.
 *
 * Hand-written functions that move sp by themselves (NOFRAME) save lr anywhere; of those only
 * crosscall2() is known.
 *
 * A signal handler that injects a call pushes lr, which it then sets, in 16 bytes: the CFA is
 * above them.
 *
 * What switches stacks leaves fp where it was, at the record of its own frame. */
#include "unwind/go/gopclntab_frame.h"

#define WORD_BYTES 8
#define INSTRUCTION_BYTES 4

/* crosscall2() of runtime/cgo/asm_arm64.s: it saves lr with its 13th instruction, fp below it. */
#define CROSSCALL_SAVED_BYTES (12 * INSTRUCTION_BYTES)
#define CROSSCALL_SAVED_LR (-1) /* at CFA - 8 */

#define INJECTED_BYTES 16
#define LEAF_MAX_BYTES 4096

static int32_t cfa_of(const struct gopclntab_frame *frame, int32_t distance)
{
	return frame->role == GO_ROLE_INJECTED ? distance + INJECTED_BYTES : distance;
}

/* Adds a rule with saved registers; an unsupported one if they are too far away for a slot. */
static int add_saved(struct gopclntab_frame *frame, uint64_t address, int32_t distance, bool has_fp)
{
	int32_t slot = -cfa_of(frame, frame->open_size) / WORD_BYTES;
	const struct cfi_rule rule = {
		.kind = CFA_REGISTER,
		.reg = CFI_SP,
		.flags = has_fp ? CFI_SAVED_BELOW_SP : 0,
		.offset = cfa_of(frame, distance),
		.return_address = (cfi_slot)slot,
		.saved = { (cfi_slot)(has_fp ? slot - 1 : CFI_NOT_SAVED) },
	};

	if (slot - 1 <= CFI_NOT_SAVED)
		return gopclntab_frame_add_kind(frame->builder, address, CFA_UNSUPPORTED);
	return row_builder_add(frame->builder, address, &rule);
}

/* Adds a rule without saved registers: before they are saved, or after they are restored. */
static int add_leaf(struct gopclntab_frame *frame, uint64_t address, int32_t distance)
{
	const struct cfi_rule rule = {
		.kind = CFA_REGISTER,
		.reg = CFI_SP,
		.flags = CFI_RETURN_IN_REGISTER,
		.offset = cfa_of(frame, distance),
		.arg = CFI_LR,
		.saved = { CFI_NOT_SAVED },
	};

	return row_builder_add(frame->builder, address, &rule);
}

/* Adds the rules of a leaf, whose return address stays in lr. The second instruction saves fp. */
static int add_leaf_frame(struct gopclntab_frame *frame, uint64_t address, int32_t distance)
{
	const struct cfi_rule saved = {
		.kind = CFA_REGISTER,
		.reg = CFI_SP,
		.flags = CFI_RETURN_IN_REGISTER | CFI_SAVED_BELOW_SP,
		.offset = distance,
		.arg = CFI_LR,
		.saved = { (cfi_slot)(-distance / WORD_BYTES - 1) },
	};
	int r = add_leaf(frame, address, distance);

	if (r == 0 && distance > 0 && distance <= LEAF_MAX_BYTES)
		r = row_builder_add(frame->builder, address + INSTRUCTION_BYTES, &saved);
	return r;
}

/* Adds a rule for code that may change stacks: the frame record may be on another one. The size
 * of the frame counts as long as it is not. */
static int add_switch(struct gopclntab_frame *frame, uint64_t address, int32_t distance)
{
	const struct cfi_rule rule = {
		.kind = CFA_STACK_SWITCH,
		.offset = -distance / WORD_BYTES - 1 > CFI_NOT_SAVED ? distance : 0,
	};

	return row_builder_add(frame->builder, address, &rule);
}

/* The frame was just opened: the next instruction saves fp, unless that is done, and one more
 * sets it. */
static int add_prologue(struct gopclntab_frame *frame, uint64_t address, int32_t distance)
{
	uint64_t saved = address + INSTRUCTION_BYTES;
	uint64_t set = saved + INSTRUCTION_BYTES;

	frame->open_size = distance;

	int r = add_saved(frame, address, distance, /* has_fp= */ false);
	if (r == 0 && saved < frame->step_end)
		r = add_saved(frame, saved, distance, /* has_fp= */ true);
	if (r == 0 && set < frame->step_end && gopclntab_frame_switches(frame))
		r = add_switch(frame, set, distance);
	return r;
}

static int add_crosscall(struct gopclntab_frame *frame, uint64_t address, int32_t distance)
{
	const struct cfi_rule saved = {
		.kind = CFA_REGISTER,
		.reg = CFI_SP,
		.offset = distance,
		.return_address = CROSSCALL_SAVED_LR,
		.saved = { CROSSCALL_SAVED_LR - 1 },
	};
	int r = add_leaf(frame, address, distance);

	if (r == 0 && distance > 0)
		r = row_builder_add(frame->builder, address + CROSSCALL_SAVED_BYTES, &saved);
	return r;
}

int gopclntab_frame_add_step(struct gopclntab_frame *frame, uint64_t address, int32_t distance)
{
	struct row_builder *builder = frame->builder;

	if (distance < 0)
		return gopclntab_frame_add_kind(builder, address, CFA_NONE);
	if (frame->role == GO_ROLE_CROSSCALL)
		return add_crosscall(frame, address, distance);
	if (frame->role == GO_ROLE_LEAF)
		return add_leaf_frame(frame, address, distance);
	if (frame->role == GO_ROLE_MCALL && distance > 0 && distance == frame->deepest)
		return gopclntab_frame_add_kind(builder, address, CFA_END);
	if (frame->role == GO_ROLE_STACK_SWITCH && frame->deepest == 0)
		return gopclntab_frame_add_kind(builder, address, CFA_STACK_SWITCH);
	if (distance == 0)
		return add_leaf(frame, address, distance);
	if (frame->open_size == 0)
		return add_prologue(frame, address, distance);
	if (gopclntab_frame_switches(frame))
		return add_switch(frame, address, distance);
	return add_saved(frame, address, distance, /* has_fp= */ true);
}

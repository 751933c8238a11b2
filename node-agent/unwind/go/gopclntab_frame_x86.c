/* SPDX-License-Identifier: Apache-2.0 */
/* At the entry the stack pointer is 8 below the CFA, at the return address:
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
 * So it is since Go 1.21. Older functions open the whole frame at once, and save rbp in a second
 * instruction, at the same place: `sub $32,%rsp; mov %rbp,24(%rsp); lea 24(%rsp),%rbp`. Which of
 * the two it is shows in the first step down: 8, or more. Nothing says where rbp is in the few
 * functions of hand-written assembly that move the stack pointer but have no such frame; there
 * its value may be wrong, but nothing else depends on it.
 *
 * Go code keeps no other register for its caller, except where C calls it.
 *
 * What switches stacks writes rsp, which no table follows; but its own frame is where rbp points
 * to, on the stack it came from. Without a frame of its own (before Go 1.21), rbp is the frame
 * of its caller, which then is missing in the stack. The same step is made where a function has
 * popped its own return address (vfork() does). */
#include "unwind/go/gopclntab_frame.h"

#include <stddef.h>

#define WORD_BYTES 8
#define SAVED_RBP (-2) /* at CFA - 16 */
#define MOV_BYTES 3 /* mov %rsp,%rbp */

/* Size of C's callee-saved registers where C calls Go (runtime/cgo/abi_amd64.h): rbx, r12 to
 * r15, rbp, upwards. */
#define C_REGISTERS_BYTES 48

static struct cfi_rule plain_rule(int32_t distance, cfi_slot saved_rbp)
{
	return (struct cfi_rule){
		.kind = CFA_REGISTER,
		.reg = CFI_RSP,
		.return_address = -1,
		.offset = distance + WORD_BYTES,
		.saved = { saved_rbp, CFI_LOST, CFI_LOST, CFI_LOST, CFI_LOST, CFI_LOST },
	};
}

static int add_plain(struct row_builder *builder, uint64_t address, int32_t distance,
		     cfi_slot saved_rbp)
{
	struct cfi_rule rule = plain_rule(distance, saved_rbp);

	return row_builder_add(builder, address, &rule);
}

/* Returns the length of `mov %rbp,distance-8(%rsp)`, and of the `lea` behind it; 0 if rbp was
 * pushed before. */
static uint64_t saving_bytes(int32_t distance)
{
	if (distance == WORD_BYTES)
		return 0;
	return distance - WORD_BYTES <= INT8_MAX ? 5 : 8;
}

/* The frame was just opened: the next instructions save rbp, unless that is done, and set it. */
static int add_prologue(struct gopclntab_frame *frame, uint64_t address, int32_t distance)
{
	uint64_t saved = address + saving_bytes(distance);
	uint64_t set = saved > address ? saved + saving_bytes(distance) : address + MOV_BYTES;
	int r = 0;

	frame->open_size = distance;
	if (saved > address)
		r = add_plain(frame->builder, address, distance, CFI_NOT_SAVED);
	if (r == 0 && saved < frame->step_end)
		r = add_plain(frame->builder, saved, distance, SAVED_RBP);
	if (r == 0 && set < frame->step_end && gopclntab_frame_switches(frame))
		r = gopclntab_frame_add_kind(frame->builder, set, CFA_STACK_SWITCH);
	return r;
}

/* Behind the 48 bytes in which C's registers are saved comes room for arguments: when that is
 * there, they are. */
static int add_called_by_c(struct gopclntab_frame *frame, uint64_t address, int32_t distance)
{
	struct cfi_rule rule = plain_rule(distance, distance > 0 ? SAVED_RBP : CFI_NOT_SAVED);
	int32_t slot = -frame->c_registers / WORD_BYTES - 1;

	if (frame->c_registers > 0 && distance > frame->c_registers)
		frame->has_c_registers = true;
	for (size_t i = 1; i < NR_SAVED_REGS; i++)
		rule.saved[i] = (cfi_slot)(frame->has_c_registers ? slot++ : CFI_NOT_SAVED);
	if (distance == C_REGISTERS_BYTES || distance == C_REGISTERS_BYTES + WORD_BYTES)
		frame->c_registers = distance;
	return row_builder_add(frame->builder, address, &rule);
}

int gopclntab_frame_add_step(struct gopclntab_frame *frame, uint64_t address, int32_t distance)
{
	struct row_builder *builder = frame->builder;

	if (distance < 0)
		return gopclntab_frame_add_kind(builder, address, CFA_NONE);
	if (frame->role == GO_ROLE_CALLED_BY_C || frame->role == GO_ROLE_CROSSCALL)
		return add_called_by_c(frame, address, distance);
	if (frame->role == GO_ROLE_MCALL && distance > 0 && distance == frame->deepest)
		return gopclntab_frame_add_kind(builder, address, CFA_END);
	if (frame->role == GO_ROLE_STACK_SWITCH && frame->deepest == 0)
		return gopclntab_frame_add_kind(builder, address, CFA_STACK_SWITCH);
	if (distance > 0 && frame->open_size == 0)
		return add_prologue(frame, address, distance);
	if (distance > 0 && gopclntab_frame_switches(frame))
		return gopclntab_frame_add_kind(builder, address, CFA_STACK_SWITCH);
	return add_plain(builder, address, distance, SAVED_RBP);
}

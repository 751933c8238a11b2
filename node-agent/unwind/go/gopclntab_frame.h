/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of one Go function: the rules for finding its caller from the distance of the stack
 * pointer. They depend on the prologues and epilogues of the architecture, which the compiler or
 * the assembler makes the same way in all functions. */
#ifndef UNWIND_GO_GOPCLNTAB_FRAME_H
#define UNWIND_GO_GOPCLNTAB_FRAME_H

#include "base/err.h"
#include "unwind/rows/row_builder.h"

#include <stdbool.h>
#include <stdint.h>

/* Upper limit of a distance. No frame is larger, and sums with it do not overflow. */
#define GO_MAX_DISTANCE (INT32_MAX - 4096)

enum go_role {
	GO_ROLE_PLAIN,
	GO_ROLE_ROOT, /* nobody called it */
	GO_ROLE_SIGNAL_RETURN,
	GO_ROLE_STACK_SWITCH,
	GO_ROLE_MCALL, /* goes to the scheduler's stack and never comes back */
	GO_ROLE_CALLED_BY_C,
	GO_ROLE_CROSSCALL, /* called by C as well, with a frame that it makes by hand */
	GO_ROLE_LEAF, /* on arm64 it overwrites where it saved lr, which it keeps */
	GO_ROLE_INJECTED, /* called by a signal handler in the name of what was interrupted */
};

/* A function whose rows are being made. All but the first three members are zero at its
 * beginning. */
struct gopclntab_frame {
	struct row_builder *builder;
	enum go_role role;
	int32_t deepest; /* the largest distance, of functions that switch stacks */
	int32_t open_size; /* what the prologue opened; 0 until then */
	/* x86-64: distance at which C's registers are saved; 0: they are not */
	int32_t c_registers;
	bool has_c_registers; /* … by now */
	uint64_t step_end;
};

static inline int gopclntab_frame_add_kind(struct row_builder *builder, uint64_t address,
					   enum cfa_kind kind)
{
	const struct cfi_rule rule = { .kind = (uint8_t)kind };

	return row_builder_add(builder, address, &rule);
}

static inline bool gopclntab_frame_switches(const struct gopclntab_frame *frame)
{
	return frame->role == GO_ROLE_STACK_SWITCH || frame->role == GO_ROLE_MCALL;
}

/* Adds the rows of a step: from `address` up to step_end the stack pointer is `distance` below
 * where it was at the function's entry, at most GO_MAX_DISTANCE. Errors: those of
 * row_builder_add(). */
int gopclntab_frame_add_step(struct gopclntab_frame *frame, uint64_t address, int32_t distance)
	must_check;

#endif

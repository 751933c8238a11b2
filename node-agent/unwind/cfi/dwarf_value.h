/* SPDX-License-Identifier: Apache-2.0 */
/* DWARF expressions (DWARF 5 section 2.5) as far as call frame information uses them.
 *
 * An expression is a program for a stack machine. The unwinder in the kernel has no such
 * machine: it knows a few forms. So the program is run on symbols instead of numbers, "rsp + 8"
 * instead of 0x7ffc…; if what is left at the end is one of these forms, this is what the
 * expression means, however it was written. */
#ifndef UNWIND_CFI_DWARF_VALUE_H
#define UNWIND_CFI_DWARF_VALUE_H

#include "elf/arch.h"
#include "unwind/cfi/dwarf_cursor.h"

#include <stdint.h>

enum dwarf_value_kind {
	DWARF_VALUE_UNKNOWN, /* none of these */
	DWARF_VALUE_CONSTANT, /* offset */
	DWARF_VALUE_REGISTER, /* reg + offset */
	DWARF_VALUE_MEMORY, /* *(reg + offset) + addend */
	DWARF_VALUE_PLT, /* reg + offset + 8 * ((pc & 15) >= addend) */
	/* On the way to DWARF_VALUE_PLT: */
	DWARF_VALUE_IP_LOW, /* pc & 15 */
	DWARF_VALUE_IP_PAST, /* (pc & 15) >= addend */
	DWARF_VALUE_IP_PAST_8, /* 8 * ((pc & 15) >= addend) */
};

#define DWARF_REG_CFA 255 /* stands for the CFA where an expression may use it */

struct dwarf_value {
	uint8_t kind; /* enum dwarf_value_kind */
	uint8_t reg;
	int64_t offset;
	int64_t addend;
};

/* Returns the value that an expression leaves on the stack. The stack is empty at first, or
 * (DW_CFA_expression) has the CFA on it. */
struct dwarf_value dwarf_value_of(struct dwarf_cursor expression, bool has_cfa);

#endif

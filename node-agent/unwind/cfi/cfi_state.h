/* SPDX-License-Identifier: Apache-2.0 */
/* The state that DW_CFA_ instructions change: where the CFA and the registers of the caller are,
 * at one place in the code; and the rule for the unwinder that says the same. */
#ifndef UNWIND_CFI_CFI_STATE_H
#define UNWIND_CFI_CFI_STATE_H

#include "bpf/shared/cfi.h"
#include "unwind/cfi/dwarf_value.h"

#include <stdbool.h>
#include <stdint.h>

/* The registers that are followed: cfi_rule.saved, and two more. */
enum cfi_column {
	CFI_COLUMN_FP, /* the first one of SAVED_REGISTERS */
	CFI_COLUMN_SP = NR_SAVED_REGS,
	CFI_COLUMN_RA,
	CFI_NR_COLUMNS,
};

enum cfi_place_kind {
	CFI_PLACE_UNSET, /* no rule */
	CFI_PLACE_SAME, /* the register still has the value */
	CFI_PLACE_UNDEFINED, /* there is no value any more */
	CFI_PLACE_CFA_VALUE, /* the value is CFA + offset */
	CFI_PLACE_AT_CFA, /* at CFA + offset */
	CFI_PLACE_AT_REGISTER, /* at reg + offset */
	CFI_PLACE_IN_REGISTER, /* in another register */
	CFI_PLACE_OTHER, /* elsewhere */
};

struct cfi_place {
	uint8_t kind; /* enum cfi_place_kind */
	uint8_t reg;
	int32_t offset;
};

struct cfi_state {
	/* The CFA is register + offset, or what an expression says. Instructions that change one
	 * of the former two leave the other one as it was before the expression. */
	uint64_t cfa_register;
	int64_t cfa_offset;
	struct dwarf_value cfa_expression;
	bool has_cfa_expression;
	struct cfi_place places[CFI_NR_COLUMNS]; /* by enum cfi_column */
};

/* Returns the column of a register, by its DWARF number; -1 if it is not followed. */
int cfi_column_of(uint64_t reg);

/* Returns the place at an offset from the CFA (CFI_PLACE_AT_CFA, CFI_PLACE_CFA_VALUE). */
struct cfi_place cfi_place_from_cfa(enum cfi_place_kind kind, int64_t offset);

/* Returns the place at an address that an expression gave. */
struct cfi_place cfi_place_at(const struct dwarf_value *address);

/* Makes the rule. Returns false if there is no exact one for the state: then the rule is
 * CFA_UNSUPPORTED, or has registers that are CFI_LOST. */
bool cfi_state_make_rule(const struct cfi_state *state, bool is_signal_frame,
			 struct cfi_rule *ret_rule);

#endif

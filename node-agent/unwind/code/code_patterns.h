/* SPDX-License-Identifier: Apache-2.0 */
/* What instructions mean where they stand. By architecture. */
#ifndef UNWIND_CODE_CODE_PATTERNS_H
#define UNWIND_CODE_CODE_PATTERNS_H

#include "unwind/code/code_insn.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many bytes belong to the two instructions that end a signal handler, if they begin at
 * `code`; else 0. */
size_t code_find_sigreturn(const uint8_t *code, size_t len);

/* Whether what is right behind an indirect call ends the thread with the result. So C libraries
 * call main(), start routines and clone()'s functions. */
bool code_ends_thread(const uint8_t *code, size_t len);

/* Nothing is known to lead to an instruction: behind a function's end, or behind a call that may
 * not return. */
enum code_place { CODE_BEHIND_END, CODE_BEHIND_CALL, CODE_BEHIND_PADDED_CALL };

enum code_start {
	CODE_NO_START,
	CODE_POSSIBLE_START, /* if it is in no function with a jump table */
	CODE_LIKELY_START,
};

/* Whether a function begins with it. */
enum code_start code_find_start(const struct code_insn *insn, uint64_t address,
				enum code_place place);

#endif

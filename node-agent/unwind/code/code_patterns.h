/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of instructions in their place in the code. Differs by architecture. */
#ifndef UNWIND_CODE_CODE_PATTERNS_H
#define UNWIND_CODE_CODE_PATTERNS_H

#include "unwind/code/code_insn.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the length of the two instructions that end a signal handler, if they begin at `code`;
 * else 0. */
size_t code_find_sigreturn(const uint8_t *code, size_t len);

/* Returns whether the code right behind an indirect call ends the thread with the result. C
 * libraries call main(), start routines and functions of clone() in this way. */
bool code_ends_thread(const uint8_t *code, size_t len);

/* Places of an instruction that nothing is known to lead to: behind the end of a function, or
 * behind a call that may not return. */
enum code_place { CODE_BEHIND_END, CODE_BEHIND_CALL, CODE_BEHIND_PADDED_CALL };

enum code_start {
	CODE_NO_START,
	CODE_POSSIBLE_START, /* if it is in no function with a jump table */
	CODE_LIKELY_START,
};

/* Returns whether a function begins with the instruction. */
enum code_start code_find_start(const struct code_insn *insn, uint64_t address,
				enum code_place place);

#endif

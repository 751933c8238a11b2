/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the machine code of two exported functions, on x86-64. On other machines nothing is found
 * in it. */
#ifndef RUNTIME_CPYTHON_CPYTHON_EVAL_CODE_H
#define RUNTIME_CPYTHON_CPYTHON_EVAL_CODE_H

#include "elf/elf_exports.h"

/* Returns 1 if the interpreter's bytecode handlers are functions (Py_TAIL_CALL_INTERP, from 3.14
 * on), else 0. Then `eval`, _PyEval_EvalFrameDefault(), is short and calls the first handler by a
 * table. A short one alone means nothing: GCC splits functions. Errors: those of
 * elf_exports_read(). */
int cpython_eval_code_has_tail_calls(const struct elf_exports *exports,
				     const struct elf_export *eval) must_check;

/* Finds the distance from the thread pointer of the thread-local variable that a short function
 * reads. Errors: -ENOENT it reads none, or in another way; those of elf_exports_read(). */
int cpython_eval_code_thread_local(const struct elf_exports *exports,
				   const struct elf_export *function, int32_t *ret_place)
	must_check;

#endif

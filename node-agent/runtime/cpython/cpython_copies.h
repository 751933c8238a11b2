/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of bytecode. In builds without a GIL, from 3.14 on, each thread but the first specializes
 * a copy of its own. The unwinder counts positions from the code object's own bytecode, so that
 * those in a copy are far outside of it. Source: Include/cpython/code.h (_PyCodeArray). */
#ifndef RUNTIME_CPYTHON_CPYTHON_COPIES_H
#define RUNTIME_CPYTHON_CPYTHON_COPIES_H

#include "base/err.h"
#include "runtime/process_memory.h"

#include <stdint.h>

#define CPYTHON_MAX_COPIES ((size_t)4096)

struct cpython_bytecode {
	uint64_t address;
	uint64_t nr_units; /* of two bytes */
	uint64_t copies; /* PyCodeObject.co_tlbc */
};

/* Turns a position, in units from the bytecode, into the one in the copy that it is in. Positions
 * are those of a tag: their upper bits are lost. Errors: -ENOENT it is in no copy, or there are
 * more than CPYTHON_MAX_COPIES; -ENOMEM; those of process_memory_read(). */
int cpython_copies_find(struct process_memory *memory, const struct cpython_bytecode *bytecode,
			int64_t position, int64_t *ret_position) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that one process's compiler has reported, by address.
 *
 * Compilers reuse memory. Where functions overlap, the one added later wins, and the rest of the
 * other one stays. Functions that are completely covered are removed from time to time. So the size
 * of the table depends on the code that a process has now, and not on how long it has run.
 *
 * Belongs to one thread. */
#ifndef SYMBOL_JIT_JIT_FUNCTIONS_H
#define SYMBOL_JIT_JIT_FUNCTIONS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "symbol/jit/jit_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JIT_FUNCTIONS_MAX ((size_t)1 << 20)
#define JIT_FUNCTION_MAX_BYTES (UINT32_C(1) << 30) /* of code */

struct jit_functions;

/* A function to be added. */
struct jit_code {
	uint64_t address;
	uint64_t nr_bytes; /* see jit_functions_can_have() */
	const char *name;
	struct jit_name_parts parts; /* of the name */
	bool has_index;
	uint64_t index; /* the compiler's number for it, used to move it */
	uint32_t line_shift; /* subtracted from the offsets of its lines */
};

/* The name and line of an address. Strings are borrowed until the table changes. */
struct jit_found {
	const char *name;
	struct jit_name_parts parts; /* of the name */
	const char *filename; /* "" unknown */
	uint32_t line; /* 0: unknown */
};

/* Returns whether a function can have that address and length. */
static inline bool jit_functions_can_have(uint64_t address, uint64_t nr_bytes)
{
	return nr_bytes > 0 && nr_bytes <= JIT_FUNCTION_MAX_BYTES &&
	       address <= UINT64_MAX - nr_bytes;
}

/* Makes an empty table that uses about `max_bytes` of memory at most. Errors: -ENOMEM. */
int jit_functions_new(size_t max_bytes, struct jit_functions **ret_functions) must_check;
void jit_functions_free(struct jit_functions *functions);
DEFINE_FREEP(struct jit_functions, jit_functions_free)

/* Adds a line for the function that is added next. It begins `offset` bytes after the start of the
 * function and ends at the next line. A `filename` of NULL means that of the previous line. Lines
 * use half of the memory at most. Errors: -ENOSPC at a limit, -ENOMEM. */
int jit_functions_add_line(struct jit_functions *functions, uint32_t offset, uint32_t line,
			   const char *filename) must_check;

/* Removes the lines that were added for the next function. */
void jit_functions_drop_lines(struct jit_functions *functions);

/* Adds a function with the lines that were added since the last one. Errors: -EBADMSG impossible
 * address or length, -ENOSPC at a limit, -ENOMEM. */
int jit_functions_add(struct jit_functions *functions, const struct jit_code *code) must_check;

/* Adds a copy of the function with that index at another address. Errors: as above, -ENOENT no such
 * index. */
int jit_functions_move(struct jit_functions *functions, uint64_t index, uint64_t address,
		       uint64_t nr_bytes) must_check;

/* Makes the functions added so far visible to jit_functions_find(). An error loses nothing. Errors:
 * -ENOSPC at a limit, -ENOMEM. */
int jit_functions_settle(struct jit_functions *functions) must_check;

/* Finds the function at an address; returns false if there is none. */
bool jit_functions_find(const struct jit_functions *functions, uint64_t address,
			struct jit_found *ret_found);

/* Returns the memory in use. */
size_t jit_functions_bytes(const struct jit_functions *functions);

/* Returns the number of address ranges that have a name. */
size_t jit_functions_count(const struct jit_functions *functions);

#endif

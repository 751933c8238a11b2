/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that one process's compiler has told of, by address.
 *
 * Compilers use memory again: where functions overlap, the one added later wins, and what it leaves
 * of the other stays. Functions of which nothing is left are forgotten from time to time, so that
 * the table of a process that compiles for weeks is as large as its code and not as its history.
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

/* A function as it is added. */
struct jit_code {
	uint64_t address;
	uint64_t nr_bytes; /* 1 to JIT_FUNCTION_MAX_BYTES, not beyond the end of memory */
	const char *name;
	struct jit_name_parts parts; /* of the name */
	bool has_index;
	uint64_t index; /* the compiler's number of it, by which it can be moved */
	uint32_t line_shift; /* by how much its lines were written too high */
};

/* What is known of an address; strings are borrowed until the next change. */
struct jit_found {
	const char *name;
	struct jit_name_parts parts; /* of the name */
	const char *filename; /* "" unknown */
	uint32_t line; /* 0: unknown */
};

/* Whether code can be there. */
static inline bool jit_functions_can_have(uint64_t address, uint64_t nr_bytes)
{
	return nr_bytes > 0 && nr_bytes <= JIT_FUNCTION_MAX_BYTES &&
	       address <= UINT64_MAX - nr_bytes;
}

/* `max_bytes` bounds the memory. Errors: -ENOMEM. */
int jit_functions_new(size_t max_bytes, struct jit_functions **ret_functions) must_check;
void jit_functions_free(struct jit_functions *functions);
DEFINE_FREEP(struct jit_functions, jit_functions_free)

/* A line of the function that is added next: `offset` bytes of code behind its start, up to the
 * next line. `filename` is NULL for that of the line before. Lines take half of the memory at most.
 * Errors: -ENOSPC at a limit, -ENOMEM. */
int jit_functions_add_line(struct jit_functions *functions, uint32_t offset, uint32_t line,
			   const char *filename) must_check;

/* Forgets the lines for the next function. */
void jit_functions_drop_lines(struct jit_functions *functions);

/* Adds a function, with the lines given since the last one. Errors: -EBADMSG wrong size,
 * -ENOSPC at a limit, -ENOMEM. */
int jit_functions_add(struct jit_functions *functions, const struct jit_code *code) must_check;

/* The function with that index has a copy elsewhere from now on. Errors: as
 * above, -ENOENT no such index. */
int jit_functions_move(struct jit_functions *functions, uint64_t index, uint64_t address,
		       uint64_t nr_bytes) must_check;

/* To be called after adding: makes it found. After an error nothing is lost. Errors:
 * -ENOSPC at a limit, -ENOMEM. */
int jit_functions_settle(struct jit_functions *functions) must_check;

/* False when the address is in no function. */
bool jit_functions_find(const struct jit_functions *functions, uint64_t address,
			struct jit_found *ret_found);

/* Memory in use; ranges of addresses that have a name. */
size_t jit_functions_bytes(const struct jit_functions *functions);
size_t jit_functions_count(const struct jit_functions *functions);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The format in which a worker sends functions to the agent:
 *
 *	struct jit_block	number of items that follow
 *	struct jit_block_code	in the order in which they must be added
 *	struct jit_block_line	lines of the first code, then of the second and so on; last those whose code is not known yet
 *	strings			each NUL-terminated
 *
 * Everything is in host byte order, because both ends are the same program. The agent treats an
 * answer as hostile and checks the whole block before it uses any of it. Names are in the order of
 * the codes, and filenames in the order of the lines, so that the time of the check is proportional
 * to the length of the block. */
#ifndef SYMBOL_JIT_JIT_BLOCK_H
#define SYMBOL_JIT_JIT_BLOCK_H

#include "base/err.h"
#include "symbol/jit/jit_functions.h"

#include <stddef.h>
#include <stdint.h>

#define JIT_BLOCK_SAME_FILE UINT32_MAX /* same as that of the previous line */
#define JIT_BLOCK_MAX_SHIFT 4096 /* of the offsets of lines, in bytes */

struct jit_block {
	uint32_t nr_codes;
	uint32_t nr_lines;
	uint32_t nr_string_bytes;
	/* 1: forget waiting lines, after all codes and before the lines at the end */
	uint32_t drops_lines;
};

enum jit_block_kind {
	JIT_BLOCK_ADD,
	JIT_BLOCK_ADD_WITH_INDEX,
	JIT_BLOCK_MOVE, /* without a name */
	JIT_BLOCK_KINDS,
};

struct jit_block_code {
	uint64_t address;
	uint64_t index;
	uint32_t nr_bytes;
	uint32_t name; /* offset in the strings */
	uint32_t nr_lines;
	uint16_t line_shift;
	uint8_t kind;
	uint8_t drops_lines; /* 1: forget waiting lines, before adding its own */
	struct jit_name_parts parts;
};

struct jit_block_line {
	uint32_t offset;
	uint32_t line;
	uint32_t filename;
};

/* A block that was checked; everything is borrowed. */
struct jit_block_view {
	const struct jit_block *block;
	const struct jit_block_code *codes;
	const struct jit_block_line *lines;
	const char *strings;
};

/* Counts of what could not be added, although adding succeeded. */
struct jit_block_counts {
	uint64_t nr_bad; /* moves of unknown functions */
	uint64_t nr_lines_dropped; /* at a limit */
};

/* Checks a block. `bytes` must be aligned as malloc() does. Errors: -EBADMSG. */
int jit_block_open(const void *bytes, size_t len, struct jit_block_view *ret_view) must_check;

/* Adds the functions and lines of a block. Errors: -ENOSPC and -ENOMEM as jit_functions_add(); the
 * functions before the failure have been added. */
int jit_block_add_to(const struct jit_block_view *view, struct jit_functions *functions,
		     struct jit_block_counts *counts) must_check;

#endif

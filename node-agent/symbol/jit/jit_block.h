/* SPDX-License-Identifier: Apache-2.0 */
/* Functions on their way from the worker that read them to the agent:
 *
 *	struct jit_block	how many of each follow
 *	struct jit_block_code	in the order in which they are to be added
 *	struct jit_block_line	first those of the first code, then of the second; at the end those that wait for theirs
 *	strings			each with its NUL
 *
 * In host byte order, as both ends are the same program. What a worker answers is looked at as if
 * it were out to harm: all of it before any of it is taken over. Names, and likewise filenames, are
 * in the order of their users, so that looking at them takes no longer than the block is. */
#ifndef SYMBOL_JIT_JIT_BLOCK_H
#define SYMBOL_JIT_JIT_BLOCK_H

#include "base/err.h"
#include "symbol/jit/jit_functions.h"

#include <stddef.h>
#include <stdint.h>

#define JIT_BLOCK_SAME_FILE UINT32_MAX /* as the line before */
#define JIT_BLOCK_MAX_SHIFT 4096 /* of lines */

struct jit_block {
	uint32_t nr_codes;
	uint32_t nr_lines;
	uint32_t nr_string_bytes;
	/* 1: those that wait are forgotten, after all codes and before the lines at the end */
	uint32_t drops_lines;
};

enum jit_block_kind {
	JIT_BLOCK_ADD,
	JIT_BLOCK_ADD_WITH_INDEX,
	JIT_BLOCK_MOVE, /* has no name */
	JIT_BLOCK_KINDS,
};

struct jit_block_code {
	uint64_t address;
	uint64_t index;
	uint32_t nr_bytes;
	uint32_t name; /* where it begins in the strings */
	uint32_t nr_lines;
	uint16_t line_shift;
	uint8_t kind;
	uint8_t drops_lines; /* 1: those that wait are forgotten, before its own */
	struct jit_name_parts parts;
};

struct jit_block_line {
	uint32_t offset;
	uint32_t line;
	uint32_t filename;
};

/* One that was looked at; all borrowed. */
struct jit_block_view {
	const struct jit_block *block;
	const struct jit_block_code *codes;
	const struct jit_block_line *lines;
	const char *strings;
};

/* What happened as it was added, besides errors. */
struct jit_block_counts {
	uint64_t nr_bad; /* moves of what is not known */
	uint64_t nr_lines_dropped; /* at a limit */
};

/* Looks at it. `bytes` are aligned as malloc() does it. Errors: -EBADMSG. */
int jit_block_open(const void *bytes, size_t len, struct jit_block_view *ret_view) must_check;

/* Errors: -ENOSPC, -ENOMEM as jit_functions_add(); what is before it has been added. */
int jit_block_add_to(const struct jit_block_view *view, struct jit_functions *functions,
		     struct jit_block_counts *counts) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's answer to SYMBOL_REQUEST_LINES: one block of bytes,
 *
 *	struct lines_block_header
 *	struct lines_block_range [nr_addresses]	which lines an address has
 *	struct lines_block_line [nr_lines]	innermost first
 *	strings					each NUL-terminated; offset 0 is ""
 *
 * in host byte order. The reader believes nothing of it. */
#ifndef SYMBOL_LINES_BLOCK_H
#define SYMBOL_LINES_BLOCK_H

#include "base/err.h"
#include "symbol/symbol_frames.h"

#include <stddef.h>
#include <stdint.h>

#define LINES_MAX_STRING 4096 /* names and paths are cut to so many bytes */

struct lines_block_header {
	uint32_t nr_addresses;
	uint32_t nr_lines;
	uint32_t strings_len;
};

struct lines_block_range {
	uint32_t first;
	uint32_t nr; /* 0: the debug information does not know the address */
};

struct lines_block_line {
	uint32_t name; /* offset of the linkage name, else of the plain name; never "" */
	uint32_t filename;
	uint32_t line;
	uint32_t start_line;
	uint32_t language; /* enum symbol_language */
};

/* A block that was checked. */
struct lines_block {
	const struct lines_block_range *ranges; /* all borrowed from the block */
	const struct lines_block_line *lines;
	const char *strings;
	uint32_t nr_addresses;
	uint32_t nr_lines;
};

/* `bytes` (4-byte aligned) must outlive the result. Errors: -EBADMSG damaged: lengths that do not add up, ranges or
 * offsets out of bounds, more than SYMBOL_MAX_LINES a range, strings that are not terminated or over LINES_MAX_STRING, unknown
 * languages. */
int lines_block_parse(const void *bytes, size_t len, uint32_t nr_addresses,
		      struct lines_block *ret_block) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a table of functions (elf_symbols.h), in host byte order:
 *
 *	struct elf_block_header
 *	struct elf_block_segment [nr_segments]
 *	struct elf_block_function [nr_functions]	sorted by delta
 *	names						in the order of their functions,
 *							each with a NUL
 * / */
#ifndef SYMBOL_ELF_ELF_BLOCK_H
#define SYMBOL_ELF_ELF_BLOCK_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_MAX_LINK_NAME 255

/* What else a file says of itself. */
struct elf_symbols_info {
	char build_id[2 * 64 + 1]; /* GNU's, in lower-case hex; "" when there is none */
	char link_name[ELF_MAX_LINK_NAME +
		       1]; /* of .gnu_debuglink; "" when there is none or it has a "/" */
	uint32_t link_crc;
	char alt_build_id[2 * 64 + 1]; /* of .gnu_debugaltlink; "" when there is none */
	bool has_symtab; /* with functions: a separate debug file would not know more */
	bool has_debug_info; /* .debug_info */
	uint64_t go_start; /* code that is known to be Go's; empty when there is none */
	uint64_t go_end;
	uint32_t nr_bad_sources; /* damaged, or over a limit: the other ones' functions are here */
	char htlhash[32 + 1]; /* htlhash.h; "" when the file could not be read for it */
	char go_build_id[127 + 1]; /* elf_reader_go_build_id() */
};

struct elf_block_header {
	struct elf_symbols_info info;
	uint64_t base; /* what the functions' addresses count from */
	uint32_t nr_segments;
	uint32_t nr_functions;
	uint32_t names_len;
	uint32_t unused; /* 0 */
};

struct elf_block_segment {
	uint64_t offset; /* in the file */
	uint64_t size; /* in the file; never 0 */
	uint64_t address;
};

struct elf_block_function {
	uint32_t delta; /* address - base */
	uint32_t size; /* never 0 */
	uint32_t name; /* offset in the names, never of ""; or ELF_BLOCK_NAMELESS */
};

#define ELF_BLOCK_NAMELESS UINT32_MAX

/* A block that was checked; all borrowed from it. */
struct elf_block {
	const struct elf_block_header *header;
	const struct elf_block_segment *segments;
	const struct elf_block_function *functions;
	const char *names;
};

/* Where the parts of a block are by what its header says; such a block has so many bytes. */
uint64_t elf_block_len(const struct elf_block_header *header);
void elf_block_find_parts(const void *bytes, struct elf_block *ret_block);

/* `bytes` are aligned to 8 and outlive the result. Errors: -EBADMSG. */
int elf_block_parse(const void *bytes, size_t len, struct elf_block *ret_block) must_check;

#endif

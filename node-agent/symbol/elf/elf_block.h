/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a table of functions (elf_symbols.h), in host byte order:
 *
 *	struct elf_block_header
 *	struct elf_block_segment [nr_segments]
 *	struct elf_block_function [nr_functions]	sorted by delta
 *	names						in the order of their functions,
 *							each with a NUL
 */
#ifndef SYMBOL_ELF_ELF_BLOCK_H
#define SYMBOL_ELF_ELF_BLOCK_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_MAX_LINK_NAME 255

/* Other facts about a file. */
struct elf_symbols_info {
	char build_id[2 * 64 + 1]; /* GNU build id in lower-case hex; "" if there is none */
	/* From .gnu_debuglink; "" if there is none or it has a "/". */
	char link_name[ELF_MAX_LINK_NAME + 1];
	uint32_t link_crc;
	char alt_build_id[2 * 64 + 1]; /* from .gnu_debugaltlink; "" if there is none */
	bool has_symtab; /* with functions, so that a separate debug file would not add any */
	bool has_debug_info; /* has a section .debug_info */
	uint64_t go_start; /* beginning of Go's code; equal to its end if there is none */
	uint64_t go_end;
	uint32_t nr_bad_sources; /* sources that are missing: damaged, or over a limit */
	char htlhash[32 + 1]; /* htlhash.h; "" if its bytes could not be read */
	char go_build_id[127 + 1]; /* elf_reader_go_build_id() */
};

struct elf_block_header {
	struct elf_symbols_info info;
	uint64_t base; /* addresses of functions are relative to it */
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
	uint32_t name; /* offset of a name that is not empty, or ELF_BLOCK_NAMELESS */
};

#define ELF_BLOCK_NAMELESS UINT32_MAX

/* A block that was checked. All pointers are borrowed from it. */
struct elf_block {
	const struct elf_block_header *header;
	const struct elf_block_segment *segments;
	const struct elf_block_function *functions;
	const char *names;
};

/* Returns the size of a block with that header, in bytes. */
uint64_t elf_block_len(const struct elf_block_header *header);

/* Finds the parts of a block by its header. */
void elf_block_find_parts(const void *bytes, struct elf_block *ret_block);

/* Checks a block. `bytes` are aligned to 8 and outlive the result. Errors: -EBADMSG. */
int elf_block_parse(const void *bytes, size_t len, struct elf_block *ret_block) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of one ELF file, from all it has itself: .symtab, .dynsym, .gnu_debugdata
 * (MiniDebugInfo: an xz compressed ELF file with the rest of .symtab), Go's .gopclntab, and the
 * stubs of its procedure linkage table. Where those leave much of the code without a name, the
 * functions of .eh_frame as well, which have none.
 *
 * The file may be hostile: it is read with pread(2), never mapped, and every size in it is checked
 * against the file and against limits before libelf sees it (elf/elf_reader.h).
 *
 * A table is one block of bytes without pointers: the symbol worker makes it, the agent takes it
 * as it is. */
#ifndef SYMBOL_ELF_ELF_SYMBOLS_H
#define SYMBOL_ELF_ELF_SYMBOLS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "symbol/elf/elf_block.h"

#include <stddef.h>
#include <stdint.h>

struct elf_symbols;

struct elf_symbol {
	const char *name; /* the file's, at most 4096 bytes of it; borrowed; "": none */
	uint64_t address; /* its first virtual address */
	uint64_t
		size; /* where the file has none: up to the next symbol or the end of its section */
};

/* Reads symbols, program headers and the rest; separate debug files, too. A file without symbols
 * is fine. `max_bytes` bounds the table, and each of the file's tables while they are read. The fd
 * stays the caller's. Errors: -EBADMSG not an ELF file or damaged, -ENOSPC over max_bytes,
 * -ENOMEM, what pread() says. Where only some of the sources fail, nr_bad_sources tells. */
int elf_symbols_load(int fd, size_t max_bytes, struct elf_symbols **ret_symbols) must_check;
void elf_symbols_free(struct elf_symbols *symbols);
DEFINE_FREEP(struct elf_symbols, elf_symbols_free)

/* Forgets the functions and the block; segments and info stay. */
void elf_symbols_drop_names(struct elf_symbols *symbols);

/* The executable PT_LOAD segment that holds an offset of the file; borrowed, stays when the names
 * are dropped. NULL when none does. */
const struct elf_block_segment *elf_symbols_find_segment(const struct elf_symbols *symbols,
							 uint64_t file_offset);

/* The virtual address at which an offset of the file is loaded, by its PT_LOAD segments: the
 * difference between mapping address and virtual address, for PIE and shared objects alike.
 * Errors: -ENOENT when no executable segment holds the offset. */
int elf_symbols_address_of(const struct elf_symbols *symbols, uint64_t file_offset,
			   uint64_t *ret_address) must_check;

/* The function that holds a virtual address. Where several do, the one that starts last; of those
 * that start together, global before weak before local, then the shortest name. Labels of
 * assembler code, which are no functions by their type and have no size, name what is in no
 * function. What has a name goes before what has none. Errors: -ENOENT. */
int elf_symbols_find(const struct elf_symbols *symbols, uint64_t address,
		     struct elf_symbol *ret_symbol) must_check;

/* Borrowed. Stays when the names are dropped. */
const struct elf_symbols_info *elf_symbols_info(const struct elf_symbols *symbols);

/* The table as bytes; borrowed. NULL when the names were dropped. */
const void *elf_symbols_block(const struct elf_symbols *symbols, size_t *ret_len);

/* A table from such bytes (malloc'ed; taken over, also on failure), which are checked: nothing in
 * them can lead elsewhere. Errors: -EBADMSG, -ENOMEM. */
int elf_symbols_from_block(void *block, size_t len, struct elf_symbols **ret_symbols) must_check;

/* Memory the table holds, and the number of function symbols in it. */
size_t elf_symbols_bytes(const struct elf_symbols *symbols);
size_t elf_symbols_count(const struct elf_symbols *symbols);

#endif

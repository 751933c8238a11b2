/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of one ELF file, from its own tables: .symtab, .dynsym, .gnu_debugdata
 * (MiniDebugInfo, an xz-compressed ELF file with the rest of .symtab), Go's .gopclntab, and the
 * stubs of its procedure linkage table. If these leave much of the code without a name, the table
 * also has the functions of .eh_frame, which have no names.
 *
 * The file may be hostile: it is read with pread(2), never mapped, and libelf gets only sizes that
 * were checked against the file and against limits (elf/elf_reader.h).
 *
 * A table is one block of bytes without pointers. The symbol worker makes it, and the agent uses it
 * without conversion. */
#ifndef SYMBOL_ELF_ELF_SYMBOLS_H
#define SYMBOL_ELF_ELF_SYMBOLS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "symbol/elf/elf_block.h"

#include <stddef.h>
#include <stdint.h>

struct elf_symbols;

struct elf_symbol {
	const char *name; /* as in the file, at most 4096 bytes; borrowed; "": none */
	uint64_t address; /* first virtual address */
	uint64_t size; /* if the file has none, up to the next symbol or the end of the section */
};

/* Reads the symbols, segments and info of a program or of a separate debug file. A file may have no
 * symbols. `max_bytes` bounds the table, and each table of the file while it is read. The caller
 * keeps the fd. If only some of the sources fail, nr_bad_sources counts them. Errors: -EBADMSG not
 * an ELF file or damaged, -ENOSPC over max_bytes, -ENOMEM, those of pread(2). */
int elf_symbols_load(int fd, size_t max_bytes, struct elf_symbols **ret_symbols) must_check;
void elf_symbols_free(struct elf_symbols *symbols);
DEFINE_FREEP(struct elf_symbols, elf_symbols_free)

/* Frees the functions and the block. Segments and info stay. */
void elf_symbols_drop_names(struct elf_symbols *symbols);

/* Returns the executable PT_LOAD segment that holds an offset of the file, or NULL; borrowed. It
 * stays when the names are dropped. */
const struct elf_block_segment *elf_symbols_find_segment(const struct elf_symbols *symbols,
							 uint64_t file_offset);

/* Converts an offset of the file to the virtual address by its PT_LOAD segments; also for PIE and
 * shared objects, which are loaded elsewhere. Errors: -ENOENT if no executable segment holds the
 * offset. */
int elf_symbols_address_of(const struct elf_symbols *symbols, uint64_t file_offset,
			   uint64_t *ret_address) must_check;

/* Finds the function that holds a virtual address. If several do, the one that starts last wins. Of
 * those that start together, a global one precedes a weak one, which precedes a local one; then the
 * shortest name wins. Labels of assembler code, which have neither the type of a function nor a
 * size, name code that is in no function. Functions with a name precede those without. Errors:
 * -ENOENT. */
int elf_symbols_find(const struct elf_symbols *symbols, uint64_t address,
		     struct elf_symbol *ret_symbol) must_check;

/* Returns the other facts about the file; borrowed. They stay when the names are dropped. */
const struct elf_symbols_info *elf_symbols_info(const struct elf_symbols *symbols);

/* Returns the table as bytes; borrowed. NULL if the names were dropped. */
const void *elf_symbols_block(const struct elf_symbols *symbols, size_t *ret_len);

/* Makes a table from such bytes, and checks them. They must come from malloc(), and are taken over,
 * also on failure. Errors: -EBADMSG, -ENOMEM. */
int elf_symbols_from_block(void *block, size_t len, struct elf_symbols **ret_symbols) must_check;

/* Returns the memory that the table holds, in bytes. */
size_t elf_symbols_bytes(const struct elf_symbols *symbols);

#endif

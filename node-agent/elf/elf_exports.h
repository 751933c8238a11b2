/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up exported symbols of a 64-bit ELF file by name, and reads what they stand for: the
 * dynamic symbol table by its hash table (DT_GNU_HASH, else DT_HASH), which stripped files have
 * too. A look for a name that the file does not have costs one or two reads (the Bloom filter).
 * Source: System V ABI, "Dynamic Linking"; the GNU hash section as binutils and glibc have it. */
#ifndef ELF_ELF_EXPORTS_H
#define ELF_ELF_EXPORTS_H

#include "base/err.h"
#include "elf/elf_reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_exports {
	struct elf_reader *reader; /* borrowed */
	/* Offsets in the file. */
	uint64_t symbols;
	uint64_t strings;
	uint64_t bloom; /* of DT_GNU_HASH only */
	uint64_t buckets;
	uint64_t chains;
	uint64_t strings_bytes;
	uint32_t nr_buckets;
	uint32_t nr_bloom; /* words of 64 bits; 0: there is no filter */
	uint32_t bloom_shift;
	uint32_t first_symbol; /* DT_GNU_HASH: the first one that has a chain */
	bool is_gnu; /* the table is DT_GNU_HASH */
};

struct elf_export {
	uint64_t address; /* virtual address of the file; for TLS symbols the offset in the block */
	uint64_t size;
	uint8_t type; /* STT_… */
};

/* Finds the tables. Errors: -ENOENT the file exports nothing, or is not a 64-bit one; -EBADMSG
 * damaged; those of elf_dynamic_section_read() and elf_reader_bytes(). */
int elf_exports_init(struct elf_exports *exports, struct elf_reader *reader) must_check;

/* Finds a symbol that the file defines. The versions of symbols are ignored: of several versions,
 * any one is found. Errors: -ENOENT there is no such symbol; -EBADMSG damaged tables; those of
 * elf_reader_bytes(). */
int elf_exports_find(const struct elf_exports *exports, const char *name,
		     struct elf_export *ret_export) must_check;

/* Reads what the file has at a virtual address. Zeroes where the segment goes on behind its part
 * of the file (.bss). Errors: -ENOENT no segment has all of it, those of elf_reader_read(). */
int elf_exports_read(const struct elf_exports *exports, uint64_t address, void *to, size_t len)
	must_check;

#endif

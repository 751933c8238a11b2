/* SPDX-License-Identifier: Apache-2.0 */
/* The headers of an ELF file, 32 or 64 bit, in the 64-bit form, and bounded access to its bytes.
 *
 * The file may be hostile and may be truncated at any moment: it is read with pread(2), never mapped.
 * libelf is not used here because what it allocates follows from what the file claims. Files of the
 * other byte order are refused; nothing of the kind runs on this machine. */
#ifndef SYMBOL_ELF_READER_H
#define SYMBOL_ELF_READER_H

#include "base/err.h"
#include "symbol/elf_symbols.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_MAX_SECTIONS 65536
#define ELF_MAX_SEGMENTS 4096
#define ELF_MAX_NOTE_BYTES 65536

struct elf_reader {
	int fd; /* borrowed */
	uint64_t size; /* of the file, when it was opened */
	bool is_64;
	uint16_t machine; /* EM_… */
	Elf64_Shdr *sections; /* owned */
	size_t nr_sections;
	Elf64_Phdr *segments; /* owned */
	size_t nr_segments;
};

/* Reads the headers. Errors: -EBADMSG not a regular file, not ELF, damaged or over a limit; -ENOMEM; what
 * pread() says. */
int elf_reader_init(struct elf_reader *reader, int fd) must_check;
void elf_reader_done(struct elf_reader *reader);

/* Reads exactly `len` bytes. Errors: -EBADMSG when the file does not have them, what pread() says. */
int elf_reader_read(const struct elf_reader *reader, uint64_t offset, void *buf, size_t len)
	must_check;

/* The first section of a type (SHT_…), or NULL; borrowed. */
const Elf64_Shdr *elf_reader_find_section(const struct elf_reader *reader, uint32_t type);

/* Bytes of a symbol in the file, and its 64-bit form. */
size_t elf_reader_symbol_bytes(const struct elf_reader *reader);
Elf64_Sym elf_reader_symbol(const struct elf_reader *reader, const void *raw);

/* The GNU build id, from a PT_NOTE segment, else from an SHT_NOTE section, as lower-case hex; "" when
 * there is none. */
void elf_reader_build_id(const struct elf_reader *reader,
			 char ret_hex[static 2 * ELF_BUILD_ID_MAX + 1]);

#endif

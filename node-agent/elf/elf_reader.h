/* SPDX-License-Identifier: Apache-2.0 */
/* The headers and tables of an ELF file, 32 or 64 bit, through libelf.
 *
 * The file may be hostile, and may be changed or truncated at any moment. Therefore libelf never
 * sees the file but a private image of it in anonymous memory, into which the parts that are
 * needed are read with pread(2). No bytes of it are mapped, so that no truncation raises SIGBUS;
 * each page is read once, so that what was checked is what libelf works on; and what a header
 * claims is checked before libelf allocates anything that follows from it. elf_begin() would
 * read the header again, behind any check: a file whose section count grows in between makes it
 * allocate three times the size of a sparse file (tried: won after 1500 attempts).
 *
 * Holes of sparse files are not read: there the image is zero already, and takes no memory.
 *
 * What others have not read before does not stay in the page cache (base/cold_file.h).
 *
 * Files of the other byte order are refused; nothing of the kind runs on this machine. */
#ifndef ELF_ELF_READER_H
#define ELF_ELF_READER_H

#include "base/cold_file.h"
#include "base/err.h"
#include "elf/elf_budget.h"

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_MAX_FILE_BYTES (UINT64_C(64) << 30) /* a larger file is no program */
#define ELF_MAX_SECTIONS 65536
#define ELF_MAX_SEGMENTS 4096
#define ELF_MAX_NOTE_BYTES 65536
#define ELF_BUILD_ID_MAX 64 /* bytes; GNU's are 20 */
#define ELF_GO_BUILD_ID_MAX 127 /* characters; Go's are 83 */

struct elf_reader {
	int fd; /* borrowed; -EBADF: the file is in memory */
	struct cold_file *cold; /* owned; of `fd` */
	uint64_t size; /* of the file, when it was opened */
	/* owned; address space of that size, zero where nothing was read. Of a file in
	 * memory: its bytes, borrowed */
	char *image;
	bool *has_page; /* owned; which pages of the image were read; NULL: all */
	size_t page_bytes;
	struct elf_budget *budget; /* borrowed; of what is read and of headers; NULL: none */
	Elf *elf; /* owned; over the image */
	uint16_t machine; /* EM_… */
	GElf_Shdr *sections; /* owned */
	size_t nr_sections;
	GElf_Phdr *segments; /* owned */
	size_t nr_segments;
};

/* Reads the headers. Errors: -EBADMSG not a regular file, not ELF, damaged or over a limit;
 * -ENOMEM; what pread() says. */
int elf_reader_init(struct elf_reader *reader, int fd) must_check;

/* The same; headers, and all pages of the file that are read then and later, are charged to a
 * budget, which must outlive the reader. Errors: as above; -ENOSPC, also of functions below. */
int elf_reader_init_within(struct elf_reader *reader, int fd, struct elf_budget *budget) must_check;

/* The same for a file in memory, aligned to 8 bytes, which must outlive the reader and not
 * change. */
int elf_reader_init_bytes(struct elf_reader *reader, const void *bytes, size_t len) must_check;
void elf_reader_done(struct elf_reader *reader);

/* All that is wanted of the file was read: it may be closed. */
void elf_reader_let_go(struct elf_reader *reader);

/* Copies exactly `len` bytes of the file, past the image. Errors: -EBADMSG when the file does
 * not have them, what pread() says. */
int elf_reader_read(const struct elf_reader *reader, uint64_t offset, void *buf, size_t len)
	must_check;

/* A range of the file; borrowed. What lies between ranges that were asked for reads as zeros.
 * Errors: as above, -ENOMEM. */
int elf_reader_bytes(struct elf_reader *reader, uint64_t offset, uint64_t len,
		     const uint8_t **ret_bytes) must_check;

/* A range of the file as libelf's data of a type (ELF_T_…); borrowed. The caller bounds `len`.
 * Errors: -EBADMSG when the file does not have it, -ENOMEM, what pread() says. */
int elf_reader_data(struct elf_reader *reader, uint64_t offset, uint64_t len, Elf_Type type,
		    Elf_Data **ret_data) must_check;

/* The first section of a type (SHT_…), or NULL; borrowed. */
const GElf_Shdr *elf_reader_find_section(const struct elf_reader *reader, uint32_t type);

/* Bytes of a header, a symbol … (ELF_T_…) in this file. */
size_t elf_reader_entry_bytes(const struct elf_reader *reader, Elf_Type type);

/* The GNU build id, from a PT_NOTE segment, else from an SHT_NOTE section, as lower-case hex; ""
 * when there is none. */
void elf_reader_build_id(struct elf_reader *reader, char ret_hex[static 2 * ELF_BUILD_ID_MAX + 1]);

/* Go's build id: text of letters, digits and "/_-"; "" when there is none or it is anything
 * else. */
void elf_reader_go_build_id(struct elf_reader *reader,
			    char ret_text[static ELF_GO_BUILD_ID_MAX + 1]);

/* Whether `text` ends within `max` + 1 bytes and has only characters that Go's build ids are
 * made of. */
bool elf_go_build_id_is_sound(const char *text, size_t max);

/* The bytes of a build id, at most ELF_BUILD_ID_MAX, in that form. */
void elf_build_id_to_hex(const uint8_t *bytes, size_t len,
			 char ret_hex[static 2 * ELF_BUILD_ID_MAX + 1]);

#endif

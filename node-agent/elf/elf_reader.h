/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the headers and tables of an ELF file, 32 or 64 bit, through libelf.
 *
 * The file may be hostile, and may be changed or truncated at any moment. Therefore libelf never
 * accesses the file itself, but a private image of it in anonymous memory. The parts that are
 * needed are read into this image with pread(2). The file is not mapped, so a truncation raises no
 * SIGBUS. Each page is read once, so libelf works on the bytes that were checked. Numbers in a
 * header are checked before libelf allocates memory by them. elf_begin() would read the header
 * again after the checks: if the section count grows in between, it allocates three times the size
 * of a sparse file (an attack succeeded after 1500 attempts).
 *
 * Holes of sparse files are not read: the image is zero there already, and takes no memory.
 *
 * Pages that were not in the page cache before do not stay there (base/cold_file.h).
 *
 * Files of the other byte order are refused, as they cannot run on this machine. */
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
	struct cold_file *cold; /* owned; reads `fd` */
	uint64_t size; /* of the file, when it was opened */
	/* Address space of that size, which is zero where nothing was read; owned. For a file in
	 * memory, these are its bytes; borrowed. */
	char *image;
	bool *has_page; /* owned; the pages of the image that were read; NULL: all */
	size_t page_bytes;
	struct elf_budget *budget; /* borrowed; for pages and headers; NULL: unlimited */
	Elf *elf; /* owned; over the image */
	uint16_t machine; /* EM_… */
	GElf_Shdr *sections; /* owned */
	size_t nr_sections;
	GElf_Phdr *segments; /* owned */
	size_t nr_segments;
};

/* Reads the headers. Errors: -EBADMSG not a regular file, not ELF, damaged or over a limit;
 * -ENOMEM; those of pread(2). */
int elf_reader_init(struct elf_reader *reader, int fd) must_check;

/* The same, but charges the headers, and all pages that are read now or later, to a budget, which
 * must outlive the reader. Errors: as above; -ENOSPC, also from the functions below. */
int elf_reader_init_within(struct elf_reader *reader, int fd, struct elf_budget *budget) must_check;

/* The same for a file in memory, aligned to 8 bytes, which must outlive the reader and not
 * change. */
int elf_reader_init_bytes(struct elf_reader *reader, const void *bytes, size_t len) must_check;
void elf_reader_done(struct elf_reader *reader);

/* Lets go of the descriptor, which the caller may then close. Only parts that were read already can
 * be used after that. */
void elf_reader_let_go(struct elf_reader *reader);

/* Copies exactly `len` bytes from the file, without the image. Errors: -EBADMSG if the file is too
 * short, those of pread(2). */
int elf_reader_read(const struct elf_reader *reader, uint64_t offset, void *buf, size_t len)
	must_check;

/* Returns a range of the file; borrowed. Bytes between ranges that were requested may be zero.
 * Errors: as above, -ENOMEM. */
int elf_reader_bytes(struct elf_reader *reader, uint64_t offset, uint64_t len,
		     const uint8_t **ret_bytes) must_check;

/* Returns a range of the file as libelf's data of a type (ELF_T_…); borrowed. The caller limits
 * `len`. Errors: -EBADMSG if the file is too short, -ENOMEM, those of pread(2). */
int elf_reader_data(struct elf_reader *reader, uint64_t offset, uint64_t len, Elf_Type type,
		    Elf_Data **ret_data) must_check;

/* Returns the first section of a type (SHT_…), or NULL; borrowed. */
const GElf_Shdr *elf_reader_find_section(const struct elf_reader *reader, uint32_t type);

/* Returns the size of a header, a symbol or another type (ELF_T_…) in this file. */
size_t elf_reader_entry_bytes(const struct elf_reader *reader, Elf_Type type);

/* Returns the GNU build id, from a PT_NOTE segment or else from an SHT_NOTE section, as lower-case
 * hex; "" if there is none. */
void elf_reader_build_id(struct elf_reader *reader, char ret_hex[static 2 * ELF_BUILD_ID_MAX + 1]);

/* Returns Go's build id, a text of letters, digits and "/_-"; "" if there is none or it has other
 * characters. */
void elf_reader_go_build_id(struct elf_reader *reader,
			    char ret_text[static ELF_GO_BUILD_ID_MAX + 1]);

/* Returns whether `text` has at most `max` bytes, and only the characters of Go's build ids. */
bool elf_go_build_id_is_sound(const char *text, size_t max);

/* Converts the bytes of a build id, at most ELF_BUILD_ID_MAX, to lower-case hex. */
void elf_build_id_to_hex(const uint8_t *bytes, size_t len,
			 char ret_hex[static 2 * ELF_BUILD_ID_MAX + 1]);

#endif

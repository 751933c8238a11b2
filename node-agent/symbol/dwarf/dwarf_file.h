/* SPDX-License-Identifier: Apache-2.0 */
/* An ELF file and its debug information, open in libdw, such that libdw opens
 * no other file by itself. */
#ifndef SYMBOL_DWARF_DWARF_FILE_H
#define SYMBOL_DWARF_DWARF_FILE_H

#include "base/err.h"

#include <elfutils/libdw.h>
#include <libelf.h>

struct dwarf_side {
	int fd; /* owned; -EBADF: none */
	Elf *elf; /* owned */
	Dwarf *dwarf; /* owned */
};

struct dwarf_file {
	struct dwarf_side main;
	struct dwarf_side supplementary; /* .gnu_debugaltlink's, or an empty one */
};

/* Descriptors are duplicated. `alt_fd` is the supplementary file, or -1; one that is not what the
 * file refers to, by build id, is not used. Errors: -ENOENT no debug information, -EBADMSG not an
 * ELF file, or a section of strings does not end as strings do, -ENOMEM, -EMFILE. */
int dwarf_file_open(struct dwarf_file *file, int fd, int alt_fd) must_check;
void dwarf_file_close(struct dwarf_file *file);

/* Has libdw forget what it read, which it otherwise does only at the end. All that came from it is
 * gone. Errors: -ENOMEM; then the file is as if closed. */
int dwarf_file_forget(struct dwarf_file *file) must_check;

/* Where the section ends that has a byte, wherever libdw found that; NULL: none has. */
const unsigned char *dwarf_section_end(Dwarf *dwarf, const void *byte);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* An ELF file whose debug information is open in libdw. Prevents libdw from opening other files by
 * itself. */
#ifndef SYMBOL_DWARF_DWARF_FILE_H
#define SYMBOL_DWARF_DWARF_FILE_H

#include "base/err.h"

#include <elfutils/libdw.h>
#include <libelf.h>

struct dwarf_side {
	int fd; /* owned; negative: none */
	Elf *elf; /* owned */
	Dwarf *dwarf; /* owned */
};

struct dwarf_file {
	struct dwarf_side main;
	struct dwarf_side supplementary; /* file named by .gnu_debugaltlink, or an empty one */
};

/* Opens a file. The descriptors are duplicated. `alt_fd` is the supplementary file, or -1; it is
 * not used if its build id is not the one that the file refers to. Errors: -ENOENT no debug
 * information, -EBADMSG not an ELF file, or a section of strings does not end with a NUL, -ENOMEM,
 * -EMFILE. */
int dwarf_file_open(struct dwarf_file *file, int fd, int alt_fd) must_check;
void dwarf_file_close(struct dwarf_file *file);

/* Makes libdw release everything it has read, which it otherwise keeps until the file is closed.
 * Pointers obtained from libdw become invalid. Errors: -ENOMEM; the file is closed then. */
int dwarf_file_forget(struct dwarf_file *file) must_check;

/* Returns the end of the section that contains a byte, or NULL if no section contains it. */
const unsigned char *dwarf_section_end(Dwarf *dwarf, const void *byte);

#endif

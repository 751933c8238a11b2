/* SPDX-License-Identifier: Apache-2.0 */
/* Inlined functions and source lines of a file's debug information, through libdw. For the symbol
 * worker alone: libdw maps files and believes them (symbol_worker.h). */
#ifndef SYMBOL_DWARF_DWARF_LINES_H
#define SYMBOL_DWARF_DWARF_LINES_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/strbuf.h"

#include <stddef.h>
#include <stdint.h>

struct dwarf_lines;

/* Descriptors are duplicated. `alt_fd` is the supplementary file of .gnu_debugaltlink, or -1.
 * Errors: -ENOENT no debug information, -EBADMSG damaged, -ENOMEM, -EMFILE. */
int dwarf_lines_open(int fd, int alt_fd, struct dwarf_lines **ret_lines) must_check;
void dwarf_lines_close(struct dwarf_lines *lines);
DEFINE_FREEP(struct dwarf_lines, dwarf_lines_close)

/* Appends the units (lines_unit.h) that virtual addresses are in, each unit once, and a unit
 * without content for code between units. What is over a limit, or has no room any more, has no
 * lines, or is not there. Errors: -ENOMEM, kept in `out`. */
int dwarf_lines_write(struct dwarf_lines *lines, const uint64_t *addresses, size_t nr_addresses,
		      struct strbuf *out) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads inlined functions and source lines from a file's debug information with libdw. Only the
 * symbol worker may use this: libdw maps files and trusts their content (symbol_worker.h). */
#ifndef SYMBOL_DWARF_DWARF_LINES_H
#define SYMBOL_DWARF_DWARF_LINES_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/strbuf.h"

#include <stddef.h>
#include <stdint.h>

struct dwarf_lines;

/* Opens a file. The descriptors are duplicated. `alt_fd` is the supplementary file of
 * .gnu_debugaltlink, or -1. Errors: -ENOENT no debug information, -EBADMSG damaged, -ENOMEM,
 * -EMFILE. */
int dwarf_lines_open(int fd, int alt_fd, struct dwarf_lines **ret_lines) must_check;
void dwarf_lines_close(struct dwarf_lines *lines);
DEFINE_FREEP(struct dwarf_lines, dwarf_lines_close)

/* Appends the units (lines_unit.h) that contain the virtual addresses, each unit once. For an
 * address between units it appends an empty unit. A unit above a limit has no lines. Units that do
 * not fit into `out` are missing. Errors: -ENOMEM, which is also stored in `out`. */
int dwarf_lines_write(struct dwarf_lines *lines, const uint64_t *addresses, size_t nr_addresses,
		      struct strbuf *out) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The baseline of symbol_bench: names as libdwfl gives them. It looks for no separate debug files
 * here, demangles nothing and remembers nothing of what it was asked. */
#ifndef BENCH_DWFL_NAMES_H
#define BENCH_DWFL_NAMES_H

#include "base/err.h"

#include <elfutils/libdwfl.h>
#include <stddef.h>
#include <stdint.h>

struct dwfl_names {
	Dwfl *dwfl; /* owned */
	Dwfl_Module *module; /* borrowed from it */
	uint64_t bias; /* to add to the file's virtual addresses */
};

/* Errors: -EBADMSG. */
int dwfl_names_open(const char *path, struct dwfl_names *ret_names) must_check;
void dwfl_names_close(struct dwfl_names *names);

/* Reads the symbol table; the number of its entries, 0 without one. */
size_t dwfl_names_load(const struct dwfl_names *names);

/* Borrowed; NULL when no symbol holds the address. Searches the table from end to end. */
const char *dwfl_names_find(const struct dwfl_names *names, uint64_t address);

/* Looks up source line, function and inlined functions; the number of functions, 0
 * without debug information. */
size_t dwfl_names_count_lines(const struct dwfl_names *names, uint64_t address);

/* The length of .debug_info, not compressed. */
size_t dwfl_names_debug_info_bytes(const struct dwfl_names *names);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Converts one compile unit: its functions, and their lines as rows. */
#ifndef SYMBOL_DWARF_DWARF_UNIT_H
#define SYMBOL_DWARF_DWARF_UNIT_H

#include "base/err.h"
#include "symbol/dwarf/lines_writer.h"

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

/* The cost of reading units. */
struct dwarf_unit_cost {
	uint64_t nr_steps; /* DIEs and ranges visited */
	size_t nr_libdw_bytes; /* estimate of the memory that libdw keeps */
};

/* Reads the unit whose DIE has that offset, and adds its files, functions and rows to the writer.
 * The cost is added to `cost`, also on failure. A damaged unit is read up to the damage. Errors:
 * -ENOSPC the unit is too large, -ENOMEM. */
int dwarf_unit_write(Dwarf *dwarf, Dwarf_Off offset, struct dwarf_unit_cost *cost,
		     struct lines_writer *writer, enum symbol_language *ret_language) must_check;

#endif

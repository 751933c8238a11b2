/* SPDX-License-Identifier: Apache-2.0 */
/* One compile unit: its functions and their lines, as rows. */
#ifndef SYMBOL_DWARF_DWARF_UNIT_H
#define SYMBOL_DWARF_DWARF_UNIT_H

#include "base/err.h"
#include "symbol/dwarf/lines_writer.h"

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

/* What reading a unit took. */
struct dwarf_unit_cost {
	uint64_t nr_steps; /* DIEs and ranges that were looked at */
	size_t nr_libdw_bytes; /* that libdw holds from now on: about */
};

/* Reads the unit whose DIE has that offset, and adds its files, functions and rows to the writer;
 * what it cost is added to `cost`, also on failure. A unit that is damaged is read as far as that
 * goes. Errors: -ENOSPC it is too large, -ENOMEM. */
int dwarf_unit_write(Dwarf *dwarf, Dwarf_Off offset, struct dwarf_unit_cost *cost,
		     struct lines_writer *writer, enum symbol_language *ret_language) must_check;

#endif

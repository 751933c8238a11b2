/* SPDX-License-Identifier: Apache-2.0 */
/* One compile unit: tells which functions an address is in, and their lines. */
#ifndef SYMBOL_DWARF_UNIT_H
#define SYMBOL_DWARF_UNIT_H

#include "base/cleanup.h"
#include "base/err.h"
#include "symbol/lines_writer.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_unit;

/* `offset` is that of the unit's DIE. The Dwarf must outlive the unit. `*steps` counts what was looked at. A unit
 * that is too large to be read is one without functions. Errors: -ENOMEM. */
int dwarf_unit_load(Dwarf *dwarf, Dwarf_Off offset, uint64_t *steps, struct dwarf_unit **ret_unit)
	must_check;
void dwarf_unit_free(struct dwarf_unit *unit);
DEFINE_FREEP(struct dwarf_unit, dwarf_unit_free)

/* Adds the lines of an address to the writer. Whether there are any. */
bool dwarf_unit_resolve(struct dwarf_unit *unit, uint64_t address, struct lines_writer *writer);

/* Memory the unit holds, and libdw for it: the latter about. */
size_t dwarf_unit_bytes(const struct dwarf_unit *unit);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the DIE of a function says of it, together with what the DIEs say that it refers to
 * (DW_AT_abstract_origin, DW_AT_specification). Inlined functions are there once for each call, and
 * refer to the same one: that is read once. */
#ifndef SYMBOL_DWARF_DWARF_FACTS_H
#define SYMBOL_DWARF_DWARF_FACTS_H

#include "base/err.h"
#include "base/htable.h"

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

/* Strings are borrowed from libdw; NULL or 0: not told. */
struct dwarf_facts {
	const char *linkage_name;
	const char *old_linkage_name; /* DW_AT_MIPS_linkage_name */
	const char *plain_name;
	uint32_t start_line;
	uint32_t call_file; /* of the DIE itself; these are not its origin's */
	uint32_t call_line;
};

struct dwarf_origin {
	const void *die; /* Dwarf_Die.addr */
	struct dwarf_facts facts;
};

/* Zeros are a reader that has read nothing yet. Belongs to one Dwarf, which must outlive it. */
struct dwarf_facts_reader {
	struct htable index; /* of origins, by DIE */
	struct dwarf_origin *origins; /* owned */
	size_t nr_origins, cap_origins;
	const char *strings_start; /* of the section of the string that was read last */
	const char *strings_end;
};

void dwarf_facts_reader_done(struct dwarf_facts_reader *reader);

/* Errors: -ENOMEM. */
int dwarf_facts_read(struct dwarf_facts_reader *reader, Dwarf_Die *die,
		     struct dwarf_facts *ret_facts) must_check;

/* The linkage name, else the plain name, "" where there is none. */
const char *dwarf_facts_name(const struct dwarf_facts *facts);

/* A string that ends within its section; NULL where it does not. */
const char *dwarf_facts_string(struct dwarf_facts_reader *reader, Dwarf_Attribute *attribute);

#endif

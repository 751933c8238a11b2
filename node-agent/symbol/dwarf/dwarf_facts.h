/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the attributes of a function from its DIE and from the DIEs that it refers to
 * (DW_AT_abstract_origin, DW_AT_specification). Each inlined call of a function has a DIE, and all
 * of these refer to the same origin. The reader reads an origin once and keeps its attributes. */
#ifndef SYMBOL_DWARF_DWARF_FACTS_H
#define SYMBOL_DWARF_DWARF_FACTS_H

#include "base/err.h"
#include "base/htable.h"

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

/* Strings are borrowed from libdw. NULL or 0 means that the attribute is missing. */
struct dwarf_facts {
	const char *linkage_name;
	const char *old_linkage_name; /* DW_AT_MIPS_linkage_name */
	const char *plain_name;
	uint32_t start_line;
	uint32_t call_file; /* of the DIE itself, never of its origin */
	uint32_t call_line;
};

struct dwarf_origin {
	const void *die; /* Dwarf_Die.addr */
	struct dwarf_facts facts;
};

/* Starts as zeros. Belongs to one Dwarf, which must outlive it. */
struct dwarf_facts_reader {
	struct htable index; /* rows of `origins` by DIE */
	struct dwarf_origin *origins; /* owned */
	size_t nr_origins, cap_origins;
	/* section of the last string that was read, from that string on */
	const char *strings_start;
	const char *strings_end;
};

void dwarf_facts_reader_done(struct dwarf_facts_reader *reader);

/* Reads the attributes of a function. Errors: -ENOMEM. */
int dwarf_facts_read(struct dwarf_facts_reader *reader, Dwarf_Die *die,
		     struct dwarf_facts *ret_facts) must_check;

/* Returns the linkage name, else the plain name, or "" if there is none. */
const char *dwarf_facts_name(const struct dwarf_facts *facts);

/* Returns the string of an attribute, or NULL if it does not end within its section. */
const char *dwarf_facts_string(struct dwarf_facts_reader *reader, Dwarf_Attribute *attribute);

#endif

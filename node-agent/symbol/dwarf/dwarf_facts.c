/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/dwarf/dwarf_facts.h"

#include "base/array.h"
#include "base/hash.h"
#include "symbol/dwarf/dwarf_file.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CHAIN 16 /* DIEs that refer to each other; libdw has the same limit */
#define MAX_ORIGINS ((size_t)1 << 22)

/* A DIE while its attributes are read. */
struct reading {
	struct dwarf_facts_reader *reader;
	struct dwarf_facts facts;
	Dwarf_Attribute origin;
	bool has_origin;
	bool has_abstract_origin; /* which takes precedence over DW_AT_specification */
};

void dwarf_facts_reader_done(struct dwarf_facts_reader *reader)
{
	htable_done(&reader->index);
	free(reader->origins);
	*reader = (struct dwarf_facts_reader){ 0 };
}

/* Returns the end of the section that contains a string, or NULL. Finding it takes as long as
 * reading a function. Consecutive strings are usually in the same section, so it is remembered. */
static const char *end_of_section(struct dwarf_facts_reader *reader, Dwarf *dwarf, const char *text)
{
	if (text >= reader->strings_start && text < reader->strings_end)
		return reader->strings_end;
	reader->strings_start = text;
	reader->strings_end = (const char *)dwarf_section_end(dwarf, text);
	return reader->strings_end;
}

/* dwarf_file.c has checked that sections of strings end with a NUL. A string may also be stored
 * among the DIEs, and the index of a string may point past the section. Those are checked here. */
const char *dwarf_facts_string(struct dwarf_facts_reader *reader, Dwarf_Attribute *attribute)
{
	const char *text = dwarf_formstring(attribute);

	switch (dwarf_whatform(attribute)) {
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_GNU_strp_alt:
		return text;
	}

	Dwarf *dwarf = text ? dwarf_cu_getdwarf(attribute->cu) : NULL;
	const char *end = dwarf ? end_of_section(reader, dwarf, text) : NULL;
	return end && memchr(text, '\0', (size_t)(end - text)) ? text : NULL;
}

/* Returns the name, or NULL if it is empty or missing. */
static const char *name_of(struct reading *reading, Dwarf_Attribute *attribute)
{
	const char *name = dwarf_facts_string(reading->reader, attribute);

	return name && name[0] != '\0' ? name : NULL;
}

static uint32_t number_of(Dwarf_Attribute *attribute)
{
	Dwarf_Word value;

	if (dwarf_formudata(attribute, &value) != 0 || value > UINT32_MAX)
		return 0;
	return (uint32_t)value;
}

static void take_origin(struct reading *reading, const Dwarf_Attribute *attribute, bool is_abstract)
{
	if (reading->has_abstract_origin)
		return;
	reading->origin = *attribute;
	reading->has_origin = true;
	reading->has_abstract_origin = is_abstract;
}

static int take_attribute(Dwarf_Attribute *attribute, void *opaque)
{
	struct reading *reading = opaque;
	struct dwarf_facts *facts = &reading->facts;

	switch (dwarf_whatattr(attribute)) {
	case DW_AT_linkage_name:
		facts->linkage_name = name_of(reading, attribute);
		break;
	case DW_AT_MIPS_linkage_name:
		facts->old_linkage_name = name_of(reading, attribute);
		break;
	case DW_AT_name:
		facts->plain_name = name_of(reading, attribute);
		break;
	case DW_AT_decl_line:
		facts->start_line = number_of(attribute);
		break;
	case DW_AT_call_file:
		facts->call_file = number_of(attribute);
		break;
	case DW_AT_call_line:
		facts->call_line = number_of(attribute);
		break;
	case DW_AT_abstract_origin:
		take_origin(reading, attribute, true);
		break;
	case DW_AT_specification:
		take_origin(reading, attribute, false);
		break;
	default:
		break;
	}
	return DWARF_CB_OK;
}

/* Reads one DIE. Returns whether it refers to another one, which becomes *ret_origin. */
static bool read_one(struct dwarf_facts_reader *reader, Dwarf_Die *die,
		     struct dwarf_facts *ret_facts, Dwarf_Die *ret_origin)
{
	struct reading reading = { .reader = reader };

	/* A damaged DIE has the attributes before the damage. */
	(void)dwarf_getattrs(die, take_attribute, &reading, 0);
	*ret_facts = reading.facts;
	return reading.has_origin && dwarf_formref_die(&reading.origin, ret_origin);
}

/* Adds attributes that are still missing. */
static void add_facts(struct dwarf_facts *facts, const struct dwarf_facts *more)
{
	if (!facts->linkage_name)
		facts->linkage_name = more->linkage_name;
	if (!facts->old_linkage_name)
		facts->old_linkage_name = more->old_linkage_name;
	if (!facts->plain_name)
		facts->plain_name = more->plain_name;
	if (facts->start_line == 0)
		facts->start_line = more->start_line;
}

static void read_chain(struct dwarf_facts_reader *reader, const Dwarf_Die *first,
		       struct dwarf_facts *ret_facts)
{
	Dwarf_Die die = *first;
	Dwarf_Die next;
	bool goes_on = true;

	*ret_facts = (struct dwarf_facts){ 0 };
	for (int i = 1; goes_on && i < MAX_CHAIN; i++) {
		struct dwarf_facts facts;

		goes_on = read_one(reader, &die, &facts, &next);
		add_facts(ret_facts, &facts);
		die = next;
	}
}

static const struct dwarf_facts *find_origin(const struct dwarf_facts_reader *reader,
					     const void *die)
{
	struct htable_iter it = htable_lookup(&reader->index, hash_u64((uintptr_t)die));

	for (uint32_t row; htable_next(&it, &row);)
		if (reader->origins[row].die == die)
			return &reader->origins[row].facts;
	return NULL;
}

static int add_origin(struct dwarf_facts_reader *reader, const Dwarf_Die *die,
		      const struct dwarf_facts **ret_facts)
{
	int r = array_grow(reader->origins, reader->cap_origins, reader->nr_origins + 1,
			   MAX_ORIGINS);
	if (r == 0)
		r = htable_add(&reader->index, hash_u64((uintptr_t)die->addr),
			       (uint32_t)reader->nr_origins);
	if (r < 0)
		return -ENOMEM;
	struct dwarf_origin *origin = &reader->origins[reader->nr_origins++];
	origin->die = die->addr;
	read_chain(reader, die, &origin->facts);
	*ret_facts = &origin->facts;
	return 0;
}

int dwarf_facts_read(struct dwarf_facts_reader *reader, Dwarf_Die *die,
		     struct dwarf_facts *ret_facts)
{
	Dwarf_Die origin;

	if (!read_one(reader, die, ret_facts, &origin))
		return 0;
	const struct dwarf_facts *facts = find_origin(reader, origin.addr);
	int r = facts ? 0 : add_origin(reader, &origin, &facts);
	if (r == 0)
		add_facts(ret_facts, facts);
	return r;
}

const char *dwarf_facts_name(const struct dwarf_facts *facts)
{
	if (facts->linkage_name)
		return facts->linkage_name;
	if (facts->old_linkage_name)
		return facts->old_linkage_name;
	return facts->plain_name ? facts->plain_name : "";
}

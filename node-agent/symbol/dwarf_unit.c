/* SPDX-License-Identifier: Apache-2.0 */
/* The line table tells where the innermost function is at; where that was called from is in the inlined function's
 * DIE, and so on outwards:
 *
 *	skip	scan.c:12	line table
 *	parse	scan.c:40	DW_AT_call_file, DW_AT_call_line of skip
 *	main	main.c:7	… of parse
 */
#include "symbol/dwarf_unit.h"

#include "symbol/dwarf_file.h"
#include "symbol/dwarf_functions.h"

#include <dwarf.h>
#include <string.h>

#define MAX_PATH_BYTES ((size_t)3 * LINES_MAX_STRING)
#define LIBDW_LINE_BYTES 48 /* that libdw holds for a row of a line table */

struct dwarf_unit {
	Dwarf_Die die;
	struct dwarf_functions functions;
	size_t nr_lines;
	Dwarf_Files *files; /* borrowed from libdw; NULL: none */
	size_t nr_files;
	const char *directory; /* that it was compiled in; borrowed; NULL: not told */
	enum symbol_language language;
	struct strbuf path; /* of the file named last */
};

/* Where an address is, or was called from. */
struct place {
	const char *file; /* as libdw has it; NULL: unknown */
	uint32_t line;
};

void dwarf_unit_free(struct dwarf_unit *unit)
{
	if (!unit)
		return;
	dwarf_functions_done(&unit->functions);
	strbuf_done(&unit->path);
	free(unit);
}

size_t dwarf_unit_bytes(const struct dwarf_unit *unit)
{
	return sizeof(*unit) + dwarf_functions_bytes(&unit->functions) +
	       unit->nr_lines * LIBDW_LINE_BYTES;
}

/* Sections of strings end with one (dwarf_file.c), but strings may also lie among the DIEs, and numbers of strings may
 * lead behind the section. */
static const char *string_of(Dwarf_Attribute *attribute)
{
	const char *text = dwarf_formstring(attribute);

	switch (dwarf_whatform(attribute)) {
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_GNU_strp_alt:
		return text;
	}

	Dwarf *dwarf = text ? dwarf_cu_getdwarf(attribute->cu) : NULL;
	const char *end = dwarf ? (const char *)dwarf_section_end(dwarf, text) : NULL;
	return end && memchr(text, '\0', (size_t)(end - text)) ? text : NULL;
}

/* libdw follows a bounded number of references from one DIE to the next. */
static const char *integrated_string(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, name, &attribute) ? string_of(&attribute) : NULL;
}

static uint32_t number_of(Dwarf_Attribute *attribute)
{
	Dwarf_Word value;

	if (!attribute || dwarf_formudata(attribute, &value) != 0 || value > UINT32_MAX)
		return 0;
	return (uint32_t)value;
}

static const char *name_of(Dwarf_Die *die)
{
	static const unsigned int attributes[] = {
		DW_AT_linkage_name,
		DW_AT_MIPS_linkage_name,
		DW_AT_name,
	};

	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
		const char *name = integrated_string(die, attributes[i]);

		if (name && name[0] != '\0')
			return name;
	}
	return NULL;
}

static enum symbol_language language_of(Dwarf_Die *die)
{
	switch (dwarf_srclang(die)) {
	case DW_LANG_Go:
		return LANGUAGE_GO;
	case DW_LANG_Rust:
		return LANGUAGE_RUST;
	default:
		return LANGUAGE_UNKNOWN;
	}
}

static void load_lines(struct dwarf_unit *unit)
{
	Dwarf_Attribute attribute;
	Dwarf_Lines *lines;

	if (dwarf_getsrclines(&unit->die, &lines, &unit->nr_lines) != 0)
		unit->nr_lines = 0;
	if (dwarf_getsrcfiles(&unit->die, &unit->files, &unit->nr_files) != 0)
		unit->files = NULL;
	unit->directory = string_of(dwarf_attr(&unit->die, DW_AT_comp_dir, &attribute));
	unit->language = language_of(&unit->die);
}

int dwarf_unit_load(Dwarf *dwarf, Dwarf_Off offset, uint64_t *steps, struct dwarf_unit **ret_unit)
{
	_cleanup_(dwarf_unit_freep) struct dwarf_unit *unit = calloc(1, sizeof(*unit));

	if (!unit)
		return -ENOMEM;
	unit->path = strbuf_with_max(MAX_PATH_BYTES);
	if (dwarf_offdie(dwarf, offset, &unit->die)) {
		int r = dwarf_functions_init(&unit->functions, &unit->die, steps);
		if (r == -ENOMEM)
			return r;
		load_lines(unit);
	}
	*ret_unit = take_ptr(unit);
	return 0;
}

static struct place place_of_address(struct dwarf_unit *unit, uint64_t address)
{
	Dwarf_Line *line = unit->nr_lines > 0 ? dwarf_getsrc_die(&unit->die, address) : NULL;
	int number = 0;

	if (!line || dwarf_lineno(line, &number) != 0 || number < 0)
		number = 0;
	return (struct place){
		.file = line ? dwarf_linesrc(line, NULL, NULL) : NULL,
		.line = (uint32_t)number,
	};
}

static struct place place_of_call(const struct dwarf_unit *unit,
				  const struct dwarf_function *function)
{
	bool has_file = unit->files && function->call_file < unit->nr_files;

	return (struct place){
		.file = has_file ? dwarf_filesrc(unit->files, function->call_file, NULL, NULL)
				 : NULL,
		.line = function->call_line,
	};
}

/* Relative paths start where the unit was compiled. */
static const char *full_path(struct dwarf_unit *unit, const char *file)
{
	if (!file || file[0] == '/' || !unit->directory)
		return file ? file : "";
	strbuf_clear(&unit->path);
	strbuf_append(&unit->path, unit->directory, strnlen(unit->directory, LINES_MAX_STRING));
	strbuf_append_char(&unit->path, '/');
	strbuf_append(&unit->path, file, strnlen(file, LINES_MAX_STRING));
	return strbuf_str(&unit->path);
}

static void read_function(const struct dwarf_unit *unit, struct dwarf_function *function)
{
	Dwarf_Die die = { .addr = function->die, .cu = unit->die.cu };
	Dwarf_Attribute attribute;

	function->name = name_of(&die);
	function->start_line = number_of(dwarf_attr_integrate(&die, DW_AT_decl_line, &attribute));
	function->call_file = number_of(dwarf_attr(&die, DW_AT_call_file, &attribute));
	function->call_line = number_of(dwarf_attr(&die, DW_AT_call_line, &attribute));
	function->is_read = true;
}

static void add_line(struct dwarf_unit *unit, const struct dwarf_function *function,
		     const struct place *place, struct lines_writer *writer)
{
	const struct symbol_line line = {
		.system_name = function->name,
		.filename = full_path(unit, place->file),
		.line = place->line,
		.start_line = function->start_line,
	};

	lines_writer_add(writer, &line, unit->language);
}

bool dwarf_unit_resolve(struct dwarf_unit *unit, uint64_t address, struct lines_writer *writer)
{
	uint32_t number = dwarf_functions_find(&unit->functions, address);
	size_t nr_lines = 0;

	if (number == DWARF_NO_FUNCTION)
		return false;
	struct place place = place_of_address(unit, address);
	while (number != DWARF_NO_FUNCTION) {
		struct dwarf_function *function = &unit->functions.functions[number];
		bool is_outermost = function->caller == DWARF_NO_FUNCTION;

		if (!function->is_read)
			read_function(unit, function);
		if (function->name && (nr_lines < SYMBOL_MAX_LINES - 1 || is_outermost)) {
			add_line(unit, function, &place, writer);
			nr_lines++;
		}
		place = place_of_call(unit, function);
		number = function->caller;
	}
	return nr_lines > 0;
}

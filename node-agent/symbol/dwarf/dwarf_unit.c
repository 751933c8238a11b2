/* SPDX-License-Identifier: Apache-2.0 */
/* The line table has the line in the innermost function. The line of its call is in the DIE of that
 * function, and so on outwards:
 *
 *	skip	scan.c:12	line table
 *	parse	scan.c:40	DW_AT_call_file, DW_AT_call_line of skip
 *	main	main.c:7	DW_AT_call_file, DW_AT_call_line of parse
 *
 * A row begins wherever the line table or the innermost function changes, so both lists are walked
 * side by side. */
#include "symbol/dwarf/dwarf_unit.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "symbol/dwarf/dwarf_facts.h"
#include "symbol/dwarf/dwarf_functions.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PATH_BYTES ((size_t)3 * LINES_MAX_STRING)
#define MAX_FILES ((size_t)1 << 22)
#define LIBDW_LINE_BYTES 48 /* memory of libdw for a row of a line table */

/* A file that has a number. */
struct known_file {
	const char *path; /* borrowed from libdw; compared by address */
	uint32_t number;
};

/* A unit while it is read. */
struct unit {
	Dwarf_Die die;
	struct lines_writer *writer;
	struct dwarf_functions functions;
	struct dwarf_facts_reader facts;
	Dwarf_Lines *lines; /* borrowed from libdw */
	size_t nr_lines;
	Dwarf_Files *files; /* borrowed from libdw; NULL: none */
	size_t nr_files;
	const char *directory; /* of the compiler; borrowed; NULL: unknown */
	struct strbuf path; /* of the file added last */
	struct htable known_index; /* rows of `known_files` by the address of the path */
	struct known_file *known_files; /* owned */
	size_t nr_known, cap_known;
	int error; /* first failure, or 0 */
};

static void unit_done(struct unit *unit)
{
	dwarf_functions_done(&unit->functions);
	dwarf_facts_reader_done(&unit->facts);
	strbuf_done(&unit->path);
	htable_done(&unit->known_index);
	free(unit->known_files);
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

static void load_lines(struct unit *unit)
{
	Dwarf_Attribute attribute;

	if (dwarf_getsrclines(&unit->die, &unit->lines, &unit->nr_lines) != 0)
		unit->nr_lines = 0;
	if (dwarf_getsrcfiles(&unit->die, &unit->files, &unit->nr_files) != 0)
		unit->files = NULL;
	if (dwarf_attr(&unit->die, DW_AT_comp_dir, &attribute))
		unit->directory = dwarf_facts_string(&unit->facts, &attribute);
}

/* Returns the path, with the compiler's directory if it is relative. */
static const char *full_path(struct unit *unit, const char *file)
{
	if (file[0] == '/' || !unit->directory)
		return file;
	strbuf_clear(&unit->path);
	strbuf_append(&unit->path, unit->directory, strnlen(unit->directory, LINES_MAX_STRING));
	strbuf_append_char(&unit->path, '/');
	strbuf_append(&unit->path, file, strnlen(file, LINES_MAX_STRING));
	return strbuf_str(&unit->path);
}

static uint32_t add_file(struct unit *unit, const char *path, uint32_t hash)
{
	int r = array_grow(unit->known_files, unit->cap_known, unit->nr_known + 1, MAX_FILES);
	if (r == 0)
		r = htable_add(&unit->known_index, hash, (uint32_t)unit->nr_known);
	if (r < 0) {
		unit->error = r;
		return 0;
	}
	uint32_t number = lines_writer_add_file(unit->writer, full_path(unit, path));
	unit->known_files[unit->nr_known++] = (struct known_file){ path, number };
	return number;
}

/* Returns the number of a file, which is added if it is new; 0 for NULL and after a failure. */
static uint32_t number_of_file(struct unit *unit, const char *path)
{
	uint32_t hash = hash_u64((uintptr_t)path);
	struct htable_iter it = htable_lookup(&unit->known_index, hash);

	if (!path || unit->error < 0)
		return 0;
	for (uint32_t row; htable_next(&it, &row);)
		if (unit->known_files[row].path == path)
			return unit->known_files[row].number;
	return add_file(unit, path, hash);
}

static uint32_t file_of_call(struct unit *unit, uint32_t call_file)
{
	bool has_file = unit->files && call_file < unit->nr_files;

	return has_file ? number_of_file(unit, dwarf_filesrc(unit->files, call_file, NULL, NULL))
			: 0;
}

static int add_functions(struct unit *unit)
{
	for (size_t i = 0; i < unit->functions.nr_functions; i++) {
		const struct dwarf_function *function = &unit->functions.functions[i];
		Dwarf_Die die = { .addr = function->die, .cu = unit->die.cu };
		struct dwarf_facts facts;

		int r = dwarf_facts_read(&unit->facts, &die, &facts);
		if (r < 0)
			return r;
		const struct lines_function added = {
			.start_line = facts.start_line,
			.caller = function->caller,
			.call_file = file_of_call(unit, facts.call_file),
			.call_line = facts.call_line,
		};
		lines_writer_add_function(unit->writer, dwarf_facts_name(&facts), &added);
	}
	return unit->error;
}

static uint64_t address_of_line(const struct unit *unit, size_t number)
{
	Dwarf_Addr address = UINT64_MAX;

	if (number < unit->nr_lines)
		(void)dwarf_lineaddr(dwarf_onesrcline(unit->lines, number), &address);
	return address;
}

/* Sets line and file of a row. At the end of a sequence there is no line. */
static void take_line(struct unit *unit, size_t number, struct lines_row *row)
{
	Dwarf_Line *line = dwarf_onesrcline(unit->lines, number);
	bool is_end = true;
	int value = 0;

	if (dwarf_lineendsequence(line, &is_end) != 0 || is_end) {
		row->line = 0;
		row->file = 0;
		return;
	}
	row->line = dwarf_lineno(line, &value) == 0 && value > 0 ? (uint32_t)value : 0;
	row->file = number_of_file(unit, dwarf_linesrc(line, NULL, NULL));
}

static void take_segment(const struct unit *unit, size_t number, struct lines_row *row)
{
	uint32_t function = unit->functions.segments[number].function;

	row->function = function != DWARF_NO_FUNCTION ? function + 1 : 0;
}

static uint64_t address_of_segment(const struct unit *unit, size_t number)
{
	const struct dwarf_functions *functions = &unit->functions;

	return number < functions->nr_segments ? functions->segments[number].low : UINT64_MAX;
}

/* If several lines have the same address, the last one counts. */
static void add_rows(struct unit *unit)
{
	static const struct lines_row no_function;
	struct lines_row row = { 0 };
	size_t line = 0, segment = 0;

	while (segment < unit->functions.nr_segments || row.function > 0) {
		uint64_t line_at = address_of_line(unit, line);
		uint64_t segment_at = address_of_segment(unit, segment);
		uint64_t at = line_at < segment_at ? line_at : segment_at;

		if (at == UINT64_MAX)
			return;
		for (; address_of_line(unit, line) == at; line++)
			take_line(unit, line, &row);
		for (; address_of_segment(unit, segment) == at; segment++)
			take_segment(unit, segment, &row);
		lines_writer_add_row(unit->writer, at, row.function > 0 ? &row : &no_function);
	}
}

int dwarf_unit_write(Dwarf *dwarf, Dwarf_Off offset, struct dwarf_unit_cost *cost,
		     struct lines_writer *writer, enum symbol_language *ret_language)
{
	_cleanup_(unit_done) struct unit unit = {
		.writer = writer,
		.path = strbuf_with_max(MAX_PATH_BYTES),
	};

	*ret_language = LANGUAGE_UNKNOWN;
	if (!dwarf_offdie(dwarf, offset, &unit.die))
		return 0;
	*ret_language = language_of(&unit.die);
	int r = dwarf_functions_init(&unit.functions, &unit.die, &cost->nr_steps);
	if (r < 0)
		return r;
	load_lines(&unit);
	cost->nr_libdw_bytes += unit.nr_lines * LIBDW_LINE_BYTES;
	r = add_functions(&unit);
	if (r == 0)
		add_rows(&unit);
	return r < 0 ? r : unit.error;
}

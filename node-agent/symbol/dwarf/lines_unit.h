/* SPDX-License-Identifier: Apache-2.0 */
/* The source lines of one compile unit, as compact bytes that an address is
 * looked up in as they are:
 *
 *	struct lines_unit_header
 *	struct lines_range [nr_ranges]		the code that the unit says is its own
 *	struct lines_function [nr_functions]	inlined ones, each behind the function that it is inlined into
 *	uint32_t files [nr_files]		offsets in strings
 *	struct lines_mark [nr_marks]		where a few rows begin; by address
 *	rows					what holds from an address on, up to that of the next row
 *	strings					each NUL-terminated; offset 0 is ""
 *	zeros					up to a multiple of 8 bytes
 *
 * in host byte order. Addresses count from header.base. A row is three to five numbers of 7 bits a
 * byte, lowest bits first:
 *
 *	how far its address is behind that of the row before
 *	how far its line is from that of the row before (zigzag) << 2 | LINES_ROW_HAS_…
 *	its file: 1 and its place in files; 0 there is none	if it is another one than before
 *	its function, likewise					if it is another one than before
 *
 * Before the first row of a mark come the mark's own address, line 0, no file and no function. Two
 * to three bytes a row are what most take. The symbol worker writes units (lines_writer.h); the
 * agent, and what it keeps on disk, believe nothing of them. */
#ifndef SYMBOL_DWARF_LINES_UNIT_H
#define SYMBOL_DWARF_LINES_UNIT_H

#include "base/err.h"
#include "symbol/frame/symbol_frames.h"

#include <stddef.h>
#include <stdint.h>

#define LINES_MAX_STRING 4096 /* names and paths are cut to so many bytes */
#define LINES_ALIGNMENT 8 /* of a unit, and of its length */
#define LINES_ROWS_A_MARK 32 /* at most */
#define LINES_NO_FUNCTION UINT32_MAX
#define LINES_NO_UNIT UINT32_MAX

#define LINES_ROW_HAS_FILE 1U
#define LINES_ROW_HAS_FUNCTION 2U
#define LINES_ROW_LINE_SHIFT 2

struct lines_unit_header {
	uint32_t nr_bytes; /* of all of it */
	/* in the file; LINES_NO_UNIT: code between units, of which nothing is known */
	uint32_t number;
	uint64_t base;
	uint32_t language; /* enum symbol_language */
	uint32_t nr_ranges;
	uint32_t nr_functions;
	uint32_t nr_files;
	uint32_t nr_marks;
	uint32_t rows_len;
	uint32_t strings_len;
	uint32_t is_left_out; /* 1: it was over a limit, so there are ranges and nothing else */
};

struct lines_range {
	uint32_t low;
	uint32_t length;
};

struct lines_function {
	uint32_t name; /* the linkage name, else the plain name; "": it is not shown */
	uint32_t start_line;
	uint32_t caller; /* what it is inlined into, which precedes it; LINES_NO_FUNCTION */
	uint32_t call_file; /* where it is called there: as in rows */
	uint32_t call_line;
};

struct lines_mark {
	uint32_t low;
	uint32_t offset; /* in rows */
};

struct lines_row {
	uint32_t low;
	uint32_t line;
	uint32_t file;
	uint32_t function;
};

/* A unit and where its parts are; all borrowed from its bytes. */
struct lines_unit {
	const struct lines_unit_header *header;
	const struct lines_range *ranges;
	const struct lines_function *functions;
	const uint32_t *files;
	const struct lines_mark *marks;
	const uint8_t *rows;
	const char *strings;
};

/* The unit at the beginning of `len` bytes, aligned to LINES_ALIGNMENT, which must outlive the
 * result; others may follow. Takes time in proportion to its length. Errors: -EBADMSG damaged:
 * lengths that do not add up, offsets or numbers out of bounds, a function in none that precedes
 * it, rows that are cut off or too many for a mark, strings that are not terminated or over
 * LINES_MAX_STRING, unknown languages. */
int lines_unit_parse(const void *bytes, size_t len, struct lines_unit *ret_unit) must_check;

/* The same of bytes that were checked. */
void lines_unit_find_parts(const void *bytes, struct lines_unit *ret_unit);

/* The functions at an address, innermost first: system_name, filename, line and start_line;
 * borrowed from the unit. Returns how many there are; 0: the unit does not know. */
size_t lines_unit_find(const struct lines_unit *unit, uint64_t address,
		       struct symbol_line ret_lines[static SYMBOL_MAX_LINES]);

#endif

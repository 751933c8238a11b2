/* SPDX-License-Identifier: Apache-2.0 */
/* The source lines of one compile unit, in a compact format in which addresses are looked up
 * without decoding the whole unit:
 *
 *	struct lines_unit_header
 *	struct lines_range [nr_ranges]		the code of the unit
 *	struct lines_function [nr_functions]	an inlined function comes after the one it is inlined into
 *	uint32_t files [nr_files]		offsets of their paths in strings
 *	struct lines_mark [nr_marks]		starts of groups of rows; sorted by address
 *	rows					each holds from its address up to that of the next row
 *	strings					each NUL-terminated; offset 0 is ""
 *	zeros					up to a multiple of 8 bytes
 *
 * Everything is in host byte order. Addresses are relative to header.base. A row consists of two to
 * four variable-length numbers of 7 bits per byte, lowest bits first:
 *
 *	the difference of its address from that of the previous row
 *	the difference of its line from that of the previous row (zigzag) << 2 | LINES_ROW_HAS_…
 *	its file: index in files plus 1, or 0 for none		only if LINES_ROW_HAS_FILE
 *	its function: index in functions plus 1, or 0		only if LINES_ROW_HAS_FUNCTION
 *
 * The first row of a mark is relative to the mark's address, line 0, no file and no function. Most
 * rows take two to three bytes. The symbol worker writes units (lines_writer.h). The agent checks
 * them before use, also those that it reads from disk. */
#ifndef SYMBOL_DWARF_LINES_UNIT_H
#define SYMBOL_DWARF_LINES_UNIT_H

#include "base/err.h"
#include "symbol/frame/symbol_frames.h"

#include <stddef.h>
#include <stdint.h>

#define LINES_MAX_STRING 4096 /* bytes; longer names and paths are truncated */
#define LINES_ALIGNMENT 8 /* of a unit, and of its length */
#define LINES_ROWS_PER_MARK 32 /* at most */
#define LINES_NO_FUNCTION UINT32_MAX
#define LINES_NO_UNIT UINT32_MAX

#define LINES_ROW_HAS_FILE 1U
#define LINES_ROW_HAS_FUNCTION 2U
#define LINES_ROW_LINE_SHIFT 2

struct lines_unit_header {
	uint32_t nr_bytes; /* of the whole unit */
	/* index of the unit in the file; LINES_NO_UNIT: code between units, without lines */
	uint32_t number;
	uint64_t base;
	uint32_t language; /* enum symbol_language */
	uint32_t nr_ranges;
	uint32_t nr_functions;
	uint32_t nr_files;
	uint32_t nr_marks;
	uint32_t rows_len;
	uint32_t strings_len;
	uint32_t is_left_out; /* 1: the unit was above a limit and has only ranges */
};

struct lines_range {
	uint32_t low;
	uint32_t length;
};

struct lines_function {
	uint32_t name; /* the linkage name, else the plain name; "": not shown */
	uint32_t start_line;
	uint32_t caller; /* function it is inlined into, which precedes it; or LINES_NO_FUNCTION */
	uint32_t call_file; /* location of the call in the caller; encoded as in rows */
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

/* Pointers to the parts of a unit, borrowed from its bytes. */
struct lines_unit {
	const struct lines_unit_header *header;
	const struct lines_range *ranges;
	const struct lines_function *functions;
	const uint32_t *files;
	const struct lines_mark *marks;
	const uint8_t *rows;
	const char *strings;
};

/* Checks the unit at the beginning of `len` bytes, which must be aligned to LINES_ALIGNMENT and
 * outlive the result. Other units may follow it. Takes time in proportion to the length of the
 * unit. Errors: -EBADMSG the unit is damaged: lengths do not add up, offsets or numbers are out of
 * bounds, the caller of a function does not precede it, rows are truncated or too many for a mark,
 * strings are not terminated or longer than LINES_MAX_STRING, the language is unknown. */
int lines_unit_parse(const void *bytes, size_t len, struct lines_unit *ret_unit) must_check;

/* Finds the parts of a unit that was checked before. */
void lines_unit_find_parts(const void *bytes, struct lines_unit *ret_unit);

/* Finds the functions at an address, innermost first. Sets system_name, filename, line and
 * start_line; strings are borrowed from the unit. Returns the number of functions, or 0 if the unit
 * has none at this address. */
size_t lines_unit_find(const struct lines_unit *unit, uint64_t address,
		       struct symbol_line ret_lines[static SYMBOL_MAX_LINES]);

#endif

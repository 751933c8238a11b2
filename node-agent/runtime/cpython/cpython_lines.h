/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the line tables of CPython's code objects, which are hostile input. Positions are in code
 * units of two bytes from the start of the bytecode.
 *
 *	CPYTHON_LINES_LNOTAB	pairs (bytes of bytecode, u8; lines, s8). A pair says where the next
 *				line begins. Source: Objects/lnotab_notes.txt of 3.6 to 3.9
 *	CPYTHON_LINES_LINETABLE	pairs (bytes of bytecode, u8; lines, s8). A pair says how far its line
 *				goes; lines -128: the code has no line. Source: Objects/lnotab_notes.txt
 *				of 3.10, PEP 626
 *	CPYTHON_LINES_LOCATIONS	entries of a byte 1cccclll and what its code c needs: l + 1 units have
 *				this line. Source: Objects/locations.md of 3.11,
 *				InternalDocs/code_objects.md of later versions
 *
 * A lookup takes time in proportion to the length of the table. */
#ifndef RUNTIME_CPYTHON_CPYTHON_LINES_H
#define RUNTIME_CPYTHON_CPYTHON_LINES_H

#include "runtime/cpython/cpython_naming.h"

#include <stddef.h>
#include <stdint.h>

struct cpython_line_table {
	enum cpython_lines format;
	int32_t first_line; /* co_firstlineno */
	const uint8_t *bytes; /* borrowed; of co_lnotab or co_linetable */
	size_t len;
};

/* Returns the line of a code unit; 0 if it has none or lies behind the table's end. Damaged tables
 * give any line. */
uint32_t cpython_lines_find(const struct cpython_line_table *table, uint64_t unit);

#endif

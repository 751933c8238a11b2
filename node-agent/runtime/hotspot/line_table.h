/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the line of a bytecode in the compressed line table behind a method's bytecodes.
 *
 * A pair of a bytecode index (bci) and a line is one byte, the differences to the pair before: five
 * bits and three bits. 0xff says that two signed numbers in UNSIGNED5 follow instead. 0 ends the
 * table.
 * Source: src/hotspot/share/oops/method.hpp, CompressedLineNumberReadStream. */
#ifndef RUNTIME_HOTSPOT_LINE_TABLE_H
#define RUNTIME_HOTSPOT_LINE_TABLE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct line_table {
	const uint8_t *bytes; /* borrowed */
	size_t len;
	uint8_t nr_excluded; /* see struct unsigned5_reader */
};

/* Returns the line of the last pair up to the bci; pairs need not be sorted. Errors: -ENOENT there
 * is no such pair; -EBADMSG. */
int line_table_find(const struct line_table *table, int32_t bci, uint32_t *ret_line) must_check;

#endif

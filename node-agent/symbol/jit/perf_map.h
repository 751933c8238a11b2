/* SPDX-License-Identifier: Apache-2.0 */
/* Reads perf map files: one function per line, `START SIZE NAME`, with numbers in hex. The name
 * ends with the line and may contain blanks. */
#ifndef SYMBOL_JIT_PERF_MAP_H
#define SYMBOL_JIT_PERF_MAP_H

#include "symbol/jit/jit_writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_MAP_MAX_LINE_BYTES JIT_NAME_MAX_BYTES /* longer lines are truncated */

/* The state of reading a file. It is sent between processes, so it has no pointers. Starts as
 * { 0 }. */
struct perf_map_reader {
	uint32_t is_in_long_line; /* whose rest is skipped */
};

/* Returns whether the state is possible. */
static inline bool perf_map_reader_is_valid(const struct perf_map_reader *reader)
{
	return reader->is_in_long_line <= 1;
}

/* Writes the functions of the complete lines in a piece of the file. Returns the number of bytes
 * consumed; the next piece must begin with the rest. A piece of PERF_MAP_MAX_LINE_BYTES or more is
 * always consumed at least in part, unless the writer is full. Malformed lines are counted and
 * skipped. */
size_t perf_map_feed(struct perf_map_reader *reader, const char *data, size_t len,
		     struct jit_writer *writer) must_check;

#endif

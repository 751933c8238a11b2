/* SPDX-License-Identifier: Apache-2.0 */
/* perf map files: `START SIZE NAME`, one function a line, numbers in hex. The name goes up to the
 * end of the line and may have blanks. */
#ifndef SYMBOL_JIT_PERF_MAP_H
#define SYMBOL_JIT_PERF_MAP_H

#include "symbol/jit/jit_writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_MAP_MAX_LINE_BYTES JIT_NAME_MAX_BYTES /* the rest of a longer one is left out */

/* Where the reading of a file stands, in plain numbers, as it is sent between
 * processes. Starts as { 0 }. */
struct perf_map_reader {
	uint32_t is_in_long_line; /* skips up to its end */
};

/* Whether a reader can be that. */
static inline bool perf_map_reader_is_valid(const struct perf_map_reader *reader)
{
	return reader->is_in_long_line <= 1;
}

/* Writes the functions of the complete lines in a piece of the file, and returns how many bytes
 * that was: what is behind belongs before the next piece. A piece of PERF_MAP_MAX_LINE_BYTES or
 * more is never left whole, unless the writer is full. Malformed lines are counted and left out. */
size_t perf_map_feed(struct perf_map_reader *reader, const char *data, size_t len,
		     struct jit_writer *writer) must_check;

#endif

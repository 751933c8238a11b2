/* SPDX-License-Identifier: Apache-2.0 */
/* Reads jitdump files: a header and records, each with its length. Loads and moves of
 * functions are used, and their source lines. Machine code, unwinding information and
 * unknown records are skipped.
 *
 * Timestamps are ignored: if two functions share an address, the later one in the file wins. */
#ifndef SYMBOL_JIT_JITDUMP_H
#define SYMBOL_JIT_JITDUMP_H

#include "symbol/jit/jit_writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JITDUMP_MAX_NAME_BYTES JIT_NAME_MAX_BYTES /* longer names are truncated */

/* Reading makes progress with any piece of at least this length. */
#define JITDUMP_MIN_PIECE_BYTES 8192

/* The state of reading a file. It is sent between processes, so it has no pointers. Starts as
 * { 0 }. */
struct jitdump_reader {
	uint32_t has_header;
	uint32_t has_lines; /* lines wait for the code at `lines_address` */
	uint64_t lines_address;
	uint64_t nr_entries; /* lines left in the current record */
	uint64_t nr_record_bytes; /* bytes left in the current record; 0: between records */
};

/* Returns whether the state is possible with `nr_left` bytes of the file left. */
static inline bool jitdump_reader_is_valid(const struct jitdump_reader *reader, uint64_t nr_left)
{
	return reader->has_header <= 1 && reader->has_lines <= 1 &&
	       reader->nr_record_bytes <= nr_left;
}

/* Writes the functions in a piece of the file. `len` bytes of it are in `data`, and the file has
 * `nr_left` bytes from there on. Returns the number of bytes consumed: it may exceed `len`, because
 * machine code is skipped, but not `nr_left`. 0 means that the next record is incomplete or that
 * the writer is full. Malformed records are counted and skipped. Errors: -EBADMSG the file is
 * malformed from the beginning of this piece on, or is of another architecture or byte order. */
int64_t jitdump_feed(struct jitdump_reader *reader, const char *data, size_t len, uint64_t nr_left,
		     struct jit_writer *writer) must_check;

#endif

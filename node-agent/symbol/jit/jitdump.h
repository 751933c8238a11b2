/* SPDX-License-Identifier: Apache-2.0 */
/* jitdump files: a header and records, each with its length. Code that is loaded and moved is
 * taken over, with the lines of its source; the code's bytes, unwinding information and what is
 * not known are passed by.
 *
 * Times are not looked at: where two functions share an address, the one later in the file wins. */
#ifndef SYMBOL_JIT_JITDUMP_H
#define SYMBOL_JIT_JITDUMP_H

#include "symbol/jit/jit_writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JITDUMP_MAX_NAME_BYTES JIT_NAME_MAX_BYTES /* the rest of a longer one is left out */

/* Pieces as long as this make progress whatever they hold. */
#define JITDUMP_MIN_PIECE_BYTES 8192

/* Where the reading of a file stands, in plain numbers, as it is sent between
 * processes. Starts as { 0 }. */
struct jitdump_reader {
	uint32_t has_header;
	uint32_t has_lines; /* for the code at `lines_address`, waiting for it */
	uint64_t lines_address;
	uint64_t nr_entries; /* lines still to be read in the record under way */
	uint64_t nr_record_bytes; /* its bytes still to be read; 0: between records */
};

/* Whether a reader can be that, with so many bytes of the file before it. */
static inline bool jitdump_reader_is_valid(const struct jitdump_reader *reader, uint64_t nr_left)
{
	return reader->has_header <= 1 && reader->has_lines <= 1 &&
	       reader->nr_record_bytes <= nr_left;
}

/* Writes the functions in a piece of the file, of which `nr_left` bytes are there from here on,
 * `len` of them at hand. Returns how many bytes are done with, which can be more than `len`, as
 * code is not looked at, but not more than `nr_left`. 0 means that what follows is incomplete,
 * or that the writer is full. Malformed records are counted and left out. Errors: -EBADMSG
 * nothing in the file makes sense from the beginning of this piece on, also for another
 * machine's or byte order's. */
int64_t jitdump_feed(struct jitdump_reader *reader, const char *data, size_t len, uint64_t nr_left,
		     struct jit_writer *writer) must_check;

#endif

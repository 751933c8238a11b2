/* SPDX-License-Identifier: Apache-2.0 */
/* jitdump files: a header and records, each with its length. Code that is loaded and moved is taken over, with
 * the lines of its source; the code's bytes, unwinding information and what is not known are passed by.
 *
 * Times are not looked at: where two functions share an address, the one later in the file wins. */
#ifndef SYMBOL_JITDUMP_H
#define SYMBOL_JITDUMP_H

#include "symbol/jit_functions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JITDUMP_MAX_NAME_BYTES 4096 /* the rest of a longer one is left out */

/* Pieces as long as this make progress whatever they hold. */
#define JITDUMP_MIN_PIECE_BYTES 8192

/* Where the reading of a file stands. Starts as { 0 }. */
struct jitdump_reader {
	bool has_header;
	bool has_lines; /* for the code at `lines_address`, waiting for it */
	uint64_t lines_address;
	uint64_t nr_entries; /* lines still to be read in the record under way */
	uint64_t nr_record_bytes; /* its bytes still to be read; 0: between records */
	uint64_t nr_bad_records;
	uint64_t nr_lines_dropped; /* at a limit */
};

/* Adds the functions in a piece of the file, of which `nr_left` bytes are there from here on, `len` of them at
 * hand. Returns how many bytes are done with, which can be more than `len`: code is not looked at. 0 means
 * that what follows is incomplete. Malformed records are counted and left out.
 * Errors: -EBADMSG nothing in the file makes sense from here on, also for another machine's or byte order's;
 * -ENOSPC, -ENOMEM as jit_functions_add(). */
int64_t jitdump_feed(struct jitdump_reader *reader, const char *data, size_t len, uint64_t nr_left,
		     struct jit_functions *functions) must_check;

#endif

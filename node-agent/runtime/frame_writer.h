/* SPDX-License-Identifier: Apache-2.0 */
/* The names of frames of runtimes, as a worker writes them and the agent reads them.
 *
 *	frame:	nr_lines (u32)		0: nothing is known of it
 *	line:	line, start_line, lengths of name and file (u32 each), both texts
 *
 * Texts are valid UTF-8 without NUL, and no longer than their limits. A frame has its innermost
 * line first, as where functions are inlined. */
#ifndef RUNTIME_FRAME_WRITER_H
#define RUNTIME_FRAME_WRITER_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stddef.h>
#include <stdint.h>

#define RUNTIME_NAME_MAX_BYTES 1024
#define RUNTIME_FILE_MAX_BYTES 4096
#define RUNTIME_MAX_LINES 32 /* of a frame */

/* One line of a frame. The texts are UTF-8 and may be cut; they need no NUL at their ends. */
struct runtime_line {
	const char *name;
	const char *filename; /* NULL or empty: unknown */
	size_t name_len;
	size_t filename_len;
	uint32_t line; /* 0: unknown */
	uint32_t start_line; /* of the function; 0: unknown */
};

struct frame_writer {
	struct strbuf *out; /* borrowed */
	size_t head; /* of the present frame, in `out` */
	uint32_t nr_lines;
};

/* Begins the next frame. Failures are kept in `out`. */
void frame_writer_begin(struct frame_writer *writer);

/* Adds a line to the frame. A text that is too long is cut between two characters and ends with
 * "…"; bytes that are no UTF-8, NULs and control characters become U+FFFD. Lines beyond
 * RUNTIME_MAX_LINES are left out. */
void frame_writer_add(struct frame_writer *writer, const struct runtime_line *line);

/* Removes the lines of the frame again. */
void frame_writer_drop(struct frame_writer *writer);

/* Reads frames that a worker wrote, which is hostile input. */
struct frame_reader {
	const char *bytes; /* borrowed */
	size_t len;
	size_t position;
};

/* Reads the number of lines of the next frame. Errors: -EBADMSG. */
int frame_reader_next(struct frame_reader *reader, uint32_t *ret_nr_lines) must_check;

/* Reads a line; its texts point into the bytes, end with no NUL, and were checked. Errors:
 * -EBADMSG. */
int frame_reader_line(struct frame_reader *reader, struct runtime_line *ret_line) must_check;

#endif

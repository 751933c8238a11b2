/* SPDX-License-Identifier: Apache-2.0 */
/* A file that a user names to be written, in a directory that may be anybody's.
 *
 * Regular files are replaced whole. An existing FIFO or character device is written in place, if
 * it and the symbolic links to it belong to root or to us (the effective user), without waiting
 * for a reader: what somebody else has put there must not catch or hold up what we write.
 * /dev/stdout and its like are ours, whatever they lead to. */
#ifndef BASE_OUTPUT_FILE_H
#define BASE_OUTPUT_FILE_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stddef.h>

/* How long a reader may take nothing. */
#define OUTPUT_FILE_IDLE_MS 5000

/* Whether the file could be written now. Opens nothing: the reader of a FIFO would see its end.
 * Errors: as output_file_write(), as far as they can be known. */
int output_file_check(const char *path) must_check;

/* Errors: -EPERM the file, or a link to it, is another user's, or it is no file to be written;
 * -EISDIR; -ELOOP; -ENXIO a FIFO without a reader; -ETIMEDOUT the reader took nothing for
 * OUTPUT_FILE_IDLE_MS; -EINTR a signal came while it was waited for; what file_write_atomic(),
 * open() and write() say. */
int output_file_write(const char *path, const void *data, size_t len) must_check;

/* Appends why that was, and what to do: a clause to follow "cannot write PATH: ". */
void output_file_explain(const char *path, int error, struct strbuf *message);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a file that a user names, in a directory that may belong to anybody.
 *
 * Regular files are replaced atomically. An existing FIFO or character device is written in place
 * if it and the symbolic links to it belong to root or to us (the effective user), without waiting
 * for a reader: a file that another user placed there must not intercept or delay our output.
 * /dev/stdout and similar names count as ours, whatever they refer to. */
#ifndef BASE_OUTPUT_FILE_H
#define BASE_OUTPUT_FILE_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stddef.h>

/* Longest time in which a reader reads nothing. */
#define OUTPUT_FILE_IDLE_MS 5000

/* Checks whether the file could be written now, without opening it, as the reader of a FIFO would
 * see the end. Errors: those of output_file_write() that are known in advance. */
int output_file_check(const char *path) must_check;

/* Writes the file. Errors: -EPERM the file, or a link to it, belongs to another user, or its type
 * is not supported; -EISDIR; -ELOOP; -ENXIO a FIFO without a reader; -ETIMEDOUT the reader read
 * nothing for OUTPUT_FILE_IDLE_MS; -EINTR a signal came while waiting; what file_write_atomic(),
 * open() and write() say. */
int output_file_write(const char *path, const void *data, size_t len) must_check;

/* Appends the reason for an error and a remedy: a clause that follows "cannot write PATH: ". */
void output_file_explain(const char *path, int error, struct strbuf *message);

#endif

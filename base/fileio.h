/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files, with limits. Paths are relative to a directory fd (AT_FDCWD for the current
 * directory), so that tests read from a fixture directory instead of /proc. */
#ifndef BASE_FILEIO_H
#define BASE_FILEIO_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Appends the content of a file to `buf`, whose own limit bounds the read. Works for files of
 * /proc, whose size is not known beforehand. Errors: -ENOSPC when the file is longer than the
 * buffer may be, else what open() and read() say. */
int file_read_at(int dir_fd, const char *path, struct strbuf *buf) must_check;

/* Writes a regular file atomically: under a temporary name in the same directory, then renamed. A
 * symbolic link of that name is replaced, not followed. On failure the temporary file is removed
 * and an older file of that name is unchanged. For files that a user names, which may be FIFOs or
 * devices, see base/output_file.h. Errors: -EISDIR; -EEXIST there is something else of that name;
 * what open(), write(), fdatasync() and rename() say. */
int file_write_atomic(const char *path, const void *data, size_t len) must_check;

#define FILE_MAX_PARTS 2

/* New content of a file. */
struct file_content {
	const char *name;
	const char *temp_name; /* in the same directory; nobody else uses it */
	unsigned int mode;
	bool is_synced; /* the content is on disk before the file has its name */
	struct {
		const void *data;
		size_t len;
	} parts[FILE_MAX_PARTS]; /* one behind the other */
};

/* Writes a file in a directory atomically: under the temporary name, then renamed. On failure the
 * temporary file is removed and an older file of that name is unchanged. Errors: -EEXIST there is a
 * file of the temporary name; what openat(), write(), fdatasync(), close() and renameat() say. */
int file_replace_at(int dir_fd, const struct file_content *content) must_check;

/* As read(2), but goes on after a signal, and returns a negative errno. */
ssize_t fd_read(int fd, void *data, size_t len) must_check;

/* Writes all of `data` to a descriptor, restarting after short writes. Errors: what write()
 * says. */
int fd_write_all(int fd, const void *data, size_t len) must_check;

/* Writes like fd_write_all(), for a reader that may never read: gives up if nothing was written for
 * `idle_ms` (-1: never), and at the first signal whose handler has no SA_RESTART. The descriptor
 * may be non-blocking. Errors: -ETIMEDOUT, -EINTR, what poll() and write() say. */
int fd_write_within(int fd, const void *data, size_t len, int idle_ms) must_check;

/* Reads exactly `len` bytes from a descriptor, restarting after short reads. Errors: -EBADMSG
 * when it ends before; what read() says. */
int fd_read_all(int fd, void *data, size_t len) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Separate debug files of the distributions, below a directory like /usr/lib/debug: found by build id
 * (.build-id/xx/yyyy.debug), else by the name and the checksum that the section .gnu_debuglink has. What is
 * below the directory is believed to be the distribution's; no path leads out of it. */
#ifndef UNWIND_DEBUG_FILE_H
#define UNWIND_DEBUG_FILE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* A file by .gnu_debuglink is read as a whole, for its checksum. */
#define DEBUG_FILE_MAX_LINKED_BYTES ((uint64_t)1 << 30)

/* `build_id` is lower-case hex, as elf_reader_build_id() gives it. Errors: -ENOENT, also for "" and for what is
 * no regular file; what resolve_open() says. */
int debug_file_open_by_id(const char *debug_dir, const char *build_id, int *ret_fd) must_check;

/* `link` is the content of .gnu_debuglink: a name, padded to 4 bytes, and a CRC-32 of the whole file.
 * Errors: -EBADMSG the link or the file is damaged, or the file is another one; -ENOENT; -ENOMEM; what resolve_open()
 * and read(2) say. */
int debug_file_open_by_link(const char *debug_dir, const uint8_t *link, size_t len, int *ret_fd)
	must_check;

#endif

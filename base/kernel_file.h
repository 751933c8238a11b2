/* SPDX-License-Identifier: Apache-2.0 */
/* Reads small files of /proc and /sys, and single lines of them. */
#ifndef BASE_KERNEL_FILE_H
#define BASE_KERNEL_FILE_H

#include "base/err.h"
#include "base/strbuf.h"

/* Reads the beginning of a file, as much as `buf` may hold. Errors: -ENAMETOOLONG, what reading
 * says. */
int kernel_file_read_head(const char *dir, const char *name, struct strbuf *buf) must_check;

/* Appends the text after `key` in the first line that starts with it, without the blanks around
 * it. Errors: -ENOENT there is no such line, -ENOSPC, what reading says. */
int kernel_file_read_line(const char *dir, const char *name, const char *key, struct strbuf *value)
	must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the doctor's checks read: small files of /proc and /sys, and lines of them. */
#ifndef CLI_DOCTOR_FILES_H
#define CLI_DOCTOR_FILES_H

#include "base/err.h"
#include "base/strbuf.h"

/* Reads the beginning of a file, as much as `buf` may hold. Errors: -ENAMETOOLONG, what reading says. */
int doctor_read_head(const char *dir, const char *name, struct strbuf *buf) must_check;

/* What stands behind `key` in the first line that starts with it, without the blanks around it. Errors: -ENOENT when there is
 * no such line, -ENOSPC, what reading says. */
int doctor_read_line(const char *dir, const char *name, const char *key, struct strbuf *value)
	must_check;

#endif

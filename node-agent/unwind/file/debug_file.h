/* SPDX-License-Identifier: Apache-2.0 */
/* Separate debug files of the distributions, below a directory like /usr/lib/debug: found by
 * build id (.build-id/xx/yyyy.debug), else by the name and the checksum that the section
 * .gnu_debuglink has. What is below the directory is believed to be the distribution's; no path
 * leads out of it. */
#ifndef UNWIND_FILE_DEBUG_FILE_H
#define UNWIND_FILE_DEBUG_FILE_H

#include "base/err.h"
#include "unwind/file/elf_rows.h"

/* Opens the debug file, by build id if possible, else by name. Returns how it was found, or
 * ELF_ROWS_DEBUG_NONE if there is none. */
enum elf_rows_debug debug_file_find(const char *debug_dir, const struct elf_rows_wanted *wanted,
				    int *ret_fd) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Finds separate debug files on disk, as gdb does:
 *
 *	by build id	DEBUG_DIR/.build-id/xx/yyyy.debug
 *	by debuglink	DIR/NAME, DIR/.debug/NAME, DEBUG_DIR/DIR/NAME	DIR: where the program is
 *
 * first in the root directory of the process that maps the program (its container), then on the
 * host. The caller must verify the checksum of a file that was found by debuglink, because this
 * takes reading the whole file.
 *
 * The builder of a program chooses the names, and the owner of a container or a host user the
 * directories, so
 *
 *	a container	can only lead to regular files of the mount of its root, which must be on a local
 *			file system: symbolic links stay within the root, mounts are not entered
 *	a host user	can only lead to files below the directory of the program, on the same mount
 *	DEBUG_DIR	on the host belongs to root: mounts and links are followed
 *
 * and DIR on the host is only searched for a process that has the host's root. */
#ifndef SYMBOL_OPENER_DEBUG_FILES_H
#define SYMBOL_OPENER_DEBUG_FILES_H

#include "base/err.h"
#include "symbol/opener/file_opener.h"

#include <stdbool.h>
#include <stddef.h>

#define DEBUG_FILES_DEFAULT_DIR "/usr/lib/debug"

struct debug_files {
	int host_root_fd; /* O_PATH of the host's root directory; borrowed */
	const char *debug_dir; /* on both sides; borrowed; absolute */
};

struct debug_file_query {
	/* root of the process, from file_opener_open_root(); -1: search only the host's
	 * DEBUG_DIR */
	int root_fd;
	const char *path; /* of the program below that root; "" if unknown */
	const char *build_id; /* lower-case hex; "" if it has none */
	const char *link_name; /* of .gnu_debuglink; "" if it has none */
	/* The program, which is never the answer; borrowed; NULL if unknown. */
	const struct file_identity *program;
};

struct debug_file {
	int fd; /* for reading; the caller closes it */
	bool is_by_link; /* the caller must verify its checksum */
	bool is_hosts; /* of the host; else it is trusted for its container only */
	struct file_identity identity;
};

/* Opens the nth candidate, from 0; several files may have the name of a debuglink. Errors: -ENOENT
 * no more, -ENOSPC out of descriptors or memory. */
int debug_files_find(const struct debug_files *files, const struct debug_file_query *query,
		     size_t nth, struct debug_file *ret_file) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Finds separate debug files on disk, as gdb does:
 *
 *	by build id	DEBUG_DIR/.build-id/xx/yyyy.debug
 *	by debuglink	DIR/NAME, DIR/.debug/NAME, DEBUG_DIR/DIR/NAME	DIR: where the program is
 *
 * first in the root directory of the process that maps the program (its container), then on the
 * host. What is found by debuglink must have its checksum, which is for the caller to see to: it
 * takes reading the whole file.
 *
 * Names are chosen by whoever made the program, and directories by whoever runs it, so
 *
 *	a container	can lead nowhere but to regular files of the mount that its root is on, and that only if
 *			it is on a local file system: symbolic links stay within the root, mounts are not entered
 *	a host user	can lead nowhere but below the directory of the program, on the mount that this is on
 *	DEBUG_DIR	on the host is root's own: mounts and links are followed
 *
 * and the host's DIR is only looked in for a process whose root is the host's. */
#ifndef SYMBOL_OPENER_DEBUG_FILES_H
#define SYMBOL_OPENER_DEBUG_FILES_H

#include "base/err.h"
#include "symbol/opener/file_opener.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEBUG_FILES_DEFAULT_DIR "/usr/lib/debug"

struct debug_files {
	int host_root_fd; /* O_PATH of the host's root directory; borrowed */
	const char *debug_dir; /* on both sides; borrowed; absolute */
};

struct debug_file_query {
	/* of the process, as file_opener_open_root() gives it; -1: only the host's DEBUG_DIR */
	int root_fd;
	const char *path; /* of the program in that root; "" when unknown */
	const char *build_id; /* lower-case hex; "" when it has none */
	const char *link_name; /* of .gnu_debuglink; "" when it has none */
	const struct file_identity *program; /* never the answer; borrowed; NULL when unknown */
};

struct debug_file {
	int fd; /* for reading; the caller's */
	bool is_by_link; /* its checksum is not known to be right */
	bool is_hosts; /* else the container's: its word counts for that container only */
	struct file_identity identity;
};

/* The nth (from 0) file that may be it; several may have the name of a debuglink. Errors: -ENOENT
 * no more, -ENOSPC out of descriptors or memory. */
int debug_files_find(const struct debug_files *files, const struct debug_file_query *query,
		     size_t nth, struct debug_file *ret_file) must_check;

#endif

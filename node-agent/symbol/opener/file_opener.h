/* SPDX-License-Identifier: Apache-2.0 */
/* Opens files of containers, which may try to delay or misdirect the reader.
 *
 * The path of a mapped file may now belong to a FIFO, to a file on a FUSE server that never
 * answers, or lead through a symbolic link that the container made. So a file is first pinned: an
 * O_PATH descriptor holds it without opening it, and statx(2), which must not ask a server, reports
 * its type. Only if it is a regular file of a local file system (mountinfo.h), that same file is
 * opened for reading.
 *
 * One gap remains: an overlay with a FUSE layer counts as local, because the kernel does not report
 * the layers of an overlay. */
#ifndef SYMBOL_OPENER_FILE_OPENER_H
#define SYMBOL_OPENER_FILE_OPENER_H

#include "base/err.h"
#include "process/process_table.h"

#include <stdbool.h>
#include <stdint.h>

/* Identifies a file: two files with equal fields are the same one. */
struct file_identity {
	uint64_t inode;
	uint64_t size;
	int64_t mtime_ns;
	uint32_t dev_major;
	uint32_t dev_minor;
};

/* A file that is open for reading, with the place of its debug files. The place is kept because the
 * process may exit. */
struct opened_file {
	int fd; /* owned; or -EBADF */
	int root_fd; /* owned, or -EBADF; the root directory of the sampled process */
	char *path; /* owned, or NULL; the path of the file below that root */
};

#define OPENED_FILE_NONE ((struct opened_file){ .fd = -EBADF, .root_fd = -EBADF })

/* Closes and frees all members, and sets the struct to OPENED_FILE_NONE. */
void opened_file_close(struct opened_file *file);

struct pinned_file {
	int fd; /* O_PATH */
	bool is_directory; /* only set by file_opener_look_at() */
	bool has_mount_id; /* since Linux 3.15 */
	uint64_t mount_id;
	struct file_identity identity;
};

/* Pins the regular file behind a mapping, through /proc/PID/map_files or else through
 * /proc/PID/root and its path, if it still has the mapped inode. Errors: -ESRCH process or file
 * gone, -EOPNOTSUPP not a regular local file, -EPERM, -EAGAIN the path is not in the kernel's cache
 * or the mounts take too long to list (mount_list.h), -ENOSPC out of descriptors. */
int file_opener_pin(int proc_fd, uint32_t pid, const struct mapping *mapping,
		    struct pinned_file *ret_pinned) must_check;
void file_opener_unpin(struct pinned_file *pinned);

/* Describes the regular file or directory behind a descriptor, without a request to any server.
 * ret_pinned->fd is `fd` itself, which stays the caller's. Errors: -EOPNOTSUPP another type of
 * file, -ESRCH, -EPERM, -ENOSPC. */
int file_opener_look_at(int fd, struct pinned_file *ret_pinned) must_check;

/* Opens the root directory of a process (O_PATH). Files can be looked up in it even after the
 * process has exited. Errors: -EOPNOTSUPP not on a local file system, -EAGAIN, -ESRCH, -EPERM,
 * -ENOSPC. */
int file_opener_open_root(int proc_fd, uint32_t pid, int *ret_fd) must_check;

/* Opens a pinned file for reading. Errors: -EOPNOTSUPP not known to be on a local file system,
 * -EAGAIN, -EPERM, -ENOSPC out of descriptors or memory, those of open(2). */
int file_opener_open(int proc_fd, uint32_t pid, const struct pinned_file *pinned, int *ret_fd)
	must_check;

#endif

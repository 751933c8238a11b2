/* SPDX-License-Identifier: Apache-2.0 */
/* Opens files that belong to a container without being held up or led astray by it.
 *
 * What a process has mapped can be a FIFO's name by now, a file on a FUSE server that never
 * answers, or a path through a symbolic link of its own making. So a file is first pinned: held by
 * an O_PATH descriptor, which opens nothing, and looked at with statx(2) told not to ask any
 * server. Only then, and only when it is a regular file of a local file system (mountinfo.h), is
 * that very file opened for reading.
 *
 * What remains: an overlay whose lower layer is FUSE counts as local. The kernel does not say what
 * an overlay is made of. */
#ifndef SYMBOL_OPENER_FILE_OPENER_H
#define SYMBOL_OPENER_FILE_OPENER_H

#include "base/err.h"
#include "process/process_table.h"

#include <stdbool.h>
#include <stdint.h>

/* What makes two files the same one. */
struct file_identity {
	uint64_t inode;
	uint64_t size;
	int64_t mtime_ns;
	uint32_t dev_major;
	uint32_t dev_minor;
};

/* A file that is open for reading, and where its debug files may be when its process is gone. */
struct opened_file {
	int fd; /* owned; -EBADF: none, as for the next */
	int root_fd; /* owned; the root directory of the process that was sampled */
	char *path; /* owned; in that root; may be NULL */
};

#define OPENED_FILE_NONE ((struct opened_file){ .fd = -EBADF, .root_fd = -EBADF })

/* Closes and frees all it has; it is OPENED_FILE_NONE then. */
void opened_file_close(struct opened_file *file);

struct pinned_file {
	int fd; /* O_PATH */
	bool is_directory; /* only from file_opener_look_at() */
	bool has_mount_id; /* Linux 3.15 */
	uint64_t mount_id;
	struct file_identity identity;
};

/* Pins the regular file behind a mapping, through /proc/PID/map_files, else /proc/PID/root + path;
 * of both only what is still the same inode. Errors: -ESRCH process or file gone, -EOPNOTSUPP not
 * a regular local file, -EPERM, -EAGAIN its path is not in the kernel's cache, or its mounts are
 * slow to list (mount_list.h), -ENOSPC out of descriptors. */
int file_opener_pin(int proc_fd, uint32_t pid, const struct mapping *mapping,
		    struct pinned_file *ret_pinned) must_check;
void file_opener_unpin(struct pinned_file *pinned);

/* Pins what a descriptor is open on, regular file or directory, which the caller keeps:
 * ret_pinned->fd is the same. Asks no server. Errors: -EOPNOTSUPP anything else, -ESRCH, -EPERM,
 * -ENOSPC. */
int file_opener_look_at(int fd, struct pinned_file *ret_pinned) must_check;

/* The root directory of a process (O_PATH), in which files can be looked up even when the process
 * is gone. Errors: -EOPNOTSUPP not on a local file system, -EAGAIN, -ESRCH, -EPERM, -ENOSPC. */
int file_opener_open_root(int proc_fd, uint32_t pid, int *ret_fd) must_check;

/* Opens a pinned file for reading. Errors: -EOPNOTSUPP not known to be on a local file system,
 * -EAGAIN, -EPERM, -ENOSPC out of descriptors or memory, else what open() says. */
int file_opener_open(int proc_fd, uint32_t pid, const struct pinned_file *pinned, int *ret_fd)
	must_check;

#endif

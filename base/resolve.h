/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a path without leaving a directory, like openat2(2) with RESOLVE_… of <linux/openat2.h>.
 * Before Linux 5.6, the path is walked here, name by name, with the same results, but
 * RESOLVE_CACHED is not supported (-EOPNOTSUPP). */
#ifndef BASE_RESOLVE_H
#define BASE_RESOLVE_H

#include "base/err.h"

#include <linux/openat2.h>
#include <stdint.h>
#include <sys/stat.h>

/* Returns a descriptor, closed by execve(2). `resolve` has RESOLVE_IN_ROOT, RESOLVE_BENEATH or
 * RESOLVE_NO_SYMLINKS with paths without "..". Errors: what openat2(2) says. */
int resolve_open(int dir_fd, const char *path, uint64_t flags, uint64_t resolve) must_check;

/* Converts a positive errno to the codes of base/err.h: -ENOENT there is no such file; -ESRCH the
 * process is gone; -EPERM it is forbidden; -ENOSPC descriptors or memory are used up; -EAGAIN the
 * path changed meanwhile; -EOPNOTSUPP anything else, such as a symbolic link or a mount on the
 * way. */
int resolve_error(int error) must_check;

/* Finds the mount of an open file or directory: its number in /proc/PID/mountinfo. Does not query a
 * file server. Errors: -EOPNOTSUPP before Linux 3.15, errors of reading /proc. */
int resolve_mount_id(int fd, uint64_t *ret_id) must_check;

/* Reads the attributes of an open file from the kernel's cache, without querying a file server.
 * Before Linux 4.11, a server may be queried, and STATX_MNT_ID is not available. Errors: those of
 * statx(2). */
int resolve_look_at(int fd, unsigned int mask, struct statx *ret_st) must_check;

#endif

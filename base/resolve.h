/* SPDX-License-Identifier: Apache-2.0 */
/* Opens what a path leads to, and nothing outside of a directory, as openat2(2) does: with
 * RESOLVE_… of <linux/openat2.h>. Where the kernel is older than 5.6, the path is walked here,
 * name by name, with the same results. What it cannot be there is quick: RESOLVE_CACHED is
 * -EOPNOTSUPP. */
#ifndef BASE_RESOLVE_H
#define BASE_RESOLVE_H

#include "base/err.h"

#include <linux/openat2.h>
#include <stdint.h>
#include <sys/stat.h>

/* Returns a descriptor, closed by execve(2). `resolve` has RESOLVE_IN_ROOT, RESOLVE_BENEATH or
 * RESOLVE_NO_SYMLINKS with paths without "..". Errors: what openat2(2) says. */
int resolve_open(int dir_fd, const char *path, uint64_t flags, uint64_t resolve) must_check;

/* What such an error means, in the codes of base/err.h: -ENOENT there is no such file; -ESRCH
 * the process is gone; -EPERM it is forbidden; -ENOSPC descriptors or memory are used up;
 * -EAGAIN the path changed meanwhile; -EOPNOTSUPP anything else, such as a symbolic link or a
 * mount on the way. `error` is a positive errno. */
int resolve_error(int error) must_check;

/* The mount that an open file or directory is on, by its number in /proc/PID/mountinfo; asks no
 * server. Errors: -EOPNOTSUPP before Linux 3.15, what reading /proc says. */
int resolve_mount_id(int fd, uint64_t *ret_id) must_check;

/* What a descriptor is open on, as the kernel remembers it: no server of a file system is asked.
 * Before Linux 4.11 one may be, and STATX_MNT_ID is not told. Errors: what statx(2) says. */
int resolve_look_at(int fd, unsigned int mask, struct statx *ret_st) must_check;

#endif

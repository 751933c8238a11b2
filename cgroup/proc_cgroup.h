/* SPDX-License-Identifier: Apache-2.0 */
/* Parses /proc/PID/cgroup (cgroups(7)), the paths of a task in each hierarchy: "9:memory:/path" or
 * "0::/path". */
#ifndef CGROUP_PROC_CGROUP_H
#define CGROUP_PROC_CGROUP_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Finds the path in the hierarchy of that number (0: v2), without " (deleted)". It begins with a
 * slash, is not NUL-terminated, and is borrowed from the text. Errors: -ENOENT the task is not in
 * the hierarchy. */
int proc_cgroup_find(const char *text, size_t len, uint32_t hierarchy, const char **ret_path,
		     size_t *ret_len) must_check;

#endif

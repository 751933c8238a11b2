/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/PID/cgroup (cgroups(7)): where a task is in each hierarchy, "9:memory:/path" or
 * "0::/path". */
#ifndef CGROUP_PROC_CGROUP_H
#define CGROUP_PROC_CGROUP_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* The path in the hierarchy of that number (0: v2), without " (deleted)"; it begins with a slash,
 * is not NUL-terminated and borrowed from the text. Errors: -ENOENT the task is nowhere in it. */
int proc_cgroup_find(const char *text, size_t len, uint32_t hierarchy, const char **ret_path,
		     size_t *ret_len) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Walks through a cgroup hierarchy in two ways that find the same: libcgroup's, for hierarchies
 * that libcgroup knows, and readdir(3) for the others. */
#ifndef CGROUP_CGROUP_WALK_H
#define CGROUP_CGROUP_WALK_H

#include "base/err.h"

#include <stdint.h>

#define CGROUP_WALK_DEPTH_MAX 64

/* Called for each cgroup, parents first: its path below the root ("/" for the root), its id, and
 * the walk's `data`. Anything but 0 ends the walk, which returns it. */
typedef int (*cgroup_visit)(const char *path, uint64_t id, void *data);

/* Walks the hierarchy whose root directory is open as `root_fd`. Directories deeper than
 * CGROUP_WALK_DEPTH_MAX are omitted. Errors: -ENOMEM, and errors of reading the root. */
int cgroup_walk_directories(int root_fd, cgroup_visit visit, void *data) must_check;

/* As above, by libcgroup, which must have the hierarchy in its table of mounts under that
 * controller's name; `root_fd` is the root of that mount. Not thread-safe. Errors: also -EIO when
 * libcgroup fails. */
int cgroup_walk_controller(const char *controller, int root_fd, cgroup_visit visit, void *data)
	must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Converts paths of /proc/PID/cgroup to paths below the mounted part of the hierarchy. The kernel
 * gives them relative to the root of the reader's cgroup namespace (cgroup_namespaces(7)), which in
 * a pod is mostly the pod's own cgroup: "/../../pod1/ctr" is somebody else. The mount may also show
 * only a part of the namespace, as in a container without a namespace of its own.
 *
 * The position of the namespace in the mount follows from our own process: from its path in /proc,
 * and from the cgroup.procs file that contains it. */
#ifndef CGROUP_CGROUP_NAMESPACE_H
#define CGROUP_CGROUP_NAMESPACE_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cgroup_fs;

/* At most one of the two is not "". */
struct cgroup_namespace {
	bool is_known; /* else no path is resolved */
	char *root; /* owned; path of the namespace's root below the mount */
	char *above; /* owned; path of the mount below the namespace's root */
};

/* Finds the namespace by the path of this process in `proc_fd` (a directory like /proc), in the
 * hierarchy of that number, and by its position in `fs`. Walks the hierarchy unless both are equal:
 * not thread-safe, like cgroup_fs_walk(). Errors: -ENOENT the process is not below the mount, or is
 * outside its namespace; -ENOMEM. */
int cgroup_namespace_find(const struct cgroup_fs *fs, int proc_fd, uint32_t hierarchy,
			  struct cgroup_namespace *ret_namespace) must_check;
void cgroup_namespace_done(struct cgroup_namespace *namespace);

/* Does the same for a process whose path in /proc is `seen` and whose path below the mount is
 * `path`; both begin with a slash. */
int cgroup_namespace_init(struct cgroup_namespace *ret_namespace, const char *seen,
			  const char *path) must_check;

/* Appends the path below the mount, which begins with a slash. Errors: -ENOENT the path is outside
 * of the mount or invalid: ".." is only allowed at the beginning. */
int cgroup_namespace_resolve(const struct cgroup_namespace *namespace, const char *path, size_t len,
			     struct strbuf *resolved) must_check;

#endif

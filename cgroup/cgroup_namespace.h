/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the paths of /proc/PID/cgroup into paths below the mounted part of the hierarchy. The
 * kernel gives them relative to the root of the reader's cgroup namespace (cgroup_namespaces(7)),
 * which in a pod is mostly the pod's own cgroup: "/../../pod1/ctr" is somebody else. The mount may
 * also show only a part of the namespace, as in a container without a namespace of its own.
 *
 * Our own process tells where the namespace lies in the mount: its path in /proc, and the
 * cgroup.procs file that contains it. */
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
	char *root; /* owned; where the namespace's root is below what is mounted */
	char *above; /* owned; where what is mounted is below the namespace's root */
};

/* By the path of this process in `proc_fd` (a directory like /proc) for a hierarchy of that number,
 * and by where it is in `fs`. Walks the hierarchy unless that is the same: not thread-safe, like
 * cgroup_fs_walk(). Errors: -ENOENT when it is nowhere in what is mounted, or outside its
 * namespace; -ENOMEM. */
int cgroup_namespace_find(const struct cgroup_fs *fs, int proc_fd, uint32_t hierarchy,
			  struct cgroup_namespace *ret_namespace) must_check;
void cgroup_namespace_done(struct cgroup_namespace *namespace);

/* As above, of a process that /proc tells at `seen`, and that is at `path` below what is mounted;
 * both begin with a slash. */
int cgroup_namespace_init(struct cgroup_namespace *ret_namespace, const char *seen,
			  const char *path) must_check;

/* Appends the path below what is mounted, which begins with a slash. -ENOENT for one that lies
 * outside or is no path of a cgroup: ".." stands at the beginning only. */
int cgroup_namespace_resolve(const struct cgroup_namespace *namespace, const char *path, size_t len,
			     struct strbuf *resolved) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Finds mounts of cgroup hierarchies. Not thread-safe: libcgroup keeps its table of mounts in
 * static memory, and each search here fills it anew. */
#ifndef CGROUP_CGROUP_MOUNTS_H
#define CGROUP_CGROUP_MOUNTS_H

#include "base/err.h"

#include <stdbool.h>

/* Hierarchies that may carry the ids. */
struct cgroup_mounts {
	char *v2; /* owned; NULL: none */
	char *v1; /* owned; NULL: none */
	const char *controller; /* of v1: "memory", else "cpu" */
};

/* Find the mounts of this host, or those in a directory like /sys/fs/cgroup of a v1 host. Missing
 * mounts are NULL. */
void cgroup_mounts_find(struct cgroup_mounts *ret_mounts);
void cgroup_mounts_find_below(const char *root, struct cgroup_mounts *ret_mounts);
void cgroup_mounts_done(struct cgroup_mounts *mounts);

bool cgroup_mounts_is_v1(const char *path);
bool cgroup_mounts_is_v2(const char *path);

/* Returns "memory" or "cpu" if the path is a mount of that v1 hierarchy; else NULL. */
const char *cgroup_mounts_v1_controller(const char *path);

/* Finds the controller by which libcgroup knows the hierarchy mounted at exactly this path. The
 * name is the caller's to free. Errors: -ENOENT when it knows none, -ENOMEM. */
int cgroup_mounts_find_controller(const char *path, char **ret_controller) must_check;

#endif

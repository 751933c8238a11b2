/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the cgroups of the processes that use GPUs, and so their pods. Belongs to one thread. */
#ifndef GPU_GPU_OWNERS_H
#define GPU_GPU_OWNERS_H

#include "base/err.h"
#include "cgroup/cgroup_fs.h"
#include "cgroup/cgroup_namespace.h"
#include "gpu/gpu_reading.h"

#include <stddef.h>
#include <stdint.h>

#define GPU_OWNERS_MAX_USES 256 /* cgroups that use GPUs in a second */

struct gpu_owners {
	int proc_fd; /* owned */
	struct cgroup_fs *fs; /* owned */
	struct cgroup_namespace namespace;
};

/* What the processes of a cgroup use of all GPUs. */
struct gpu_use {
	uint64_t cgroup_id;
	uint64_t utilization; /* sum of percent: more than 100 on several devices */
	uint64_t memory; /* bytes */
};

/* `proc_fd`, a directory like /proc, may be closed afterwards; `cgroup_root` is that of
 * cgroup_fs_open(), which is not thread-safe. gpu_owners_done() is needed after a failure, too.
 * Errors: those of dup(2), cgroup_fs_open() and cgroup_namespace_find(). */
int gpu_owners_init(struct gpu_owners *owners, int proc_fd, const char *cgroup_root) must_check;
void gpu_owners_done(struct gpu_owners *owners);

/* Sums up a reading's processes by cgroup. Returns the number of cgroups. Processes whose cgroup
 * cannot be found, such as those that have ended, and cgroups beyond the limit are added to
 * *nr_unknown. */
size_t gpu_owners_sum(const struct gpu_owners *owners, const struct gpu_reading *reading,
		      struct gpu_use uses[static GPU_OWNERS_MAX_USES], uint64_t *nr_unknown);

#endif

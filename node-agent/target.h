/* SPDX-License-Identifier: Apache-2.0 */
/* What the user asked to profile, in the kernel's terms: --pod, --container and --cgroup become cgroup ids,
 * the rest is passed on. */
#ifndef TARGET_H
#define TARGET_H

#include "base/err.h"
#include "base/strbuf.h"
#include "capture/capture.h"
#include "config/options.h"
#include "k8s/cgroup_fs.h"
#include "k8s/pod_index.h"

#include <stddef.h>
#include <stdint.h>

struct target {
	struct cpu_set_bits cpus;
	uint64_t *cgroup_ids; /* owned */
	size_t nr_cgroup_ids, cap_cgroup_ids;
};

void target_done(struct target *target);

/* Resolves names to what exists now. On failure `reterr_msg` says which name, and why.
 * Errors: -ENOENT no such pod, container, cgroup or process; -ENOTUNIQ several; -EINVAL. */
int target_resolve(const struct options *options, const struct cgroup_fs *cgroup_fs,
		   struct pod_index *pods, struct target *ret_target, struct strbuf *reterr_msg)
	must_check;

/* Fills in the target fields of capture options; they borrow from both. */
void target_apply(const struct target *target, const struct options *options,
		  struct capture_opts *capture);

#endif

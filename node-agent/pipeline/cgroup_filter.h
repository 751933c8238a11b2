/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the kernel's verdicts on cgroups (bpf/shared/cgroups.h) in step with the user's
 * selection, so that BPF drops samples of excluded cgroups before it reads anything of them.
 * Belongs to the reader thread.
 *
 * Each pod and each container has a verdict. If there are rules, a cgroup is undecided until the
 * kubelet lists it. So is the directory above all pods, for pods that the agent has not seen yet.
 * Without rules everything is sampled except pods that opted out. */
#ifndef PIPELINE_CGROUP_FILTER_H
#define PIPELINE_CGROUP_FILTER_H

#include "capture/sample_source.h"
#include "k8s/pod_index.h"
#include "k8s/selection.h"
#include "pipeline/identity.h"

#include <stdint.h>

struct cgroup_filter_stats {
	uint64_t nr_wanted; /* pods and containers with this verdict; the next two likewise */
	uint64_t nr_excluded;
	uint64_t nr_undecided;
	/* Verdicts over MAX_CGROUP_VERDICTS; until they are tried again, the cgroup above
	 * decides */
	uint64_t nr_refused;
};

struct cgroup_filter {
	struct sample_source *source; /* borrowed, as all others */
	struct identity *identity;
	struct pod_index *pods;
	const struct selection *selection;
	uint64_t pods_generation; /* this and the next: at the last update of the verdicts */
	uint64_t cgroups_generation;
	/* Selection or pods have changed: each cgroup is judged again, not only new ones */
	bool is_outdated;
	/* birth of the youngest container that is undecided; 0: there is none */
	uint64_t undecided_ns;
	struct cgroup_filter_stats stats;
};

/* `selection` is borrowed until the next one or the end. */
void cgroup_filter_init(struct cgroup_filter *filter, struct sample_source *source,
			struct identity *identity, struct pod_index *pods,
			const struct selection *selection);
void cgroup_filter_select(struct cgroup_filter *filter, const struct selection *selection);

/* Brings the verdicts up to date with pods, cgroups and selection; quick when nothing is new. */
void cgroup_filter_update(struct cgroup_filter *filter);

/* Returns whether a container that was born lately is undecided. It has no samples, which would
 * lead to a request for its name. */
bool cgroup_filter_is_waiting(const struct cgroup_filter *filter, uint64_t now_ns);

#endif

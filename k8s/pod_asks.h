/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers what the kubelet was asked for and did not know, so that it is not asked for it every
 * second. The kubelet lists a pod before the pod's first cgroup exists, so a pod that is missing
 * from one list will hardly be in the next: it is asked for after 1, 4, 16, … s, and in the end
 * every ten minutes. The ID of a listed pod's container comes a second or two after its cgroup, and
 * later from a busy kubelet: it is asked for after 0.2, 0.4, 0.8 and 1.6 s, then every second, and
 * from 5 s on each time at twice its age.
 *
 * Not thread-safe. A struct of zeros is empty. */
#ifndef K8S_POD_ASKS_H
#define K8S_POD_ASKS_H

#include "cgroup/cgroup_path.h"

#include <stdbool.h>
#include <stdint.h>

#define POD_ASKS_SETS 256
#define POD_ASKS_WAYS 4

struct pod_ask {
	uint64_t key; /* of the pod or the container; 0: nothing is remembered here */
	uint64_t first_ns; /* CLOCK_MONOTONIC */
	uint64_t next_ns; /* not before then */
};

/* Where there is no room the one goes that may be asked for again first. */
struct pod_asks {
	struct pod_ask of[POD_ASKS_SETS][POD_ASKS_WAYS];
};

/* Whether the kubelet is to be asked now for an owner that the index does not fully know, which
 * counts as asked then. Of a pod that is not known (`has_pod` false) the pod is remembered, with
 * all its containers; of one that is, the container. */
bool pod_asks_is_due(struct pod_asks *asks, const struct cgroup_owner *owner, bool has_pod,
		     uint64_t now_ns);

#endif

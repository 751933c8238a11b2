/* SPDX-License-Identifier: Apache-2.0 */
/* Limits requests to the kubelet for pods and containers that it did not know. The kubelet lists a
 * pod before the pod's first cgroup exists, so a pod that is missing from one list will hardly be
 * in the next: the agent asks again after 1, 4, 16, … s, and finally every ten minutes. The ID of a
 * listed pod's container comes a second or two after its cgroup, and later from a busy kubelet: the
 * agent asks after 0.2, 0.4, 0.8 and 1.6 s, then every second, and from 5 s on each time at twice
 * the age.
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
	uint64_t key; /* of the pod or the container; 0: unused */
	uint64_t first_ns; /* CLOCK_MONOTONIC */
	uint64_t next_ns; /* earliest next request */
};

/* A full set replaces the entry with the earliest next request. */
struct pod_asks {
	struct pod_ask of[POD_ASKS_SETS][POD_ASKS_WAYS];
};

/* Returns whether to ask the kubelet now for an owner that the index does not fully know, and
 * records the request. If the pod is unknown (`has_pod` false), the entry is for the pod with all
 * its containers, otherwise for the container. */
bool pod_asks_is_due(struct pod_asks *asks, const struct cgroup_owner *owner, bool has_pod,
		     uint64_t now_ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Pods and containers of this node, by UID and container ID, with tombstones: a deleted pod is
 * found for another TOMBSTONE_NS (pod_table.h), so that its last samples keep their names.
 * Thread-safe.
 *
 * A pod's sandbox ("pause") has a cgroup like a container's, but /pods does not contain its ID. It
 * is recognised by exclusion: all containers of the pod have IDs, and a list that is
 * SANDBOX_AFTER_NS younger than the cgroup still does not contain this ID. Before that, the ID may
 * belong to a container that has just started, which the kubelet shows up to 1.4 s late, or later
 * under load; until then the match is not final. A caller that knows that a container is not the
 * oldest of its pod says so. */
#ifndef K8S_POD_INDEX_H
#define K8S_POD_INDEX_H

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "cgroup/cgroup_path.h"
#include "k8s/pod_list.h"

#include <stdbool.h>
#include <stdint.h>

#define SANDBOX_AFTER_NS (10 * NSEC_PER_SEC) /* a busy kubelet lists containers late */
#define SANDBOX_NAME "POD" /* Kubernetes' own name for the sandbox */

/* The known owner of a cgroup. Borrowed from the index during the call. */
struct pod_match {
	const struct pod *pod; /* NULL: unknown; its own list of containers is empty */
	const struct pod_container *container; /* NULL: unknown, or none */
	bool is_sandbox;
	bool is_final; /* a refresh cannot add to it */
	uint64_t seen_ns; /* when the pod was last listed; CLOCK_MONOTONIC */
};

struct pod_index;

/* At most `max_pods` pods, tombstones included: the oldest tombstones go first, then new pods are
 * refused. Errors: -ENOMEM. */
int pod_index_new(size_t max_pods, struct pod_index **ret_index) must_check;
void pod_index_free(struct pod_index *index);
DEFINE_FREEP(struct pod_index, pod_index_free)

/* Replaces the node's state by the list of `now_ns` (CLOCK_MONOTONIC, time of the request), and
 * consumes the list, also on failure. Pods and containers that are not in the list become
 * tombstones; with an empty list, all of them do, so the caller must decide whether to trust it.
 * Errors: -ENOSPC some pods or containers did not fit (the others were added); -ENOMEM, with the
 * index unchanged. */
int pod_index_update(struct pod_index *index, struct pod_list *list, uint64_t now_ns) must_check;

/* Adds unknown pods and containers, for names from other sources while the kubelet does not answer.
 * Removes nothing but the oldest tombstones, if there is no room. The kubelet's next list replaces
 * them or turns them into tombstones. Consumes the list. Errors: as above. */
int pod_index_complete(struct pod_index *index, struct pod_list *list, uint64_t now_ns) must_check;

/* Calls `use` with the match of an owner, under the index's lock: it must be quick and not call the
 * index. `seen_ns` is when the caller first saw the cgroup (CLOCK_MONOTONIC); UINT64_MAX: it is not
 * a sandbox, as the pod has an older container. A container is looked up by its ID, regardless of
 * the pod in its path; if it is unknown, its pod is looked up by UID. Live pods take precedence
 * over tombstones. A match without a pod is final, and a cgroup that a user of the machine created
 * never has a pod. */
void pod_index_find(struct pod_index *index, const struct cgroup_owner *owner, uint64_t seen_ns,
		    void (*use)(const struct pod_match *match, void *data), void *data);

/* Returns a number that grows when results of pod_index_find() change, except for seen_ns. A list
 * equal to the last one changes nothing. */
uint64_t pod_index_generation(struct pod_index *index);

struct pod_index_stats {
	size_t nr_live; /* pods */
	size_t nr_pods; /* tombstones included */
	size_t nr_containers; /* tombstones included */
	size_t nr_bytes; /* memory that they use */
};
struct pod_index_stats pod_index_get_stats(struct pod_index *index);

#endif

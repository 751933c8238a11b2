/* SPDX-License-Identifier: Apache-2.0 */
/* Pods and containers of this node, by UID and container ID, with tombstones: a deleted pod is
 * found for another TOMBSTONE_NS (pod_table.h), so that its last samples keep their names.
 * Thread-safe.
 *
 * A pod's sandbox ("pause") has a cgroup like a container's, but /pods does not contain its ID. It
 * is recognised by exclusion: every container of the pod has its ID, and in a list that is
 * SANDBOX_AFTER_NS younger than the cgroup this ID is still none of them. Before that it may be the
 * ID of a container that has just started, which the kubelet shows up to 1.4 s late; until then the
 * match says that more may come. A kubelet under load is later than that. A caller that knows that
 * a container is not the oldest of its pod says so. */
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
#define SANDBOX_NAME "POD" /* what Kubernetes itself calls the sandbox */

/* The owner of a cgroup, as far as it is known. Borrowed from the index during the call. */
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

/* Takes over the list as the node's state at `now_ns` (CLOCK_MONOTONIC, when it was asked for);
 * consumed also on failure. Pods and containers that are not in it become tombstones, all of them
 * when it is empty: whether an empty list is to be believed is the caller's question. Errors:
 * -ENOSPC when pods or containers were refused (the others are in); -ENOMEM, and the index is as it
 * was. */
int pod_index_update(struct pod_index *index, struct pod_list *list, uint64_t now_ns) must_check;

/* Adds pods that the index does not know and containers whose ID it does not know, and takes
 * nothing away but the oldest tombstones for want of room: for names that come from elsewhere while
 * the kubelet does not answer. A list of the kubelet's replaces them, or makes tombstones of them.
 * Consumes the list. Errors: as above. */
int pod_index_complete(struct pod_index *index, struct pod_list *list, uint64_t now_ns) must_check;

/* Calls `use` with what is known of an owner, under the index's lock: it must be quick and not call
 * the index. `seen_ns` is when the caller first saw the cgroup (CLOCK_MONOTONIC); UINT64_MAX: it is
 * no sandbox, as the pod has an older container. A container is looked up by its ID, whatever pod
 * the path says; when it is not known its pod is, by UID. Live pods go before tombstones. What is
 * no pod's is final, and what a user of the machine made is no pod's. */
void pod_index_find(struct pod_index *index, const struct cgroup_owner *owner, uint64_t seen_ns,
		    void (*use)(const struct pod_match *match, void *data), void *data);

/* Grows with each change of what pod_index_find() says, but for seen_ns: an answer holds until
 * then. A list that is like the last one changes nothing. */
uint64_t pod_index_generation(struct pod_index *index);

struct pod_index_stats {
	size_t nr_live; /* pods */
	size_t nr_pods; /* tombstones included */
	size_t nr_containers; /* tombstones included */
	size_t nr_bytes; /* the memory they take */
};
struct pod_index_stats pod_index_get_stats(struct pod_index *index);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Pods and containers of this node, by UID and container ID, with tombstones: what was deleted is
 * still found for TOMBSTONE_NS, so that the last samples of a finished pod keep their names.
 * Thread-safe.
 *
 * A pod's sandbox ("pause") has a cgroup like a container's, but its ID stands nowhere in /pods. It
 * is told by exclusion: every container of the pod has its ID, and this ID is still none of them in
 * a list that is SANDBOX_AFTER_NS younger than the cgroup. Earlier it may be that of a container
 * just started, which the kubelet shows up to 1.4 s late: until then pod_index_find() says that
 * more may come. */
#ifndef K8S_POD_INDEX_H
#define K8S_POD_INDEX_H

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "k8s/cgroup_path.h"
#include "k8s/pod_list.h"

#include <stdbool.h>
#include <stdint.h>

#define TOMBSTONE_NS (UINT64_C(15) * 60 * NSEC_PER_SEC)
#define SANDBOX_AFTER_NS (5 * NSEC_PER_SEC)
#define SANDBOX_NAME "POD" /* what Kubernetes itself calls the sandbox */

/* Who a cgroup belongs to, as far as it is known; unknown parts are "". */
struct pod_identity {
	char namespace[POD_NAME_MAX + 1];
	char pod[POD_NAME_MAX + 1];
	char pod_uid[POD_NAME_MAX +
		     1]; /* of POD_UID_MAX at most, but for a manifest that sets another */
	char container[POD_NAME_MAX + 1]; /* SANDBOX_NAME for the sandbox */
	char container_id[CONTAINER_ID_LEN + 1];
	char image[POD_NAME_MAX + 1];
	char node[POD_NAME_MAX + 1];
	char workload_kind[POD_NAME_MAX + 1];
	char workload_name[POD_NAME_MAX + 1];
	char service_name[POD_NAME_MAX + 1]; /* always set for a known pod */
	char service_namespace[POD_NAME_MAX + 1];
};

struct pod_index;

/* At most `max_pods` pods, tombstones included: the oldest tombstones go first, then new pods are
 * refused. Errors: -ENOMEM. */
int pod_index_new(size_t max_pods, struct pod_index **ret_index) must_check;
void pod_index_free(struct pod_index *index);
DEFINE_FREEP(struct pod_index, pod_index_free)

/* Takes over the list as the node's state at `now_ns` (CLOCK_MONOTONIC, when it was asked for);
 * consumed also on failure. Pods and containers that are not in it become tombstones, all of them
 * when it is empty, as the kubelet's first answer after a restart is.
 * Errors: -ENOSPC when pods or containers were refused (the others are in); -ENOMEM, and the index
 * is as it was. */
int pod_index_update(struct pod_index *index, struct pod_list *list, uint64_t now_ns) must_check;

/* Fills in what is known of an owner; UID and container ID from the path also when nothing else is.
 * `seen_ns` is when the caller first saw the cgroup (CLOCK_MONOTONIC). A container is looked up by
 * its ID, whatever pod the path says; when it is not known its pod is, by UID. Live pods go before
 * tombstones. Returns true when the answer is final, false when a refresh may still add to it: the
 * caller asks again after one, and settles for what it has after its own grace time. */
bool pod_index_find(struct pod_index *index, const struct cgroup_owner *owner, uint64_t seen_ns,
		    struct pod_identity *ret_identity);

/* The UID of the live pod "name" in `namespace` (NULL: any), for --pod.
 * Errors: -ENOENT, -ENOTUNIQ when several namespaces have it. */
int pod_index_find_uid(struct pod_index *index, const char *namespace, const char *name,
		       char ret_uid[static POD_UID_MAX + 1]) must_check;

size_t pod_index_nr_live(struct pod_index *index);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Pods and containers of this node, by UID and container ID, with tombstones: what was deleted is still
 * found for TOMBSTONE_NS, so that the last samples of a finished pod keep their names. Thread-safe. */
#ifndef K8S_POD_INDEX_H
#define K8S_POD_INDEX_H

#include "base/cleanup.h"
#include "base/err.h"
#include "k8s/cgroup_path.h"
#include "k8s/pod_list.h"

#include <stdbool.h>
#include <stdint.h>

#define POD_NAME_MAX 253 /* DNS subdomain, the longest of the names below */

/* Who a cgroup belongs to, as far as it is known; unknown parts are "". */
struct pod_identity {
	char namespace[POD_NAME_MAX + 1];
	char pod[POD_NAME_MAX + 1];
	char pod_uid[POD_UID_MAX + 1];
	char container[POD_NAME_MAX + 1]; /* "POD" for the sandbox */
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

/* Takes over the list as the node's present state at `now_ns`; consumed also on failure.
 * Errors: -ENOSPC when pods were refused (the others are in), -ENOMEM. */
int pod_index_update(struct pod_index *index, struct pod_list *list, uint64_t now_ns) must_check;

/* Fills in what is known of an owner. Returns true when the answer is final (pod and container, or
 * sandbox, known), false when a refresh may still add to it. */
bool pod_index_find(struct pod_index *index, const struct cgroup_owner *owner,
		    struct pod_identity *ret_identity);

/* The UID of the live pod "name" in `namespace` (NULL: any), for --pod.
 * Errors: -ENOENT, -ENOTUNIQ when several namespaces have it. */
int pod_index_find_uid(struct pod_index *index, const char *namespace, const char *name,
		       char ret_uid[static POD_UID_MAX + 1]) must_check;

size_t pod_index_nr_live(struct pod_index *index);

#endif

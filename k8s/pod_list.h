/* SPDX-License-Identifier: Apache-2.0 */
/* The kubelet's /pods body (a v1.PodList) as a plain table. Only what identity needs is kept: the
 * body's pod specs hold environment variables, which may be secrets, and are forgotten with the
 * JSON tree. */
#ifndef K8S_POD_LIST_H
#define K8S_POD_LIST_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define POD_NAME_MAX 253 /* DNS subdomain, the longest of the names below */
#define PODS_TREE_MAX_BYTES                                                                        \
	((size_t)256 << 20) /* the tree of a usual body takes 7 times its text */

/* A container may stand in a pod twice: with its current and with its last terminated ID. */
struct pod_container {
	const char *name;
	const char *id; /* 64 hex digits without "containerd://" */
	const char *image; /* "" when unknown */
};

struct pod {
	const char *name;
	const char *namespace;
	const char *uid;
	const char *node; /* "" when unknown */
	const char *workload_kind; /* "Deployment", "StatefulSet", …, "" for a bare pod */
	const char *workload_name;
	const char *service_name; /* by the semconv order; at last the pod's name */
	const char *service_namespace; /* annotation, else namespace */
	struct pod_container *containers;
	size_t nr_containers;
	bool has_all_ids; /* each container of the spec has its ID in the status */
};

/* All strings are valid UTF-8, never NULL, cut to POD_NAME_MAX bytes, and live in the arena. */
struct pod_list {
	struct arena arena;
	struct pod *pods;
	size_t nr_pods;
	size_t nr_skipped; /* items without uid, name or namespace, or not an object */
};

/* Parses a body. `items: null` and `items: []` give an empty list.
 * Errors: -EBADMSG when it is not JSON or not a PodList; -ENOSPC over max_bytes of kept data, or
 * when the JSON tree needs more than PODS_TREE_MAX_BYTES; -ENOMEM. */
int pod_list_parse(const char *body, size_t len, size_t max_bytes, struct pod_list **ret_list)
	must_check;
void pod_list_free(struct pod_list *list);
DEFINE_FREEP(struct pod_list, pod_list_free)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Pods as plain tables: the kept data of a kubelet's list, of its log directories, and of deleted
 * pods. */
#ifndef K8S_POD_LIST_H
#define K8S_POD_LIST_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POD_NAME_MAX 253 /* DNS subdomain, the longest of the names below */
#define POD_KEY_MAX 336 /* "k8s.pod.annotation." and the longest key of an annotation */
#define POD_VALUE_MAX 256 /* of a label or an attribute */
#define POD_LABELS_MAX 64 /* kept of a pod */
#define POD_ATTRIBUTES_MAX 32 /* kept of a pod */
#define POD_CONTAINERS_MAX 1024 /* kept of a pod */

struct pod_attribute {
	const char *key;
	const char *value;
};

/* A container may be in a pod twice: with its current and with its last terminated ID. */
struct pod_container {
	const char *name;
	const char *id; /* 64 hex digits without "containerd://" */
	/* "docker.io/library/nginx", without tag and digest; "" when unknown */
	const char *image_name;
	const char *image_tag; /* "1.27"; "" when there is none */
	uint32_t restart_count; /* of this ID: one less for the last terminated one */
};

enum pod_source {
	POD_FROM_KUBELET,
	POD_FROM_LOGS, /* the names of log directories: no labels, no owner, no images */
};

struct pod {
	enum pod_source source;
	const char *name;
	const char *namespace;
	const char *uid;
	const char *node; /* "" when unknown */
	const char *start_time; /* RFC 3339, as status.startTime has it; "" when unknown */
	const char *workload_kind; /* "Deployment", "StatefulSet", …, "" for a bare pod */
	const char *workload_name;
	/* in the order of the semantic conventions; the last choice is the pod's name */
	const char *service_name;
	const char *service_namespace; /* annotation, else namespace */
	struct pod_attribute *labels; /* all of them, for selectors; key order of the body */
	size_t nr_labels;
	/* Resource attributes in their final form: "k8s.pod.label.KEY" and "k8s.pod.annotation.KEY"
	 * of the allow-lists, and the annotations resource.opentelemetry.io/KEY as KEY where they
	 * may (attribute_keys.h). */
	struct pod_attribute *attributes;
	size_t nr_attributes;
	bool is_opted_out; /* annotation flamelet.dev/profile: "false" */
	struct pod_container *containers;
	size_t nr_containers;
	bool has_all_ids; /* each container of the spec has its ID in the status */
};

/* All strings are valid UTF-8, never NULL, cut to POD_NAME_MAX bytes (keys POD_KEY_MAX, values
 * POD_VALUE_MAX), and live in the arena, as all arrays do. */
struct pod_list {
	struct arena arena;
	struct pod *pods;
	size_t nr_pods;
	/* Items without uid, name or namespace, not an object, or over POD_ITEM_MAX_BYTES. */
	size_t nr_skipped;
	size_t nr_left_out; /* labels, attributes and containers over a pod's limits */
};

/* Keys of labels and annotations that become attributes; a trailing "*" stands for any end.
 * Borrowed, and must outlive the reader. */
struct pod_list_opts {
	size_t max_bytes; /* of the kept data */
	const char *const *label_keys;
	size_t nr_label_keys;
	const char *const *annotation_keys;
	size_t nr_annotation_keys;
};

void pod_list_free(struct pod_list *list);
DEFINE_FREEP(struct pod_list, pod_list_free)

/* Copies a pod with its texts, but without its containers, into an arena. Errors: -ENOMEM, also for
 * a full arena. */
int pod_copy(struct arena *arena, const struct pod *pod, struct pod *ret_copy) must_check;
int pod_container_copy(struct arena *arena, const struct pod_container *container,
		       struct pod_container *ret_copy) must_check;

/* Returns whether all fields except the containers are equal. */
bool pod_is_equal(const struct pod *a, const struct pod *b);
bool pod_container_is_equal(const struct pod_container *a, const struct pod_container *b);

#endif

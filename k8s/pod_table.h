/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a pod index (pod_index.h): pods and containers, live ones and tombstones. A table is
 * built once and not changed but for seen_ns. */
#ifndef K8S_POD_TABLE_H
#define K8S_POD_TABLE_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/htable.h"
#include "k8s/pod_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOMBSTONE_NS (UINT64_C(15) * 60 * NSEC_PER_SEC)

struct pod_row {
	const struct pod *pod; /* its containers are rows of their own */
	uint64_t seen_ns; /* time of the last list that had it */
	uint64_t gone_ns; /* time of the first one without it; 0: live */
};

struct container_row {
	const struct pod_container *container;
	uint32_t pod_row;
	uint64_t gone_ns; /* as above */
};

struct pod_table {
	struct arena arena; /* data of the rows */
	struct pod_row *pods; /* owned; the live ones first */
	size_t nr_pods, cap_pods, max_pods;
	struct container_row *containers; /* owned; the live ones first */
	size_t nr_containers, cap_containers;
	struct htable by_uid; /* pods */
	struct htable by_id; /* containers */
	size_t nr_live_pods, nr_live_containers;
};

void pod_table_done(struct pod_table *table);

/* Find a row; return NULL if there is none. */
const struct pod_row *pod_table_find_pod(const struct pod_table *table, const char *uid);
const struct container_row *pod_table_find_container(const struct pod_table *table, const char *id);

/* Make the table that follows `old`, which stays as it is, into the empty `table`. The list's
 * memory becomes the table's. After a replacement, everything that is not in the list is a
 * tombstone or removed; a completion only adds. Errors: -ENOSPC some pods or containers did not fit
 * (the others were added); -ENOMEM, and `table` must not be used. */
int pod_table_replace(const struct pod_table *old, struct pod_list *list, uint64_t now_ns,
		      struct pod_table *table) must_check;
int pod_table_complete(const struct pod_table *old, struct pod_list *list, uint64_t now_ns,
		       struct pod_table *table) must_check;

/* Returns whether a replacement by the list would change only seen_ns. */
bool pod_table_is_like(const struct pod_table *table, const struct pod_list *list, uint64_t now_ns);

/* Returns whether a completion by the list would change nothing. */
bool pod_table_has_all(const struct pod_table *table, const struct pod_list *list);

/* Returns the memory that the table uses. */
size_t pod_table_bytes(const struct pod_table *table);

#endif

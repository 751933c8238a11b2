/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the JSON of pods one after the other, and keeps the fields of pod_list.h. */
#ifndef K8S_POD_READER_H
#define K8S_POD_READER_H

#include "base/err.h"
#include "k8s/pod_list.h"

#include <stddef.h>

#define POD_ITEM_MAX_BYTES ((size_t)4 << 20) /* JSON of one pod; etcd takes 1.5 MB */

/* Made as { .opts = …, .list = … }. */
struct pod_reader {
	const struct pod_list_opts *opts; /* borrowed */
	/* Borrowed; its arena stores the kept data, and it counts omitted items */
	struct pod_list *list;
	int error; /* of the first copy that failed */
};

/* Reads a pod. Returns 1, or 0 if it has no name, namespace or UID, or is too large. Errors:
 * -EBADMSG as json_parse(); -ENOSPC the arena is full; -ENOMEM. */
int pod_reader_read(struct pod_reader *reader, const char *json, size_t len, struct pod *ret_pod)
	must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the kubelet's /pods body (a v1.PodList) into a pod list. Only data for identification is
 * kept: pod specs contain environment variables, which may be secrets, and are freed with the JSON
 * of their pod.
 *
 * The body of a large node is 50 MB and more, and its JSON tree seven times that. So it is parsed
 * while it is received, in pieces of any size, and only one pod is in memory at a time. */
#ifndef K8S_POD_LIST_READER_H
#define K8S_POD_LIST_READER_H

#include "base/cleanup.h"
#include "base/err.h"
#include "k8s/pod_list.h"

#include <stddef.h>

struct pod_list_reader;

/* Errors: -ENOMEM. */
int pod_list_reader_new(const struct pod_list_opts *opts, struct pod_list_reader **ret_reader)
	must_check;
void pod_list_reader_free(struct pod_list_reader *reader);
DEFINE_FREEP(struct pod_list_reader, pod_list_reader_free)

/* Reads the next piece of a body. Errors: -EBADMSG if it is not a JSON list, -ENOSPC over max_bytes
 * of kept data, -ENOMEM; all further calls return the same error. */
int pod_list_reader_feed(struct pod_list_reader *reader, const void *bytes, size_t len) must_check;

/* Returns the list at the end of the body. `items: null` and `items: []` give an empty list.
 * Afterwards the reader can only be freed. Errors: as above; also -EBADMSG for an incomplete body,
 * or a kind other than PodList or List (kubectl's). */
int pod_list_reader_finish(struct pod_list_reader *reader, struct pod_list **ret_list) must_check;

#endif

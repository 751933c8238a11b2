/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the kubelet's /pods body (a v1.PodList) into a pod list. Only what identity needs is kept:
 * the body's pod specs hold environment variables, which may be secrets, and are forgotten with the
 * JSON of their pod.
 *
 * The body of a large node is 50 MB and more, and its JSON tree seven times that. So it is read as
 * it comes in, in pieces of any size, and only one pod of it is in memory at a time. */
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

/* The next piece of a body. Errors: -EBADMSG when it is no JSON or no list, -ENOSPC over max_bytes
 * of kept data, -ENOMEM; then all that follows fails alike. */
int pod_list_reader_feed(struct pod_list_reader *reader, const void *bytes, size_t len) must_check;

/* The list, when the body is at its end. `items: null` and `items: []` give an empty one. The
 * reader can only be freed then. Errors: also -EBADMSG for a body that is not whole, or whose kind
 * is neither PodList nor List, as kubectl has it. */
int pod_list_reader_finish(struct pod_list_reader *reader, struct pod_list **ret_list) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A pod list as a message between two processes: flat.h, pod by pod. */
#ifndef K8S_POD_BLOCK_H
#define K8S_POD_BLOCK_H

#include "base/err.h"
#include "base/flat.h"
#include "base/strbuf.h"
#include "k8s/pod_list.h"

#include <stddef.h>

void pod_block_append(struct strbuf *out, const struct pod_list *list);

/* Reads a list and checks everything that pod_list.h requires: counts and lengths, valid UTF-8, IDs
 * of 64 hex digits, non-empty names. Uses at most `max_bytes` of memory. Errors: -EBADMSG, -ENOSPC
 * over max_bytes, -ENOMEM. */
int pod_block_read(struct flat_reader *reader, size_t max_bytes, struct pod_list **ret_list)
	must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of the keys of labels and annotations that become attributes. The options may change while
 * a list is read. */
#ifndef K8S_POD_KEYS_H
#define K8S_POD_KEYS_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "k8s/pod_list.h"

#define POD_KEYS_MAX_BYTES ((size_t)1 << 20)

struct pod_keys {
	struct arena arena;
	struct pod_list_opts opts; /* in the arena */
};

/* Copies `opts` and all its keys. Errors: -ENOMEM, also over POD_KEYS_MAX_BYTES. */
int pod_keys_new(const struct pod_list_opts *opts, struct pod_keys **ret_keys) must_check;
void pod_keys_free(struct pod_keys *keys);
DEFINE_FREEP(struct pod_keys, pod_keys_free)

#endif

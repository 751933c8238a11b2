/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and comparisons of what a pod list says of a pod, field by field. */
#ifndef K8S_POD_COPY_H
#define K8S_POD_COPY_H

#include "base/arena.h"
#include "base/err.h"
#include "k8s/pod_list.h"

#include <stdbool.h>

/* Copies a pod and all its texts but its containers into an arena. Errors: -ENOMEM, also for a full arena. */
int pod_copy(struct arena *arena, const struct pod *pod, struct pod *ret_copy) must_check;
int pod_container_copy(struct arena *arena, const struct pod_container *container,
		       struct pod_container *ret_copy) must_check;

/* Whether all fields are alike, but for the containers. */
bool pod_is_equal(const struct pod *a, const struct pod *b);
bool pod_container_is_equal(const struct pod_container *a, const struct pod_container *b);

#endif

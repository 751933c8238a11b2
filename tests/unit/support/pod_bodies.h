/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of /pods of any length, made of recorded pods with UIDs and container IDs of their own. */
#ifndef TESTS_UNIT_POD_BODIES_H
#define TESTS_UNIT_POD_BODIES_H

#include <stddef.h>

/* The path of a body of 1.1 MB, as long as this process is there: a node with 102 pods, of which
 * 100 are of one Deployment and wait for room. Only the containers of the other two pods have
 * run. */
const char *pod_bodies_busy_node(void);

/* Calls `feed` with the pieces of a body of `nr_pods` pods, 10 KB each on
 * average. Returns its length. */
size_t pod_bodies_make(size_t nr_pods, void (*feed)(const char *bytes, size_t len, void *data),
		       void *data);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps a pod index fresh, in a thread of its own ("pods"): every 30 s with jitter, and soon after
 * an unknown cgroup was seen, but never more often than once a second. A kubelet that is absent,
 * slow or wrong leaves the index as it was; it is asked again after 1, 2, 4, … 30 s. */
#ifndef K8S_POD_WATCH_H
#define K8S_POD_WATCH_H

#include "base/cleanup.h"
#include "base/err.h"
#include "k8s/kubelet.h"
#include "k8s/pod_index.h"

#include <stdint.h>

struct pod_watch;

struct pod_watch_stats {
	uint64_t nr_refreshes; /* that succeeded */
	uint64_t nr_failures;
	uint64_t nr_skipped; /* items of pod lists that could not be identified */
	uint64_t nr_overflows; /* refreshes with more pods than the index holds */
	uint64_t last_success_ns; /* CLOCK_MONOTONIC; 0: never */
};

/* Starts the thread; the first request is made at once. Takes over `kubelet`; `index` is borrowed
 * and outlives the watch. Errors: -ENOMEM, -EAGAIN. On failure `kubelet` stays the caller's. */
int pod_watch_start(struct kubelet *kubelet, struct pod_index *index, struct pod_watch **ret_watch)
	must_check;

/* Ends the thread, at the latest when the request under way times out. NULL is fine. */
void pod_watch_stop(struct pod_watch *watch);
DEFINE_FREEP(struct pod_watch, pod_watch_stop)

/* Asks for a refresh: something was seen that the index does not know. Cheap, thread-safe. */
void pod_watch_poke(struct pod_watch *watch);

/* Waits for the end of the first request, successful or not, or until `deadline_ns`
 * (CLOCK_MONOTONIC). */
void pod_watch_wait_first(struct pod_watch *watch, uint64_t deadline_ns);

struct pod_watch_stats pod_watch_get_stats(struct pod_watch *watch);

#endif

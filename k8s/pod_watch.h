/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps a pod index fresh, in a thread of its own ("pods"). It asks the kubelet every 30 s with
 * jitter, and at once when an unknown cgroup was seen: in bursts of POD_WATCH_BURST requests, and
 * once per second in the long run. The requests of a burst are POD_WATCH_GAP_NS apart, because a
 * container's ID is in the list up to 1.4 s later than its cgroup exists. If the kubelet is absent,
 * slow or wrong, the index stays as it was, and the kubelet is asked again after 1, 2, 4, … 30 s.
 *
 * While the kubelet does not answer, and before its first answer, unknown cgroups get their names
 * from what it wrote on disk (k8s/pod_logs.h).
 *
 * A kubelet that has just started reports no pods for a second. While the index has live pods, an
 * empty list is ignored until it was repeated for EMPTY_BELIEVED_NS. */
#ifndef K8S_POD_WATCH_H
#define K8S_POD_WATCH_H

#include "base/clock.h"
#include "base/err.h"
#include "k8s/kubelet.h"
#include "k8s/pod_index.h"

#include <stdbool.h>
#include <stdint.h>

#define POD_WATCH_BURST 5
#define POD_WATCH_GAP_NS (200 * NSEC_PER_MSEC)
#define EMPTY_BELIEVED_NS (30 * NSEC_PER_SEC)
/* Without an answer for this time, names count as stale. */
#define POD_WATCH_STALE_NS (90 * NSEC_PER_SEC)

struct pod_watch;

struct pod_watch_opts {
	struct kubelet *kubelet; /* taken over; NULL: none, only logs */
	struct pod_index *index; /* borrowed, outlives the watch */
	const char *logs_dir; /* copied; "/var/log"; NULL: not looked at */
	/* Keys of labels and annotations that become attributes; see pod_list.h. Copied. */
	const char *const *label_keys;
	size_t nr_label_keys;
	const char *const *annotation_keys;
	size_t nr_annotation_keys;
};

struct pod_watch_stats {
	uint64_t nr_refreshes; /* that succeeded */
	uint64_t nr_failures; /* of any kind; the next four count some of them by kind */
	uint64_t nr_unauthorized; /* 401 */
	uint64_t nr_forbidden; /* 403 */
	uint64_t nr_timeouts;
	uint64_t nr_untrusted; /* certificate */
	uint64_t nr_empty; /* ignored empty lists */
	uint64_t nr_skipped; /* items of pod lists that could not be identified */
	uint64_t nr_overflows; /* refreshes with more pods than the index holds */
	uint64_t nr_log_reads; /* reads of the log directories */
	uint64_t nr_body_bytes; /* of the last answer */
	uint64_t refresh_ns; /* time of the last refresh, request included */
	uint64_t cpu_ns; /* of the thread */
	uint64_t last_success_ns; /* CLOCK_MONOTONIC; 0: never */
	uint64_t nr_insecure; /* requests to a server whose certificate is not verified */
	struct worker_stats worker; /* of the worker process */
};

/* Starts the thread; the first request is made at once. Errors: -ENOMEM, -EAGAIN. On failure
 * `kubelet` stays the caller's. */
int pod_watch_start(const struct pod_watch_opts *opts, struct pod_watch **ret_watch) must_check;

/* Ends the thread, within a second if a request is in progress. NULL is fine. */
void pod_watch_stop(struct pod_watch *watch);

/* Requests a refresh, because the index does not know a pod or container. Cheap, thread-safe. */
void pod_watch_request_refresh(struct pod_watch *watch);

/* Returns whether the kubelet has not answered for POD_WATCH_STALE_NS, or never; true without a
 * kubelet. Thread-safe. */
bool pod_watch_is_stale(struct pod_watch *watch);

/* Sets the keys and refreshes at once. Errors: -ENOMEM, and nothing changes. */
int pod_watch_set_keys(struct pod_watch *watch, const struct pod_watch_opts *keys) must_check;

/* Waits for the end of the first request, successful or not, or until `deadline_ns`
 * (CLOCK_MONOTONIC). Returns whether the first request has ended. */
bool pod_watch_wait_first(struct pod_watch *watch, uint64_t deadline_ns);

struct pod_watch_stats pod_watch_get_stats(struct pod_watch *watch);

#endif

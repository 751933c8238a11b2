/* SPDX-License-Identifier: Apache-2.0 */
/* After each request the thread sleeps until the next one is due:
 *
 *	it succeeded	30 s ± 10 %, as a cluster's agents must not ask in step; 1 s once poked
 *	it failed	1 s, doubled with each further failure up to 30 s; a poke changes nothing
 *
 * Both count from the end of the request, so a slow kubelet is not asked again at once. Any number
 * of pokes before a request are answered by it. */
#include "k8s/pod_watch.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "k8s/pod_list.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define INTERVAL_NS (30 * NSEC_PER_SEC)
#define JITTER_NS (3 * NSEC_PER_SEC)
#define MIN_INTERVAL_NS NSEC_PER_SEC
#define LIST_MAX_BYTES ((size_t)16 << 20) /* 1 KB a pod is usual */

struct pod_watch {
	struct kubelet *kubelet; /* owned; the thread's */
	struct pod_index *index; /* borrowed */
	int last_error; /* the thread's; of the last request */
	uint64_t retry_ns; /* the thread's; pause after the next failure */
	pthread_t thread;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* guarded by lock */
	bool is_stopping;
	bool is_poked;
	bool has_tried;
	struct pod_watch_stats stats;
};

/* What one request brought. */
struct refresh {
	int error; /* -ENOSPC from the index: some pods have no names, the others do */
	const char *reason; /* of the error */
	bool has_list; /* the index was updated */
	size_t nr_skipped;
};

static struct refresh refresh_index(struct pod_watch *watch)
{
	const struct pod_list_opts opts = { .max_bytes = LIST_MAX_BYTES };
	struct pod_list *list = NULL;
	uint64_t asked_ns = clock_mono_ns();

	int r = kubelet_get_pods(watch->kubelet, &opts, &list);
	if (r < 0)
		return (struct refresh){ r, kubelet_error(watch->kubelet), false, 0 };

	size_t nr_skipped = list->nr_skipped;
	r = pod_index_update(watch->index, list, asked_ns);
	return (struct refresh){ r, "the node has more pods than fit, some stay without names",
				 r == 0 || r == -ENOSPC, nr_skipped };
}

/* One line when a failure begins or becomes another one, and one when it ends. */
static void log_change(struct pod_watch *watch, const struct refresh *refresh)
{
	const char *url = kubelet_url(watch->kubelet);

	if (refresh->error == watch->last_error)
		return;
	if (refresh->error < 0)
		log_warn_errno(refresh->error, "no fresh pod names from %s, retrying: %s", url,
			       refresh->reason);
	else
		log_info("pod names from %s are fresh again: %zu pods", url,
			 pod_index_get_stats(watch->index).nr_live);
	watch->last_error = refresh->error;
}

static void count(struct pod_watch_stats *stats, const struct refresh *refresh)
{
	stats->nr_skipped += refresh->nr_skipped;
	if (!refresh->has_list) {
		stats->nr_failures++;
		return;
	}
	stats->nr_refreshes++;
	stats->nr_overflows += refresh->error < 0;
	stats->last_success_ns = clock_mono_ns();
}

/* A time within JITTER_NS of INTERVAL_NS. The hash is seeded: no two agents draw alike. */
static uint64_t draw_interval_ns(uint64_t now_ns)
{
	return INTERVAL_NS - JITTER_NS + hash_u64(now_ns) % (2 * JITTER_NS);
}

/* The pause after a failure; each one in a row doubles it. */
static uint64_t next_retry_ns(struct pod_watch *watch)
{
	uint64_t retry_ns = watch->retry_ns;

	watch->retry_ns = retry_ns * 2 < INTERVAL_NS ? retry_ns * 2 : INTERVAL_NS;
	return retry_ns;
}

/* Sleeps until `due_ns`, or `poked_ns` once poked, or until the end. Called with the lock held. */
static void sleep_until(struct pod_watch *watch, uint64_t poked_ns, uint64_t due_ns)
{
	while (!watch->is_stopping) {
		uint64_t until_ns = watch->is_poked ? poked_ns : due_ns;
		struct timespec until = clock_timespec(until_ns);

		if (clock_mono_ns() >= until_ns)
			break;
		pthread_cond_timedwait(&watch->changed, &watch->lock, &until);
	}
	watch->is_poked = false;
}

static void sleep_after(struct pod_watch *watch, const struct refresh *refresh)
{
	uint64_t now_ns = clock_mono_ns();

	if (refresh->has_list) {
		watch->retry_ns = MIN_INTERVAL_NS;
		sleep_until(watch, now_ns + MIN_INTERVAL_NS, now_ns + draw_interval_ns(now_ns));
	} else {
		uint64_t retry_ns = now_ns + next_retry_ns(watch);

		sleep_until(watch, retry_ns, retry_ns);
	}
}

static void *run_watch(void *data)
{
	struct pod_watch *watch = data;

	pthread_setname_np(pthread_self(), "pods");
	pthread_mutex_lock(&watch->lock);
	while (!watch->is_stopping) {
		pthread_mutex_unlock(&watch->lock);
		struct refresh refresh = refresh_index(watch);
		log_change(watch, &refresh);

		pthread_mutex_lock(&watch->lock);
		count(&watch->stats, &refresh);
		watch->has_tried = true;
		pthread_cond_broadcast(&watch->changed);
		sleep_after(watch, &refresh);
	}
	pthread_mutex_unlock(&watch->lock);
	return NULL;
}

static void init_lock(struct pod_watch *watch)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&watch->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&watch->changed, &attr);
	pthread_condattr_destroy(&attr);
}

static void free_watch(struct pod_watch *watch)
{
	pthread_cond_destroy(&watch->changed);
	pthread_mutex_destroy(&watch->lock);
	free(watch);
}

int pod_watch_start(struct kubelet *kubelet, struct pod_index *index, struct pod_watch **ret_watch)
{
	struct pod_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return -ENOMEM;
	watch->kubelet = kubelet;
	watch->index = index;
	watch->retry_ns = MIN_INTERVAL_NS;
	init_lock(watch);

	int r = -pthread_create(&watch->thread, NULL, run_watch, watch);
	if (r < 0) {
		free_watch(watch);
		return r;
	}
	*ret_watch = watch;
	return 0;
}

void pod_watch_stop(struct pod_watch *watch)
{
	if (!watch)
		return;
	pthread_mutex_lock(&watch->lock);
	watch->is_stopping = true;
	pthread_cond_broadcast(&watch->changed);
	pthread_mutex_unlock(&watch->lock);
	pthread_join(watch->thread, NULL);
	kubelet_free(watch->kubelet);
	free_watch(watch);
}

void pod_watch_poke(struct pod_watch *watch)
{
	pthread_mutex_lock(&watch->lock);
	if (!watch->is_poked) {
		watch->is_poked = true;
		pthread_cond_broadcast(&watch->changed);
	}
	pthread_mutex_unlock(&watch->lock);
}

void pod_watch_wait_first(struct pod_watch *watch, uint64_t deadline_ns)
{
	struct timespec deadline = clock_timespec(deadline_ns);

	pthread_mutex_lock(&watch->lock);
	while (!watch->has_tried && clock_mono_ns() < deadline_ns)
		pthread_cond_timedwait(&watch->changed, &watch->lock, &deadline);
	pthread_mutex_unlock(&watch->lock);
}

struct pod_watch_stats pod_watch_get_stats(struct pod_watch *watch)
{
	pthread_mutex_lock(&watch->lock);
	struct pod_watch_stats stats = watch->stats;
	pthread_mutex_unlock(&watch->lock);
	return stats;
}

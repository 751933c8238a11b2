/* SPDX-License-Identifier: Apache-2.0 */
/* The thread works in rounds, and sleeps between them until the next one is due:
 *
 *	the kubelet answered	after 30 s ± 10 %, as the agents of a cluster must not ask in
 *				step; at once when a refresh is requested, as far as the rate allows
 *	it did not		after 1 s, doubled with each further failure up to 30 s; at the same
 *				rate when a refresh is requested, but without asking the kubelet
 *	other keys were set	at once
 *
 * If the kubelet did not answer last, a round looks at the log directories before it asks: the
 * kubelet may take its time not to answer once more. The pauses count from the end of a round, so a
 * slow kubelet is not asked again at once. One round answers all refreshes that were requested
 * before it.
 *
 * The rate is a token bucket, kept as the time at which it would be full again: each round that was
 * requested moves it by REQUESTED_ROUND_NS, and it may be POD_WATCH_BURST rounds ahead. */
#include "k8s/pod_watch.h"

#include "base/capabilities.h"
#include "base/hash.h"
#include "base/heartbeat.h"
#include "base/locked.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/text.h"
#include "base/thread.h"
#include "k8s/pod_keys.h"
#include "k8s/pod_list.h"
#include "k8s/pod_logs.h"
#include "worker/worker_process.h"

#include <pthread.h>
#include <unistd.h>

#define INTERVAL_NS (30 * NSEC_PER_SEC)
#define JITTER_NS (3 * NSEC_PER_SEC)
#define MIN_RETRY_NS NSEC_PER_SEC
#define REQUESTED_ROUND_NS NSEC_PER_SEC
#define HEARTBEAT_MAX_NS (30 * NSEC_PER_SEC)
#define LIST_MAX_BYTES ((size_t)32 << 20) /* of names and labels; 1 KB a pod is usual */

struct pod_watch {
	struct kubelet *kubelet; /* owned; NULL: none */
	struct pod_index *index; /* borrowed */
	char *logs_dir; /* owned; NULL: not looked at */
	pthread_t thread;

	/* the thread's */
	struct pod_keys *keys; /* owned */
	struct pod_watch_stats stats;
	bool is_answering; /* the last request succeeded */
	int last_error; /* of the last request */
	int last_logs_error; /* of the last look at the log directories */
	uint64_t retry_ns; /* pause after the next failure */
	uint64_t due_ns; /* of the next round when none is requested */
	uint64_t bucket_full_ns; /* when the bucket of requested rounds is full again */
	uint64_t ended_ns; /* end of the last round */
	uint64_t empty_since_ns; /* lists have been empty since then; 0: they are not */

	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* guarded by lock */
	bool is_stopping;
	bool is_refresh_requested;
	bool has_tried;
	struct pod_keys *next_keys; /* owned; for the next round; NULL: as they are */
	struct pod_watch_stats shown; /* as of the last round's end */
};

/* Result of one request. */
struct refresh {
	int error; /* -ENOSPC from the index: some pods have no names */
	const char *reason; /* of the error */
	bool has_list; /* the index was updated */
};

/* Returns whether an empty list is credible. A kubelet that has just started reports no pods. */
static bool is_believed(struct pod_watch *watch, uint64_t asked_ns)
{
	if (pod_index_get_stats(watch->index).nr_live == 0)
		return true;
	if (watch->empty_since_ns == 0)
		watch->empty_since_ns = asked_ns;
	return asked_ns - watch->empty_since_ns >= EMPTY_BELIEVED_NS;
}

/* Consumes the list. */
static struct refresh update_index(struct pod_watch *watch, struct pod_list *list,
				   uint64_t asked_ns)
{
	if (list->nr_pods == 0 && !is_believed(watch, asked_ns)) {
		pod_list_free(list);
		watch->stats.nr_empty++;
		return (struct refresh){
			-EAGAIN,
			"the list is empty, which is normal right after the kubelet's start", false
		};
	}
	watch->empty_since_ns = 0;
	watch->stats.nr_skipped += list->nr_skipped;

	int r = pod_index_update(watch->index, list, asked_ns);
	if (r == -ENOSPC)
		return (struct refresh){ r, "the list is too long; some pods have no names", true };
	return (struct refresh){ r, "not enough memory", r == 0 };
}

static struct refresh refresh_index(struct pod_watch *watch)
{
	struct pod_list *list = NULL;
	uint64_t asked_ns = clock_mono_ns();

	int r = kubelet_get_pods(watch->kubelet, &watch->keys->opts, &list);
	if (r < 0)
		return (struct refresh){ r, kubelet_error(watch->kubelet), false };
	return update_index(watch, list, asked_ns);
}

/* Logs a line when a failure begins or changes, and one when it ends. */
static void log_change(struct pod_watch *watch, const struct refresh *refresh)
{
	const char *url = kubelet_url(watch->kubelet);

	if (refresh->error == watch->last_error)
		return;
	if (refresh->error < 0)
		log_warn("cannot get pod names from %s; retrying: %s", url, refresh->reason);
	else
		log_info("pod names from %s are up to date again: %zu pods", url,
			 pod_index_get_stats(watch->index).nr_live);
	watch->last_error = refresh->error;
}

static void count(struct pod_watch_stats *stats, const struct refresh *refresh,
		  const struct kubelet_stats *answer)
{
	stats->nr_body_bytes = answer->nr_bytes;
	if (refresh->has_list) {
		stats->nr_refreshes++;
		stats->nr_overflows += refresh->error < 0;
		stats->last_success_ns = clock_mono_ns();
		return;
	}
	stats->nr_failures++;
	stats->nr_unauthorized += answer->status == 401;
	stats->nr_forbidden += answer->status == 403;
	stats->nr_timeouts += refresh->error == -ETIMEDOUT;
	stats->nr_untrusted += refresh->error == -EKEYREJECTED;
}

/* A time within JITTER_NS of INTERVAL_NS. The hash is seeded: no two agents draw alike. */
static uint64_t draw_interval_ns(uint64_t now_ns)
{
	return INTERVAL_NS - JITTER_NS + hash_u64(now_ns) % (2 * JITTER_NS);
}

/* Returns the pause after a failure; each further failure doubles it. */
static uint64_t next_retry_ns(struct pod_watch *watch)
{
	uint64_t retry_ns = watch->retry_ns;

	watch->retry_ns = min_u64(2 * retry_ns, INTERVAL_NS);
	return retry_ns;
}

static void ask_kubelet(struct pod_watch *watch)
{
	uint64_t start_ns = clock_mono_ns();

	struct refresh refresh = refresh_index(watch);
	struct kubelet_stats answer = kubelet_get_stats(watch->kubelet);
	uint64_t now_ns = clock_mono_ns();

	log_change(watch, &refresh);
	count(&watch->stats, &refresh, &answer);
	watch->stats.nr_insecure += kubelet_is_insecure(watch->kubelet);
	watch->stats.worker = kubelet_get_worker_stats(watch->kubelet);
	watch->stats.refresh_ns = now_ns - start_ns;
	watch->is_answering = refresh.has_list;
	if (refresh.has_list) {
		watch->retry_ns = MIN_RETRY_NS;
		watch->due_ns = now_ns + draw_interval_ns(now_ns);
	} else {
		watch->due_ns = now_ns + next_retry_ns(watch);
	}
}

/* Adds names from the log directories. Missing directories are not reported. */
static void read_logs(struct pod_watch *watch)
{
	uint64_t now_ns = clock_mono_ns();
	struct pod_list *list = NULL;

	if (!watch->logs_dir)
		return;
	watch->stats.nr_log_reads++;
	int r = pod_logs_list(watch->logs_dir, LIST_MAX_BYTES, &list);
	if (r == 0)
		r = pod_index_complete(watch->index, list, now_ns);
	if (r < 0 && r != -ENOENT && r != watch->last_logs_error)
		log_warn_errno(r, "cannot store all pod names from %s; continuing without the rest",
			       watch->logs_dir);
	watch->last_logs_error = r;
}

static void do_round(struct pod_watch *watch, bool is_due)
{
	bool was_answering = watch->is_answering;

	if (!was_answering)
		read_logs(watch);
	if (is_due && watch->kubelet)
		ask_kubelet(watch);
	else if (is_due)
		watch->due_ns = clock_mono_ns() + INTERVAL_NS;
	if (was_answering && !watch->is_answering)
		read_logs(watch);
}

/* Returns when the next round is due. Called with the lock held. */
static uint64_t next_round_ns(const struct pod_watch *watch)
{
	uint64_t ahead_ns = (POD_WATCH_BURST - 1) * REQUESTED_ROUND_NS;
	uint64_t allowed_ns = max_u64(watch->bucket_full_ns, ahead_ns) - ahead_ns;
	uint64_t requested_ns = max_u64(allowed_ns, watch->ended_ns + POD_WATCH_GAP_NS);

	if (watch->next_keys)
		return 0;
	return watch->is_refresh_requested ? min_u64(requested_ns, watch->due_ns) : watch->due_ns;
}

/* Sleeps until the next round or the end. Called with the lock held. */
static void wait_for_round(struct pod_watch *watch)
{
	uint64_t now_ns;

	while (!watch->is_stopping && (now_ns = clock_mono_ns()) < next_round_ns(watch)) {
		uint64_t nap_ns = now_ns + HEARTBEAT_NAP_NS;
		uint64_t due_ns = next_round_ns(watch);
		struct timespec until = clock_timespec(min_u64(due_ns, nap_ns));

		heartbeat_beat();
		pthread_cond_timedwait(&watch->changed, &watch->lock, &until);
	}
}

/* Takes the requests since the last round. Returns whether to ask the kubelet, not only to read the
 * log directories. Called with the lock held. */
static bool begin_round(struct pod_watch *watch)
{
	uint64_t now_ns = clock_mono_ns();
	bool is_due = now_ns >= watch->due_ns || watch->next_keys ||
		      (watch->is_refresh_requested && watch->is_answering);

	if (watch->is_refresh_requested)
		watch->bucket_full_ns = max_u64(watch->bucket_full_ns, now_ns) + REQUESTED_ROUND_NS;
	watch->is_refresh_requested = false;
	if (watch->next_keys) {
		pod_keys_free(watch->keys);
		watch->keys = take_ptr(watch->next_keys);
	}
	return is_due;
}

/* Called with the lock held. */
static void end_round(struct pod_watch *watch)
{
	watch->stats.cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	watch->shown = watch->stats;
	watch->ended_ns = clock_mono_ns();
	watch->has_tried = true;
	pthread_cond_broadcast(&watch->changed);
}

static void *run_watch(void *data)
{
	struct pod_watch *watch = data;

	heartbeat_begin("pods", HEARTBEAT_MAX_NS);
	pthread_mutex_lock(&watch->lock);
	while (!watch->is_stopping) {
		heartbeat_beat();
		bool is_due = begin_round(watch);

		pthread_mutex_unlock(&watch->lock);
		do_round(watch, is_due);
		pthread_mutex_lock(&watch->lock);
		end_round(watch);
		wait_for_round(watch);
	}
	pthread_mutex_unlock(&watch->lock);
	return NULL;
}

static void free_watch(struct pod_watch *watch)
{
	if (!watch)
		return;
	pthread_cond_destroy(&watch->changed);
	pthread_mutex_destroy(&watch->lock);
	pod_keys_free(watch->next_keys);
	pod_keys_free(watch->keys);
	free(watch->logs_dir);
	free(watch);
}
DEFINE_FREEP(struct pod_watch, free_watch)

static int copy_keys(const struct pod_watch_opts *opts, struct pod_keys **ret_keys)
{
	const struct pod_list_opts list_opts = {
		.max_bytes = LIST_MAX_BYTES,
		.label_keys = opts->label_keys,
		.nr_label_keys = opts->nr_label_keys,
		.annotation_keys = opts->annotation_keys,
		.nr_annotation_keys = opts->nr_annotation_keys,
	};

	return pod_keys_new(&list_opts, ret_keys);
}

static int copy_opts(struct pod_watch *watch, const struct pod_watch_opts *opts)
{
	watch->index = opts->index;
	int r = text_copy(opts->logs_dir, &watch->logs_dir);
	return r < 0 ? r : copy_keys(opts, &watch->keys);
}

int pod_watch_start(const struct pod_watch_opts *opts, struct pod_watch **ret_watch)
{
	_cleanup_(free_watchp) struct pod_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return -ENOMEM;
	pthread_mutex_init(&watch->lock, NULL);
	thread_init_cond(&watch->changed);
	watch->retry_ns = MIN_RETRY_NS;
	int r = copy_opts(watch, opts);
	if (r < 0)
		return r;

	watch->kubelet = opts->kubelet;
	if (opts->kubelet && kubelet_is_insecure(opts->kubelet))
		log_warn("the connection to the kubelet at %s is not verified (--kubelet-verify): "
			 "any server there can send pod names and read the token",
			 kubelet_url(opts->kubelet));
	/* Token files may belong to other users, and so may the program, which the kubelet worker
	 * runs. */
	uint64_t needed = CAPABILITY(DAC_READ_SEARCH);
	if (opts->kubelet)
		needed |= capabilities_for_file(WORKER_PROCESS_OWN_PROGRAM, X_OK);
	r = thread_start("pods", needed, run_watch, watch, &watch->thread);
	if (r < 0)
		return r;
	*ret_watch = take_ptr(watch);
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
	if (watch->kubelet)
		kubelet_give_up(watch->kubelet);
	pthread_join(watch->thread, NULL);
	kubelet_free(watch->kubelet);
	free_watch(watch);
}

void pod_watch_request_refresh(struct pod_watch *watch)
{
	LOCKED(&watch->lock);
	if (!watch->is_refresh_requested) {
		watch->is_refresh_requested = true;
		pthread_cond_broadcast(&watch->changed);
	}
}

int pod_watch_set_keys(struct pod_watch *watch, const struct pod_watch_opts *keys)
{
	struct pod_keys *copy = NULL;

	int r = copy_keys(keys, &copy);
	if (r < 0)
		return r;
	LOCKED(&watch->lock);
	pod_keys_free(watch->next_keys);
	watch->next_keys = copy;
	pthread_cond_broadcast(&watch->changed);
	return 0;
}

bool pod_watch_wait_first(struct pod_watch *watch, uint64_t deadline_ns)
{
	struct timespec deadline = clock_timespec(deadline_ns);

	LOCKED(&watch->lock);
	while (!watch->has_tried && clock_mono_ns() < deadline_ns)
		pthread_cond_timedwait(&watch->changed, &watch->lock, &deadline);
	return watch->has_tried;
}

struct pod_watch_stats pod_watch_get_stats(struct pod_watch *watch)
{
	LOCKED(&watch->lock);
	return watch->shown;
}

bool pod_watch_is_stale(struct pod_watch *watch)
{
	uint64_t success_ns = pod_watch_get_stats(watch).last_success_ns;

	return success_ns == 0 || clock_mono_ns() - success_ns > POD_WATCH_STALE_NS;
}

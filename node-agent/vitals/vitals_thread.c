/* SPDX-License-Identifier: Apache-2.0 */
#include "vitals/vitals_thread.h"

#include "base/capabilities.h"
#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/locked.h"
#include "base/thread.h"
#include "cgroup/cgroup_fs.h"
#include "vitals/throttling.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define HEARTBEAT_MAX_NS (30 * NSEC_PER_SEC)
#define MAX_SEEN 1024 /* cgroups in a second */
#define MAX_LATE_S 60
#define AFTER_SECOND_NS NSEC_PER_MSEC

struct vitals_thread {
	struct vitals_reader reader; /* this and what follows: the thread's own */
	struct cgroup_fs *fs; /* owned; NULL: no throttling is read */
	struct throttling throttling; /* valid with fs */
	uint64_t next_s; /* the first second that was not read */
	pthread_t thread;
	bool is_running;
	pthread_mutex_t lock; /* of the following */
	pthread_cond_t wake;
	bool is_stopping;
	struct vitals_reading readings[VITALS_THREAD_MAX_READINGS];
	size_t nr_readings;
	struct throttled_reading throttled[VITALS_THREAD_MAX_THROTTLED];
	size_t nr_throttled;
	uint64_t seen[MAX_SEEN];
	size_t nr_seen;
	struct vitals_thread_stats stats;
};

/* With the lock. Without room the oldest one is dropped. */
static void add_reading(struct vitals_thread *thread, uint64_t second, const struct vitals *vitals)
{
	if (thread->nr_readings == VITALS_THREAD_MAX_READINGS) {
		memmove(thread->readings, thread->readings + 1,
			(VITALS_THREAD_MAX_READINGS - 1) * sizeof(*thread->readings));
		thread->nr_readings--;
		thread->stats.nr_missed++;
	}
	thread->readings[thread->nr_readings++] = (struct vitals_reading){ second, *vitals };
}

/* The thread should have woken up when the second after the last reading was over. Of the first
 * reading, and of one after the clock was set, nothing is known. */
static void note_delay(const struct vitals_thread *thread, uint64_t now_ns, struct vitals *vitals)
{
	uint64_t due_ns = (thread->next_s + 1) * NSEC_PER_SEC + AFTER_SECOND_NS;

	if (thread->next_s > 0 && now_ns >= due_ns && now_ns < due_ns + MAX_LATE_S * NSEC_PER_SEC)
		vitals_set(vitals, VITAL_TICK_DELAY, now_ns - due_ns);
}

/* Counters are averages of the time since the last reading. If the thread got no CPU for longer
 * than a second, they are those of all seconds since then. */
static void read_vitals(struct vitals_thread *thread, uint64_t now_ns)
{
	struct vitals vitals;
	uint64_t now_s = now_ns / NSEC_PER_SEC, first_s = thread->next_s;

	vitals_reader_read(&thread->reader, clock_mono_ns(), &vitals);
	note_delay(thread, now_ns, &vitals);
	if (first_s == 0 || first_s >= now_s || first_s + MAX_LATE_S < now_s)
		first_s = now_s - 1;
	thread->next_s = now_s;

	LOCKED(&thread->lock);
	for (uint64_t second = first_s; second < now_s; second++)
		add_reading(thread, second, &vitals);
}

static void add_throttled(uint64_t cgroup_id, const struct cpu_throttling *increase,
			  uint32_t nr_seconds, void *data)
{
	struct vitals_thread *thread = data;

	LOCKED(&thread->lock);
	if (thread->nr_throttled == VITALS_THREAD_MAX_THROTTLED) {
		thread->stats.nr_missed++;
		return;
	}
	thread->throttled[thread->nr_throttled++] =
		(struct throttled_reading){ thread->next_s - 1, cgroup_id, *increase, nr_seconds };
}

static size_t take_seen(struct vitals_thread *thread, uint64_t seen[static MAX_SEEN])
{
	LOCKED(&thread->lock);
	size_t nr = thread->nr_seen;

	memcpy(seen, thread->seen, nr * sizeof(*seen));
	thread->nr_seen = 0;
	return nr;
}

static void read_throttling(struct vitals_thread *thread)
{
	uint64_t seen[MAX_SEEN], now_s = clock_mono_ns() / NSEC_PER_SEC;

	if (!thread->fs)
		return;
	size_t nr = take_seen(thread, seen);
	for (size_t i = 0; i < nr; i++)
		throttling_see(&thread->throttling, seen[i], now_s);
	throttling_read(&thread->throttling, now_s, add_throttled, thread);
}

/* Waits until a second of Unix time is over. Returns whether the thread goes on. */
static bool wait_second(struct vitals_thread *thread)
{
	uint64_t until_ns = clock_second_end_ns() + AFTER_SECOND_NS;
	struct timespec until = clock_timespec(until_ns);

	LOCKED(&thread->lock);
	while (!thread->is_stopping && clock_mono_ns() < until_ns)
		pthread_cond_timedwait(&thread->wake, &thread->lock, &until);
	return !thread->is_stopping;
}

static void publish(struct vitals_thread *thread)
{
	LOCKED(&thread->lock);
	thread->stats.nr_cgroups_ignored = thread->throttling.nr_ignored;
	thread->stats.cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void *run(void *data)
{
	struct vitals_thread *thread = data;

	heartbeat_begin("vitals", HEARTBEAT_MAX_NS);
	do {
		heartbeat_beat();
		read_vitals(thread, clock_real_ns());
		read_throttling(thread);
		publish(thread);
	} while (wait_second(thread));
	return NULL;
}

int vitals_thread_start(int proc_fd, const char *cgroup_root, struct vitals_thread **ret_thread)
{
	_cleanup_(vitals_thread_stopp) struct vitals_thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return -ENOMEM;
	pthread_mutex_init(&thread->lock, NULL);
	thread_init_cond(&thread->wake);
	vitals_reader_open(proc_fd, &thread->reader);
	/* Without cgroups there is no throttling. */
	if (cgroup_fs_open(cgroup_root, &thread->fs) == 0)
		throttling_init(&thread->throttling, thread->fs);
	/* Finding a cgroup by its id needs the capability. */
	int r = thread_start("vitals", CAPABILITY(DAC_READ_SEARCH), run, thread, &thread->thread);
	if (r < 0)
		return r;
	thread->is_running = true;
	*ret_thread = take_ptr(thread);
	return 0;
}

static void ask_to_stop(struct vitals_thread *thread)
{
	LOCKED(&thread->lock);
	thread->is_stopping = true;
	pthread_cond_signal(&thread->wake);
}

void vitals_thread_stop(struct vitals_thread *thread)
{
	if (!thread)
		return;
	if (thread->is_running) {
		ask_to_stop(thread);
		pthread_join(thread->thread, NULL);
	}
	vitals_reader_close(&thread->reader);
	if (thread->fs)
		throttling_done(&thread->throttling);
	cgroup_fs_close(thread->fs);
	pthread_cond_destroy(&thread->wake);
	pthread_mutex_destroy(&thread->lock);
	free(thread);
}

void vitals_thread_see_cgroup(struct vitals_thread *thread, uint64_t cgroup_id)
{
	LOCKED(&thread->lock);
	if (thread->nr_seen < MAX_SEEN)
		thread->seen[thread->nr_seen++] = cgroup_id;
}

size_t vitals_thread_take(struct vitals_thread *thread,
			  struct vitals_reading readings[static VITALS_THREAD_MAX_READINGS])
{
	LOCKED(&thread->lock);
	size_t nr = thread->nr_readings;

	memcpy(readings, thread->readings, nr * sizeof(*readings));
	thread->nr_readings = 0;
	return nr;
}

size_t vitals_thread_take_throttled(
	struct vitals_thread *thread,
	struct throttled_reading readings[static VITALS_THREAD_MAX_THROTTLED])
{
	LOCKED(&thread->lock);
	size_t nr = thread->nr_throttled;

	memcpy(readings, thread->throttled, nr * sizeof(*readings));
	thread->nr_throttled = 0;
	return nr;
}

struct vitals_thread_stats vitals_thread_get_stats(struct vitals_thread *thread)
{
	LOCKED(&thread->lock);
	return thread->stats;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Detects threads that hang. Each thread reports that it makes progress, and declares the longest
 * time between two reports.
 *
 *	heartbeat_begin("symbolizer", max)     first thing in the thread; base/thread.c ends it
 *	heartbeat_beat()                   in its loop, in all waits, and in what may take long: a load and a store
 *	heartbeat_tick(now)                one thread of the program, every HEARTBEAT_TICK_NS
 *
 * Beats have times of a clock that the ticks advance, each by at most twice the tick interval. If
 * the whole program cannot run (its container has no CPU time left, the machine was suspended, or
 * the process was stopped), there are no ticks and the clock stands still, so no thread is late. A
 * single thread that gets no CPU time is late. The ticking thread itself uses CLOCK_MONOTONIC.
 *
 * A thread without work wakes up every HEARTBEAT_NAP_NS and beats. So a thread that has not beaten
 * for much longer is either busy or hangs.
 *
 * A late beat is counted. In debug builds (HEARTBEAT_ASSERTS) it ends the program, unless the
 * thread was waiting for a CPU. In a thread that has not called heartbeat_begin(), heartbeat_beat()
 * does nothing. */
#ifndef BASE_HEARTBEAT_H
#define BASE_HEARTBEAT_H

#include "base/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEARTBEAT_MAX_THREADS 64

/* Each wake-up of a thread that has nothing to do costs 10 to 40 us of CPU time on a busy
 * machine. */
#define HEARTBEAT_TICK_NS (500 * NSEC_PER_MSEC)
#define HEARTBEAT_NAP_NS NSEC_PER_SEC

#define HEARTBEAT_NAME_BYTES 32

struct heartbeat {
	/* as given to heartbeat_begin(), with "-2" and so on if another thread has it */
	char name[HEARTBEAT_NAME_BYTES];
	uint64_t age_ns; /* since the last beat, accurate to about a tick */
	uint64_t max_ns; /* longest permitted age */
};

/* Begins to watch the calling thread. `name` is static and has at most 15 bytes. Beyond
 * HEARTBEAT_MAX_THREADS, threads are not watched. */
void heartbeat_begin(const char *name, uint64_t max_ns);

/* Does the same for the thread that calls heartbeat_tick(). */
void heartbeat_begin_ticking(const char *name, uint64_t max_ns);

/* Stops watching the calling thread, if it is watched. */
void heartbeat_end(void);

/* Reports that the calling thread makes progress. */
void heartbeat_beat(void);

/* Advances the clock of beats. `now_ns` is CLOCK_MONOTONIC. */
void heartbeat_tick(uint64_t now_ns);

/* Lists the watched threads in no particular order and returns their number. May be called from any
 * thread and in a signal handler. */
size_t heartbeat_list(uint64_t now_ns, struct heartbeat list[static HEARTBEAT_MAX_THREADS]);

/* Finds the thread that is latest beyond its permitted age; returns false if none is late. May be
 * called from any thread. */
bool heartbeat_find_late(uint64_t now_ns, struct heartbeat *ret_heartbeat);

/* Returns the number of late beats so far. */
uint64_t heartbeat_nr_late(void);

#endif

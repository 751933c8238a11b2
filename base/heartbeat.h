/* SPDX-License-Identifier: Apache-2.0 */
/* Does every thread move? Each thread of the program says when it was last seen at work, and how
 * long it may be gone.
 *
 *	heartbeat_begin("symbolizer", max)     first thing in the thread; base/thread.c ends it
 *	heartbeat_beat()                   in its loop, in all waits, and in what may take long: a load and a store
 *	heartbeat_tick(now)                one thread of the program, every HEARTBEAT_TICK_NS
 *
 * Beats are dated by a clock that these ticks advance, by twice their distance at most. When the
 * whole program cannot run, as its container has no CPU time left, the machine was suspended or
 * somebody stopped it, then the ticks do not come either and the clock stands still: nobody is
 * called late for that. A thread that alone gets no CPU time is late. Who ticks is dated by
 * CLOCK_MONOTONIC.
 *
 * A thread without work wakes up each HEARTBEAT_NAP_NS and beats, so that whoever has not moved
 * for much longer is at work on something, or hangs.
 *
 * A beat that comes later than it may is counted; in debug builds (HEARTBEAT_ASSERTS) it ends
 * the program, unless the thread has waited for a CPU for as long. Threads that have not begun,
 * as those of tests, may call heartbeat_beat(): it does nothing. */
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
	/* that it began with; "-2" and so on where it is another's already */
	char name[HEARTBEAT_NAME_BYTES];
	uint64_t age_ns; /* since it was last seen, to a tick or so */
	uint64_t max_ns; /* what that may be */
};

/* The calling thread is watched from now on. `name` is static, of at most 15 bytes. Once
 * HEARTBEAT_MAX_THREADS are watched a further one is not. */
void heartbeat_begin(const char *name, uint64_t max_ns);

/* As heartbeat_begin(), for the thread that ticks. */
void heartbeat_begin_ticking(const char *name, uint64_t max_ns);

/* The calling thread is not watched any more; it need not have begun. */
void heartbeat_end(void);

/* The calling thread is at work. */
void heartbeat_beat(void);

/* Advances the clock of beats. `now_ns` is CLOCK_MONOTONIC. */
void heartbeat_tick(uint64_t now_ns);

/* All that are watched, in no order; returns how many. From any thread, and in a signal handler. */
size_t heartbeat_list(uint64_t now_ns, struct heartbeat list[static HEARTBEAT_MAX_THREADS]);

/* The one that has been gone for longest beyond what it may; false when there is none. From any
 * thread. */
bool heartbeat_find_late(uint64_t now_ns, struct heartbeat *ret_heartbeat);

/* Beats that came too late so far. */
uint64_t heartbeat_nr_late(void);

#endif

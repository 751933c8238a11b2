/* SPDX-License-Identifier: Apache-2.0 */
/* Divides waits by what they tell of a program. A thread that waits for a disk, for memory or for a
 * lock has work to do and cannot do it; so has one that waits for a CPU. A thread that waits for
 * data of a socket or pipe may have work that another program does first, or nothing to do. All
 * other waits are mostly those of threads that have nothing to do.
 *
 * Pools of threads wait for work with futexes as well, in condition variables and semaphores. So a
 * wait for a futex is one for a lock only below a function that takes a lock:
 *
 *	serve ─▶ pthread_mutex_lock ─▶ futex_do_wait		lock
 *	next_job ─▶ pthread_cond_wait ─▶ futex_do_wait		the rest */
#ifndef PROFILE_WAIT_SPLIT_H
#define PROFILE_WAIT_SPLIT_H

#include "base/err.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wait_class {
	WAIT_DISK,
	WAIT_MEMORY, /* page faults and reclaim */
	WAIT_LOCK, /* of the kernel, or of the program */
	WAIT_CPU, /* it could run */
	WAIT_PEER, /* sockets, pipes */
	WAIT_REST,
	WAIT_NR_CLASSES,
};

/* The classes in which a thread with work to do is blocked. */
#define WAIT_NR_BLOCKED WAIT_CPU

/* Returns "disk", "memory", "lock", "cpu", "peer" or "rest". */
const char *wait_class_name(enum wait_class class);

/* What a thread waits for by a futex, as its functions tell. The last one counts. */
enum wait_purpose { WAITS_FOR_UNKNOWN, WAITS_FOR_OTHER, WAITS_FOR_LOCK };

/* What is known of the stacks of a profile. */
struct wait_split {
	uint8_t *purposes; /* owned; enum wait_purpose, by the number of the stack */
};

/* Errors: -ENOMEM. */
int wait_split_init(struct wait_split *split, const struct profile *profile) must_check;
void wait_split_done(struct wait_split *split);

enum wait_class wait_split_class(const struct wait_split *split,
				 const struct profile_sample *sample);

/* Returns whether a wait in a profile of locks is one. Those for locks of the kernel are. One with
 * REASON_FUTEX is unless its functions tell that it waits for something else; one with REASON_NONE,
 * of which the kernel's side could not tell, is only if they tell that it takes a lock. */
bool wait_split_is_for_lock(const struct wait_split *split, const struct profile_sample *sample);

#endif

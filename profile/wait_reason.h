/* SPDX-License-Identifier: Apache-2.0 */
/* Why threads wait, as samples of profiles off the CPU say it in their label "reason". */
#ifndef PROFILE_WAIT_REASON_H
#define PROFILE_WAIT_REASON_H

#include <stdbool.h>

/* The numbers are those in files of the record, so new ones come last. */
enum wait_reason {
	REASON_NONE, /* not a wait, or not known */
	REASON_PREEMPTED, /* it could run on, and another thread got the CPU */
	REASON_RUN_QUEUE, /* it was woken, and got no CPU yet */
	REASON_DISK, /* a file, a block device, or a directory */
	REASON_PAGE_FAULT, /* memory that is read from a file, swapped in or copied */
	REASON_RECLAIM, /* the kernel frees memory first */
	REASON_NETWORK,
	REASON_PIPE, /* pipes, terminals and event counters */
	REASON_POLL, /* one of several files: poll(2), select(2), epoll(7), io_uring(7) */
	REASON_FUTEX, /* another thread: a lock, a condition variable, a semaphore */
	REASON_KERNEL_LOCK, /* a lock of the kernel */
	REASON_SLEEP,
	REASON_CHILD, /* the end of a child, or its execve(2) after vfork(2) */
	REASON_SIGNAL, /* a signal, or a debugger */
	REASON_IDLE, /* a thread of the kernel has nothing to do */
	REASON_OTHER,
	REASON_RUNNING, /* no wait: it had a CPU (profiles of the type wall) */
	REASON_THROTTLED, /* it could run on, and its cgroup has used up its CPU limit */
	REASON_NR,
};

/* Returns the word of a reason: "page-fault"; "" for REASON_NONE. Static. */
const char *wait_reason_word(enum wait_reason reason);

/* Returns whether the thread could run, and had no CPU. */
bool wait_reason_is_queued(enum wait_reason reason);

/* Returns the reason with that word, or REASON_NR. */
enum wait_reason wait_reason_from_word(const char *word);

#endif

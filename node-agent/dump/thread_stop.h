/* SPDX-License-Identifier: Apache-2.0 */
/* Stops threads of a process for a moment, by ptrace(2) as debuggers do, and lets them go on:
 *
 *	thread_stop_add() for each ─▶ thread_stop_wait() until it returns 0 ─▶ thread_stop_end()
 *
 * No signal is sent, so no handler runs, and most system calls are restarted. A few, such as
 * epoll_wait(2), return EINTR to the program (signal(7), "Interruption of system calls and library
 * functions by stop signals"). If the calling thread ends, the kernel lets the threads go on.
 * Belongs to one thread, which is their tracer. */
#ifndef DUMP_THREAD_STOP_H
#define DUMP_THREAD_STOP_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stopping_thread {
	uint32_t tid;
	bool is_stopped; /* or has ended */
	int signal; /* that came to it meanwhile; 0: none */
};

struct thread_stop {
	struct stopping_thread *items; /* owned; threads that are traced */
	size_t nr, cap;
};

/* Asks a thread to stop, which it soon does, unless it is in an uninterruptible sleep. Errors:
 * -ESRCH it has ended, -EPERM another process traces it or a privilege is missing, -ENOMEM. */
int thread_stop_add(struct thread_stop *stop, uint32_t tid) must_check;

bool thread_stop_has(const struct thread_stop *stop, uint32_t tid);

/* Returns the number of threads that have not stopped yet. Does not wait. */
size_t thread_stop_wait(struct thread_stop *stop);

/* Lets all threads go on that have stopped, with the signals that came to them meanwhile. The
 * kernel releases the others when the calling thread ends, which therefore must be soon. */
void thread_stop_end(struct thread_stop *stop);

#endif

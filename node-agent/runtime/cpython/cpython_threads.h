/* SPDX-License-Identifier: Apache-2.0 */
/* The thread states of a CPython, from the list of its interpreters. Source: Python/pystate.c. */
#ifndef RUNTIME_CPYTHON_CPYTHON_THREADS_H
#define RUNTIME_CPYTHON_CPYTHON_THREADS_H

#include "runtime/runtime.h"

#include <stdbool.h>
#include <stddef.h>

#define CPYTHON_MAX_THREADS 64 /* the newest ones of each interpreter are enough */

struct cpython_thread {
	uint64_t pointer; /* the thread pointer, which is PyThreadState.thread_id */
	uint64_t state; /* address of PyThreadState */
};

struct cpython_threads {
	struct cpython_thread items[CPYTHON_MAX_THREADS];
	size_t nr;
	bool has_interpreter; /* the runtime has started */
};

/* Reads the thread states that belong to a thread: those of threads that have not begun are left
 * out. A thread has several if there are several interpreters. Lists that change meanwhile or make
 * no sense are read as far as that is possible. Errors: those of process_memory_read() if not even
 * `runtime`, the address of _PyRuntime, can be read. */
int cpython_threads_read(struct process_memory *memory, const uint64_t *values, uint64_t runtime,
			 struct cpython_threads *ret_threads) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of the local unwinder (local_unwinder.c). */
#ifndef UNWIND_TABLES_UNWIND_MEMORY_LOCAL_H
#define UNWIND_TABLES_UNWIND_MEMORY_LOCAL_H

#include "unwind/tables/bound_processes.h"
#include "unwind/tables/unwind_memory.h"

#include <pthread.h>

#define LOCAL_MAX_PROCESSES 32768

/* Freed memory becomes another table only after unwind_memory_wait(), which takes the lock
 * `unwinding` once: then a stack that was being unwound is done, and the next one finds nothing
 * that leads to the freed memory. */
struct local_memory {
	struct unwind_memory memory;
	pthread_mutex_t unwinding; /* held while a stack is unwound */
	/* Owned: one piece of address space, of which the chunks that were added can be written.
	 * The rest reads as zeros. */
	uint8_t *arena;
	size_t max_bytes;
	struct bound_processes processes; /* the unwinding thread's */
};

#endif

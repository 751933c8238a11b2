/* SPDX-License-Identifier: Apache-2.0 */
/* Copies stacks of threads that sleep, out of the memory of their processes.
 *
 * A process may let the kernel wait for as long as it likes when its memory is read, for example a
 * page of a file of its own file system (FUSE). So a thread of its own copies, and the caller waits
 * for it only so long. If it does not come back, no stacks are copied until it does; the end of
 * such a process ends the wait, and so does the end of this one. */
#ifndef CAPTURE_BPF_STACK_COPIER_H
#define CAPTURE_BPF_STACK_COPIER_H

#include "base/err.h"

#include <stdint.h>

#define STACK_COPY_BYTES 32768
#define STACK_COPIER_MAX 16 /* stacks that are copied at a time */

struct stack_copier;

struct stack_request {
	uint32_t pid;
	uint64_t address; /* of the first byte; 0: nothing is wanted */
	uint8_t *bytes; /* out: borrowed, valid until the next call */
	uint32_t len; /* out: up to STACK_COPY_BYTES; 0: nothing can be read */
};

/* Starts the thread. `proc_fd` is borrowed. Errors: -ENOMEM, -EAGAIN. */
int stack_copier_start(int proc_fd, struct stack_copier **ret_copier) must_check;

/* A thread that does not come back is left behind, with its memory. */
void stack_copier_stop(struct stack_copier *copier);

/* Copies up to STACK_COPIER_MAX stacks. Errors: -EBUSY the thread has not come back yet, -ETIMEDOUT
 * nor does it now: then nothing was copied. */
int stack_copier_copy(struct stack_copier *copier, struct stack_request *requests, uint32_t nr)
	must_check;

#endif

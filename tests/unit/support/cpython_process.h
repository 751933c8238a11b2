/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a process with the thread states of a CPython 3.12, in a sparse file, as the C
 * libraries of x86-64 have it. */
#ifndef TESTS_UNIT_CPYTHON_PROCESS_H
#define TESTS_UNIT_CPYTHON_PROCESS_H

#include "runtime/runtime.h"

#define CPYTHON_PROCESS_BIAS 0x1000
#define CPYTHON_PROCESS_TLS_BYTES 32 /* of the file's TLS block */
#define CPYTHON_PROCESS_STATIC_BYTES 64 /* below a thread pointer */

struct cpython_process {
	struct process_memory memory;
	struct runtime_file file;
	size_t nr_threads;
};

/* The runtime has not started. */
void cpython_process_init(struct cpython_process *process);
void cpython_process_done(struct cpython_process *process);

void cpython_process_put(struct cpython_process *process, uint64_t address, uint64_t word);

/* Sets the first interpreter, or the one behind another one. Return its address. */
uint64_t cpython_process_start(struct cpython_process *process);
uint64_t cpython_process_add_interpreter(struct cpython_process *process, uint64_t previous);

/* Adds a thread to an interpreter, with a state that is nowhere. Returns its thread pointer. */
uint64_t cpython_process_add_thread(struct cpython_process *process, uint64_t interpreter);

/* Adds one more state of a thread. Returns its address. */
uint64_t cpython_process_add_state(struct cpython_process *process, uint64_t interpreter,
				   uint64_t pointer);

/* Returns the state that a thread was added with. */
uint64_t cpython_process_state(uint64_t pointer);

#endif

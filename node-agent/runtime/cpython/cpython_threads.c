/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cpython/cpython_threads.h"

#include "bpf/shared/cfi.h"
#include "runtime/cpython/cpython_values.h"

#define MAX_INTERPRETERS 64
#define MAX_STEPS 256 /* thread states of one interpreter that are looked at */

/* The C libraries of x86-64 begin a thread's block with its own address. */
static bool is_thread_pointer(struct process_memory *memory, uint64_t pointer)
{
	uint64_t own;

	if (pointer == 0 || pointer % sizeof(uint64_t) != 0)
		return false;
	if (process_memory_read_u64(memory, pointer, &own) < 0)
		return false;
	return CFI_IS_ARM64 || own == pointer;
}

static void add_thread(struct process_memory *memory, const uint64_t *values, uint64_t state,
		       struct cpython_threads *threads)
{
	uint64_t pointer;

	if (process_memory_read_u64(memory, state + values[CPYTHON_OFFSET_THREAD_ID], &pointer) <
		    0 ||
	    !is_thread_pointer(memory, pointer))
		return;
	threads->items[threads->nr++] = (struct cpython_thread){ pointer, state };
}

static void read_interpreter(struct process_memory *memory, const uint64_t *values,
			     uint64_t interpreter, struct cpython_threads *threads)
{
	uint64_t state;

	int r = process_memory_read_u64(memory, interpreter + values[CPYTHON_OFFSET_THREADS],
					&state);
	for (int i = 0; i < MAX_STEPS && threads->nr < CPYTHON_MAX_THREADS; i++) {
		if (r < 0 || state == 0)
			break;
		add_thread(memory, values, state, threads);
		r = process_memory_read_u64(memory, state + values[CPYTHON_OFFSET_THREAD_NEXT],
					    &state);
	}
}

int cpython_threads_read(struct process_memory *memory, const uint64_t *values, uint64_t runtime,
			 struct cpython_threads *ret_threads)
{
	struct cpython_threads threads = { 0 };
	uint64_t interpreter;

	int r = process_memory_read_u64(memory, runtime + values[CPYTHON_OFFSET_INTERPRETERS],
					&interpreter);
	if (r < 0)
		return r;
	for (int i = 0; i < MAX_INTERPRETERS && threads.nr < CPYTHON_MAX_THREADS; i++) {
		if (r < 0 || interpreter == 0)
			break;
		threads.has_interpreter = true;
		read_interpreter(memory, values, interpreter, &threads);
		r = process_memory_read_u64(memory,
					    interpreter + values[CPYTHON_OFFSET_INTERPRETER_NEXT],
					    &interpreter);
	}
	*ret_threads = threads;
	return 0;
}

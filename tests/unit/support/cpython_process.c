/* SPDX-License-Identifier: Apache-2.0 */
#include "cpython_process.h"

#include "runtime/cpython/cpython_values.h"
#include "runtime/cpython/cpython_versions.h"
#include "unit.h"

#include <sys/mman.h>
#include <unistd.h>

#define QUOTA ((uint64_t)64 << 20)
#define BYTES ((uint64_t)32 << 20)

/* Addresses. */
#define RUNTIME 0x10000
#define INTERPRETERS 0x100000
#define INTERPRETER_BYTES 0x10000
#define THREADS 0x1000000
#define THREAD_BYTES 0x8000
/* In a thread's part of the memory. */
#define POINTER 0x4000
#define VECTOR 0x6000
#define STATE 0x7000
#define MORE_STATES 0x7400
#define STATE_BYTES 0x200

void cpython_process_init(struct cpython_process *process)
{
	int fd = memfd_create("process", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, BYTES), 0);
	*process = (struct cpython_process){
		.memory = { .fd = fd, .nr_left = QUOTA },
		.file = { .kind = RUNTIME_CPYTHON, .version = CPYTHON_VERSION(3, 12) },
	};
	assert_true(cpython_versions_fill(&process->file));
	process->file.values[CPYTHON_RUNTIME] = RUNTIME - CPYTHON_PROCESS_BIAS;
	process->file.values[CPYTHON_IS_PROGRAM] = 1;
	process->file.values[CPYTHON_TLS_BYTES] = CPYTHON_PROCESS_TLS_BYTES;
}

void cpython_process_done(struct cpython_process *process)
{
	close(process->memory.fd);
}

void cpython_process_put(struct cpython_process *process, uint64_t address, uint64_t word)
{
	assert_int_equal(pwrite(process->memory.fd, &word, sizeof(word), (off_t)address),
			 sizeof(word));
}

static uint64_t read_at(struct cpython_process *process, uint64_t address)
{
	uint64_t word;

	assert_int_equal(pread(process->memory.fd, &word, sizeof(word), (off_t)address),
			 sizeof(word));
	return word;
}

uint64_t cpython_process_start(struct cpython_process *process)
{
	cpython_process_put(process, RUNTIME + process->file.values[CPYTHON_OFFSET_INTERPRETERS],
			    INTERPRETERS);
	return INTERPRETERS;
}

uint64_t cpython_process_add_interpreter(struct cpython_process *process, uint64_t previous)
{
	uint64_t interpreter = previous + INTERPRETER_BYTES;

	cpython_process_put(process,
			    previous + process->file.values[CPYTHON_OFFSET_INTERPRETER_NEXT],
			    interpreter);
	return interpreter;
}

/* Puts a state before the others of its interpreter, as CPython does. */
static void add_state(struct cpython_process *process, uint64_t interpreter, uint64_t pointer,
		      uint64_t state)
{
	const uint64_t *values = process->file.values;
	uint64_t head = interpreter + values[CPYTHON_OFFSET_THREADS];

	cpython_process_put(process, state + values[CPYTHON_OFFSET_THREAD_ID], pointer);
	cpython_process_put(process, state + values[CPYTHON_OFFSET_THREAD_NEXT],
			    read_at(process, head));
	cpython_process_put(process, head, state);
}

uint64_t cpython_process_add_thread(struct cpython_process *process, uint64_t interpreter)
{
	uint64_t start = THREADS + process->nr_threads++ * THREAD_BYTES;
	uint64_t pointer = start + POINTER;

	assert_true(start + THREAD_BYTES <= BYTES);
	cpython_process_put(process, pointer, pointer);
	cpython_process_put(process, pointer + 8, start + VECTOR);
	cpython_process_put(process, start + VECTOR + 16, pointer - CPYTHON_PROCESS_STATIC_BYTES);
	add_state(process, interpreter, pointer, cpython_process_state(pointer));
	return pointer;
}

uint64_t cpython_process_add_state(struct cpython_process *process, uint64_t interpreter,
				   uint64_t pointer)
{
	uint64_t state = pointer - POINTER + MORE_STATES;

	while (read_at(process, state + process->file.values[CPYTHON_OFFSET_THREAD_ID]) != 0)
		state += STATE_BYTES;
	add_state(process, interpreter, pointer, state);
	return state;
}

uint64_t cpython_process_state(uint64_t pointer)
{
	return pointer - POINTER + STATE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Linux 5.19 to 7.x, x86-64 and arm64. */
#include "pipeline/lock_frames.h"

#include "base/cleanup.h"
#include "bpf/shared/lock.h"

#include <inttypes.h>
#include <stdio.h>

/* Tracepoint and BPF program have fewer frames. */
#define TRACING_MAX_FRAMES 12

#define TRACES 1

static const struct kernel_name names[] = {
	{ "bpf_prog_*", TRACES },
	{ "bpf_trace_run*", TRACES },
	{ "bpf_trampoline_*", TRACES },
	{ "__bpf_trace_contention_end", TRACES },
	{ "__bpf_trace_contention_begin", TRACES },
	{ "__traceiter_contention_end", TRACES },
	{ "trace_contention_end", TRACES },
	{ "__trace_contention_end", TRACES },
};

void lock_frames_init(struct kernel_ranges *frames, const struct kernel_symbols *symbols)
{
	kernel_ranges_init(frames, symbols, names, array_len(names));
}

size_t lock_frames_count(const struct kernel_ranges *frames, const __u64 *addresses, size_t nr)
{
	size_t count = 0;

	for (size_t i = 0; i < nr && i < TRACING_MAX_FRAMES; i++)
		if (kernel_ranges_find(frames, addresses[i]) == TRACES)
			count = i + 1;
	return count < nr ? count : 0;
}

/* Returns the name of a kind of lock. With the same flags there are others that differ too little
 * to tell them apart: a lock that is read or written and lets threads sleep is an rw_semaphore. */
static const char *kind_of(unsigned int flags)
{
	if (flags & LOCK_FLAG_MUTEX)
		return "mutex";
	if (flags & LOCK_FLAG_RT)
		return "rt_mutex";
	if (flags & LOCK_FLAG_PERCPU)
		return "percpu_rwsem";
	if (flags & LOCK_FLAG_SPIN)
		return flags & (LOCK_FLAG_READ | LOCK_FLAG_WRITE) ? "rwlock" : "spinlock";
	return flags & (LOCK_FLAG_READ | LOCK_FLAG_WRITE) ? "rwsem" : "semaphore";
}

static const char *use_of(unsigned int flags)
{
	if (flags & LOCK_FLAG_READ)
		return " read";
	return flags & LOCK_FLAG_WRITE ? " write" : "";
}

/* Writes the name of the variable, and the place of the lock in it if it is not its beginning. */
static void write_variable(const struct sample_event *event, const struct kernel_data *data,
			   char name[static LOCK_NAME_BYTES])
{
	uint64_t offset = 0;
	const char *variable = data ? kernel_data_find(data, event->lock, &offset) : NULL;

	name[0] = '\0';
	if (variable && offset > 0)
		snprintf(name, LOCK_NAME_BYTES, " %.70s+0x%" PRIx64, variable, offset);
	else if (variable)
		snprintf(name, LOCK_NAME_BYTES, " %.70s", variable);
}

void lock_frames_name(const struct sample_event *event, const struct kernel_data *data,
		      char name[static LOCK_NAME_BYTES])
{
	char own_name[LOCK_NAME_BYTES] = " mmap_lock";

	if (event->lock_flags & LOCK_IS_SIGHAND)
		snprintf(own_name, sizeof(own_name), " siglock");
	else if (!(event->lock_flags & LOCK_IS_MMAP))
		write_variable(event, data, own_name);
	snprintf(name, LOCK_NAME_BYTES, "[%s%s%.96s]", kind_of(event->lock_flags),
		 use_of(event->lock_flags), own_name);
}

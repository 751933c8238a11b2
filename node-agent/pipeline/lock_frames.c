/* SPDX-License-Identifier: Apache-2.0 */
/* Linux 5.19 to 7.x, x86-64 and arm64. */
#include "pipeline/lock_frames.h"

#include "base/cleanup.h"
#include "bpf/shared/lock.h"

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
	if (flags & LOCK_MUTEX)
		return "mutex";
	if (flags & LOCK_RT)
		return "rt_mutex";
	if (flags & LOCK_PERCPU)
		return "percpu_rwsem";
	if (flags & LOCK_SPIN)
		return flags & (LOCK_READ | LOCK_WRITE) ? "rwlock" : "spinlock";
	return flags & (LOCK_READ | LOCK_WRITE) ? "rwsem" : "semaphore";
}

static const char *use_of(unsigned int flags)
{
	if (flags & LOCK_READ)
		return " read";
	return flags & LOCK_WRITE ? " write" : "";
}

static const char *owner_name(unsigned int flags)
{
	if (flags & LOCK_IS_MMAP)
		return "mmap_lock";
	return flags & LOCK_IS_SIGHAND ? "siglock" : NULL;
}

void lock_frames_name(const struct sample_event *event, const char *own_name,
		      char name[static LOCK_NAME_BYTES])
{
	const char *known = owner_name(event->lock_flags) ?: own_name;

	snprintf(name, LOCK_NAME_BYTES, "[%s%s%s%.80s]", kind_of(event->lock_flags),
		 use_of(event->lock_flags), known ? " " : "", known ? known : "");
}

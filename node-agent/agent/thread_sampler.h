/* SPDX-License-Identifier: Apache-2.0 */
/* Samples each thread of a process where it is now, whether it runs or sleeps. The threads are
 * stopped for a moment. A thread that stops runs the kernel's scheduler on its way, and there the
 * source samples it (sample_source_open_thread()): the frames of the kernel in such a sample are
 * always those of stopping, and are left out.
 *
 *	thread_sampler_begin() ─▶ thread_sampler_is_over(), polling the source ─▶ thread_sampler_end()
 *
 * Belongs to one thread, which must end soon after thread_sampler_end() (thread_stop.h). */
#ifndef AGENT_THREAD_SAMPLER_H
#define AGENT_THREAD_SAMPLER_H

#include "bpf/shared/events.h"
#include "capture/sample_source.h"
#include "dump/thread_list.h"
#include "dump/thread_stop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thread_sampler {
	struct sample_source *source; /* borrowed */
	int proc_fd; /* borrowed */
	uint32_t pid;
	struct thread_stop stop;
	uint64_t begin_ns; /* CLOCK_MONOTONIC */
	void **events; /* owned; one for each thread */
	size_t nr_events, cap_events;
	struct sample_event **samples; /* owned, and each; the last one of each thread */
	size_t nr_samples, cap_samples;
};

/* Begins to stop all threads. Errors: -ESRCH the process has ended, -EPERM another process traces
 * it or a privilege is missing, -EOPNOTSUPP the source cannot do that, -ENOMEM, those of
 * perf_event_open(2). */
int thread_sampler_begin(struct thread_sampler *sampler) must_check;

/* Takes a sample of the source. */
void thread_sampler_add(struct thread_sampler *sampler, const struct sample_event *event);

/* Returns whether all threads have stopped, including those that were made meanwhile. Threads in an
 * uninterruptible sleep that does not end soon do not count. */
bool thread_sampler_is_over(struct thread_sampler *sampler);

/* Lets the threads go on, as thread_stop_end() does. The source must be polled once more. */
void thread_sampler_end(struct thread_sampler *sampler);

/* Forgets the samples. */
void thread_sampler_clear(struct thread_sampler *sampler);
void thread_sampler_done(struct thread_sampler *sampler);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's side of bpf/thread_sweep.bpf.h: finds threads that sleep and of which no record
 * tells, and unwinds their stacks. Has the time in run queues told that is in no record yet.
 *
 *	iterator ─▶ ring buffer ─▶ thread_sweep_add() ─▶ copy ─▶ unwind ─▶ RECORD_BLOCK_BEGIN
 *
 * The kernel hands out registers and its own part of the stack. The user's part is copied while the
 * thread sleeps (stack_copier.h), and unwound with the same tables as all others. If the tables
 * are not there yet, it is tried again. The thread may run on at any time: then its slot changes,
 * and the copy is not used. Belongs to the thread that polls the source. */
#ifndef CAPTURE_BPF_THREAD_SWEEP_H
#define CAPTURE_BPF_THREAD_SWEEP_H

#include "base/err.h"
#include "bpf/shared/events.h"
#include "capture/bpf/block_slots.h"
#include "capture/sample_consumer.h"
#include "unwind/tables/unwind_memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_link;
struct bpf_program;
struct stack_copier;

/* A thread that was found, whose record is not handed out yet. */
struct found_thread {
	struct sample_event *event; /* owned: RECORD_BLOCK_FOUND */
	uint64_t next_ns; /* time of the next attempt to unwind its stack */
	uint64_t give_up_ns; /* from then on it is handed out as it is */
};

struct thread_sweep {
	const struct block_slots *slots; /* borrowed */
	volatile __u64 *min_rest_ns; /* borrowed; the kernel side's */
	struct bpf_link *iterators[2]; /* owned; of rests of time in run queues, and of blocks */
	struct stack_copier *copier; /* owned */
	uint64_t next_ns; /* time of the next sweep, CLOCK_MONOTONIC */
	uint64_t interval_ns; /* from then to the one after */
	struct found_thread *found; /* owned */
	size_t nr_found, cap_found;
	bool is_last; /* no more time is left */
	struct sample_event event; /* the one that is being made */
	uint64_t nr_stacks_lost; /* handed out without the user's part, which could not be copied */
	uint64_t nr_lost; /* threads: no memory, or they ran again before they were handed out */
};

/* What the sweep is of the kernel side; borrowed. */
struct thread_sweep_kernel {
	const struct bpf_program *programs[2]; /* as `iterators` */
	const struct block_slots *slots;
	volatile __u64 *min_rest_ns;
};

/* `proc_fd` is borrowed. Errors: -ENOMEM, -EAGAIN, those of bpf(2). */
int thread_sweep_open(struct thread_sweep *sweep, const struct thread_sweep_kernel *kernel,
		      int proc_fd) must_check;
void thread_sweep_close(struct thread_sweep *sweep);

/* Visits all threads if it is time to: when the source begins, then after a second, and less and
 * less often, down to once in ten seconds; and the last time. The records that are made are in the
 * ring buffer afterwards. */
void thread_sweep_run(struct thread_sweep *sweep, uint64_t now_ns, bool is_last);

/* Has all of the time in run queues told that is in no record yet. */
void thread_sweep_tell_rests(struct thread_sweep *sweep);

/* Takes a record RECORD_BLOCK_FOUND, which is copied. */
void thread_sweep_add(struct thread_sweep *sweep, const struct sample_event *event,
		      uint64_t now_ns);

/* The record RECORD_BLOCK_END of a thread comes next: hands out its beginning before. */
void thread_sweep_end(struct thread_sweep *sweep, const struct sample_event *end,
		      const struct sample_consumer *consumer);

/* Unwinds stacks and hands them out, for some milliseconds; or all of them, if it is the last
 * time. */
void thread_sweep_unwind(struct thread_sweep *sweep, struct unwind_memory *memory,
			 const struct sample_consumer *consumer, bool is_last);

#endif

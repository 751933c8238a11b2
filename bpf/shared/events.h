/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The contract between kernel and agent: what lies in the ring buffer.
 *
 * A record that begins with 0 is a copy (code_copy.h). All others are a struct sample_event cut
 * behind its last frame: what a CPU did when its timer fired, the beginning or end of a time in
 * which a thread did not run (off_cpu.h), the end of a wait for a lock (lock.h), growth of memory
 * (growth.h), an allocation and its end (heap.h), or what a soft interrupt did when the timer fired
 * (irq.h).
 *
 *	┌────────┬──────────────────────────┬──────────────────────────┐
 *	│ header │ kernel frames, leaf first │ user frames, leaf first  │
 *	└────────┴──────────────────────────┴──────────────────────────┘
 *	           frames[0 … nr_kernel-1]    frames[nr_kernel … nr_kernel+nr_user-1]
 *
 * A frame is one word, its address; only those of language runtimes have several (runtime.h).
 *
 * The first kernel frame is where the CPU was; the first user frame is where the CPU was, or
 * where the process entered the kernel. A user frame with FRAME_INTERRUPTED is where a signal
 * came, the last one with FRAME_ENTERED the first instruction of a function that nobody called.
 * All others are return addresses. */
#ifndef BPF_SHARED_EVENTS_H
#define BPF_SHARED_EVENTS_H

#include <linux/types.h>

#define TASK_COMM_LEN 16
#define MAX_KERNEL_FRAMES 127 /* kernel.perf_event_max_stack, its default */
#define MAX_USER_FRAMES 1024
#define MAX_USER_WORDS (3 * MAX_USER_FRAMES) /* of frames with RUNTIME_MAX_WORDS words */
#define MAX_FRAMES (MAX_KERNEL_FRAMES + MAX_USER_WORDS)

/* No address of user space has these bits. */
#define FRAME_INTERRUPTED (1ULL << 63)
#define FRAME_ENTERED (1ULL << 62)
#define FRAME_ADDRESS(frame) ((frame) & ~(FRAME_INTERRUPTED | FRAME_ENTERED))

enum record_kind {
	RECORD_TIMER, /* the timer fired */
	RECORD_BLOCK_BEGIN, /* the thread stops running */
	RECORD_BLOCK_END, /* it runs again; without frames */
	RECORD_BLOCK_LATE, /* the same, with the stack */
	RECORD_WAKER, /* the thread wakes another one */
	RECORD_LOCK, /* it got a lock of the kernel for which it waited (lock.h) */
	RECORD_BLOCK_FOUND, /* the thread has not run for a while: off_cpu.h */
	RECORD_QUEUED, /* the thread waited for a CPU (off_cpu.h); without frames */
	RECORD_GROWTH, /* resident memory has grown (growth.h) */
	RECORD_ALLOC, /* memory was allocated (heap.h) */
	RECORD_FREE, /* memory was freed; without frames */
	RECORD_INTERRUPT, /* the timer fired in a soft interrupt, which is no task's (irq.h) */
	RECORD_TIMES, /* for how long the thread ran, and did not (wall.h); without frames */
	RECORD_NR_KINDS,
};

struct sample_event {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u64 start_ns; /* the process's start since boot: tells a pid's users apart */
	/* kernfs id; of the v2 hierarchy, or of the memory controller on v1-only hosts */
	__u64 cgroup_id;
	__u32 pid; /* process (tgid), in the host's pid namespace */
	__u32 tid;
	__u32 cpu;
	__u16 nr_kernel;
	__u16 nr_user; /* words of the user frames */
	__u8 unwind_result; /* enum unwind_result: how the user stack ended */
	__u8 in_user; /* the CPU was in user space: there is no kernel frame */
	__u8 lacks_mapping_table; /* the kernel side had no mapping table of the process */
	__u8 lacks_file; /* the last frame is in a file that was not in `files` */
	__u8 kind; /* enum record_kind */
	__u8 wait_flags; /* of a block: off_cpu.h */
	__u8 lock_flags; /* of RECORD_LOCK: lock.h */
	__u8 grown_memory; /* of RECORD_GROWTH: enum grown_memory */
	__u32 probability; /* of a block to be chosen: a share of OFF_CPU_CERTAIN */
	/* Tells the blocks of a thread apart; of RECORD_INTERRUPT: enum softirq_vector */
	__u32 sequence;
	/* Of RECORD_BLOCK_LATE, _FOUND and RECORD_LOCK: time since the beginning; of RECORD_TIMES:
	 * for how long the thread did not run */
	__u64 length_ns;
	__u32 woken_tid; /* of RECORD_WAKER; `sequence` is that of its block */
	/* Of the end of a block: the time before it in which the thread was awake and got no CPU:
	 * what the kernel counts in its sched_info, or the time since its waker was seen. 0: not
	 * known, or it was preempted */
	__u32 runnable_us;
	/* Of a block and of RECORD_QUEUED: for how long the thread was in run queues since the last
	 * record that told of it, as the kernel counts. QUEUED_UNKNOWN: `runnable_us`, or the block
	 * itself if it was preempted, stands for blocks like it */
	__u64 queued_ns;
	__u64 ran_ns; /* of RECORD_TIMES: for how long it had a CPU */
	__u64 lock; /* address of the lock for which it waited */
	__u64 grown_bytes; /* what a RECORD_GROWTH or RECORD_ALLOC stands for */
	__u64 address; /* of the memory of RECORD_ALLOC and RECORD_FREE */
	__u64 alloc_bytes; /* size of that of RECORD_ALLOC */
	char thread_comm[TASK_COMM_LEN];
	char process_comm[TASK_COMM_LEN]; /* of the thread group's leader */
	/* Of the end of a block: the process that had the CPU until then; "": none, or not known */
	char rival_comm[TASK_COMM_LEN];
	__u64 frames[MAX_FRAMES]; /* words */
};

#define EVENT_HEADER_BYTES 168 /* before the frames */

_Static_assert(sizeof(struct sample_event) == EVENT_HEADER_BYTES + 8 * MAX_FRAMES,
	       "no hidden padding");

#endif

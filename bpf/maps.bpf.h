/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* All maps. Declared here for every program, defined once in maps.bpf.c. */
#ifndef BPF_MAPS_BPF_H
#define BPF_MAPS_BPF_H

#include "bpf/kernel.bpf.h"
#include "bpf/runtime.bpf.h"
#include "bpf/shared/cgroups.h"
#include "bpf/shared/code_copy.h"
#include "bpf/shared/events.h"
#include "bpf/shared/growth.h"
#include "bpf/shared/heap.h"
#include "bpf/shared/irq.h"
#include "bpf/shared/lock.h"
#include "bpf/shared/off_cpu.h"
#include "bpf/shared/stats.h"
#include "bpf/shared/wall.h"
#include "bpf/unwind.bpf.h"
#include "bpf/vma_walk.bpf.h"

#ifdef MAPS_DEFINE
#define MAP
#else
#define MAP extern
#endif

#define FILTER_MAX_ENTRIES 16384
#define MAX_BOUND_PROCESSES 32768
#define COPIED_CODE_BITS 13
#define FRAMES_MAX_COPY 512 /* words of frames that are copied at once */

struct comm_key {
	char comm[TASK_COMM_LEN]; /* padded with NULs */
};

/* Samples on their way to the agent, which polls, and copies of code objects (shared/code_copy.h).
 * The agent sets the size before loading, by CPUs, rate and polling interval. When it is full,
 * samples are lost and counted. */
MAP struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} samples SEC(".maps");

/* One record under construction for each CPU: a sample is larger than the BPF stack. A
 * perf_event program is never interrupted by another one on the same CPU. But it may interrupt
 * off_cpu_exit(), lock_end(), growth(), heap_alloc() and heap_call(): then it uses the second
 * record, and does not unwind. The values of such maps have at most 32 KB (PCPU_MIN_UNIT_SIZE). */
struct scratch {
	bpf_user_pt_regs_t saved_regs; /* of a task in the kernel */
	struct unwind_state unwind;
	struct sample_event event;
	/* To the verifier, words that are copied to the end of the event may reach into it. */
	__u64 behind_event[FRAMES_MAX_COPY];
};

MAP struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratch_of_cpu SEC(".maps");

MAP struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct python_chain);
} python_chains SEC(".maps");

/* One copy under construction for each CPU. */
MAP struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct code_copy);
} code_copies SEC(".maps");

/* The code objects that were copied last, by a hash. Two CPUs may write a place at a time: then a
 * code object is copied twice. */
MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << COPIED_CODE_BITS);
	__type(key, __u32);
	__type(value, __u64);
} copied_code SEC(".maps");

MAP struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hotspot_frame);
} hotspot_frames SEC(".maps");

/* By known_rule_place(). */
MAP struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NR_KNOWN_RULES);
	__type(key, __u32);
	__type(value, struct known_rule);
} known_rules SEC(".maps");

/* Counters. Written here, summed over the CPUs by the agent, which reads all of them at once. */
MAP struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bpf_counts);
} stats SEC(".maps");

/* The thread that runs next on a CPU, between sched_switch and sched_exit_tp. */
struct off_cpu_turn {
	__u64 end_ns; /* of its block */
	__u64 length_ns;
	__u32 probability;
	__u32 tid; /* 0: its block was not chosen */
	/* Whether off_cpu_exit(), lock_end(), growth(), heap_alloc() or heap_call() is at work, or
	 * a record is being sent */
	__u32 is_unwinding;
	__u16 was_preempted; /* this and the next: when the block began */
	__u16 was_throttled;
	__u32 sequence; /* of a block whose waker or beginning was sent */
	__u32 runnable_us; /* as in the record, if the kernel does not count it */
	__u32 was_begun; /* a record RECORD_BLOCK_BEGIN was sent */
	__u64 run_delay_ns; /* as in the slot; RUN_DELAY_UNKNOWN */
	char rival_comm[TASK_COMM_LEN]; /* as in the record */
};

MAP struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct off_cpu_turn);
} off_cpu_turns SEC(".maps");

/* By the lowest bits of thread ids. One slot unless blocks are wanted; the agent reads it. */
MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, OFF_CPU_SLOTS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct off_cpu_slot);
} off_cpu_slots SEC(".maps");

/* By the lowest bits of thread ids, too. One slot unless the sums of threads are wanted. */
MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, OFF_CPU_SLOTS);
	__type(key, __u32);
	__type(value, struct wall_slot);
} wall_slots SEC(".maps");

/* A wait for a lock that goes on. */
struct lock_wait {
	__u64 lock; /* its address; 0: none */
	__u64 begin_ns;
	__u32 tid;
	__u32 flags; /* shared/lock.h */
};

#define LOCK_SPINS 4 /* a power of 2; contexts: a thread, and three kinds of interrupts */

/* Waits of a CPU for spin locks, and how many waits were chosen on it. */
struct lock_spins {
	struct lock_wait waits[LOCK_SPINS]; /* of the innermost context last */
	__u32 nr;
	__u32 nr_chosen; /* of waits for all locks, since burst_ns */
	__u64 burst_ns;
};

MAP struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lock_spins);
} lock_spins SEC(".maps");

/* By the lowest bits of thread ids. One slot unless waits for locks are wanted. */
MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LOCK_SLOTS);
	__type(key, __u32);
	__type(value, struct lock_wait);
} lock_waits SEC(".maps");

/* One record under construction, of the thread that runs the iterator (thread_sweep.bpf.c). */
struct sweep_scratch {
	bpf_user_pt_regs_t saved_regs;
	__u64 regs[SWEEP_REGS];
	struct sample_event event;
};

MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sweep_scratch);
} sweep_scratch SEC(".maps");

/* The counts of resident pages of a memory when they were read last, by enum grown_memory. */
struct growth_slot {
	__u64 number; /* of the memory; 0: none */
	__s64 pages[GROWN_NR]; /* the common parts */
};

/* One slot unless growth is wanted. */
MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, GROWTH_SLOTS);
	__type(key, __u32);
	__type(value, struct growth_slot);
} growth_slots SEC(".maps");

/* Bytes of which points on their line choose some: distance.bpf.h. */
struct byte_line {
	__u64 distance; /* between two points, in bytes; 0: none yet */
	__u64 left; /* bytes of it that are left */
};

struct growth_cpu_slot {
	__u64 number;
	struct byte_line line; /* of growth */
	/* The parts of this CPU, from Linux 6.2 on, and where they are in the kernel's memory. */
	__s32 pages[GROWN_NR];
	__u64 places[GROWN_NR];
};

MAP struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, GROWTH_CPU_SLOTS);
	__type(key, __u32);
	__type(value, struct growth_cpu_slot);
} growth_cpu_slots SEC(".maps");

/* What growth() knows of a CPU. */
struct growth_cpu {
	__u64 offset; /* of its variables; 0: not known yet */
	__u64 map, value; /* addresses, to find it */
};

MAP struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct growth_cpu);
} growth_cpus SEC(".maps");

/* The last call of an allocator's function. */
struct heap_caller {
	__u64 ip, sp, return_address, size;
	__u32 tid;
};

/* An allocation that is sent. */
struct heap_allocation {
	__u64 address; /* 0: not known */
	__u64 bytes;
	__u64 weight; /* the bytes that it stands for … */
	__u64 interval; /* … if each one was taken, and not one of so many */
};

struct heap_cpu {
	struct heap_call_counts counts; /* the agent reads them */
	struct byte_line line; /* of what the calls allocate */
	struct heap_caller last;
	/* In memory, where the verifier does not tell its values apart. */
	struct heap_allocation chosen;
};

MAP struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct heap_cpu);
} heap_cpus SEC(".maps");

/* By the number of the CPU. The agent sets the size, and reads it. */
MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct irq_cpu);
} irq_cpus SEC(".maps");

/* Targets. Sized and written by the agent; filter_pids also written by follow.bpf.c, where it
 * keeps this size. An entry's value means nothing. They are preallocated: before Linux 6.1
 * perf_event programs may use no other hash. */
MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FILTER_MAX_ENTRIES);
	__type(key, __u32);
	__type(value, __u8);
} filter_pids SEC(".maps");

MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FILTER_MAX_ENTRIES);
	__type(key, __u32);
	__type(value, __u8);
} filter_tids SEC(".maps");

MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FILTER_MAX_ENTRIES);
	__type(key, struct comm_key);
	__type(value, __u8);
} filter_comms SEC(".maps");

/* Cgroups that came and went, for the agent, which polls. Room for 240 of the longest. */
MAP struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} cgroup_events SEC(".maps");

/* One event under construction for each CPU: a path is larger than the BPF stack. */
MAP struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cgroup_event);
} cgroup_scratch SEC(".maps");

/* For unwinding; see shared/cfi.h. Of `processes` the least recently sampled go first, so that
 * nobody's sleeping forks keep others out; it is preallocated, as all hashes here. The other two
 * are filled by the agent through mmap(2). */
MAP struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MAX_BOUND_PROCESSES);
	__type(key, __u32);
	__type(value, __u64);
} processes SEC(".maps");

MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_TABLE_SLOTS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct table_slot);
} tables SEC(".maps");

/* Files that have a slot, by what mappings know them by. Written by the agent. */
MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_KNOWN_FILES);
	__type(key, struct file_key);
	__type(value, __u32);
} files SEC(".maps");

/* Walks through mappings, of the sampler and of the agent's question (enum vma_asker). */
MAP struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NR_VMA_ASKERS);
	__type(key, __u32);
	__type(value, struct vma_walk);
} vma_walks SEC(".maps");

/* The answer to the agent's question: file_key.bpf.c. */
MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct file_key);
} found_file_key SEC(".maps");

struct arena_chunk {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ARENA_CHUNK_BLOCKS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, ARENA_BLOCK_BYTES);
};

MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, ARENA_MAX_CHUNKS);
	__type(key, __u32);
	__array(values, struct arena_chunk);
} arena SEC(".maps");

/* Returns `bytes` (a power of 2, constant) of the arena, at an offset from a unit that is a
 * multiple of it; NULL if there is no chunk. Costs two array lookups, which the JIT turns into
 * loads. */
static __always_inline const void *arena_at(__u32 unit, __u32 offset, __u32 bytes)
{
	__u64 address = (__u64)unit * ARENA_UNIT + offset;
	__u32 chunk = address / ARENA_CHUNK_BYTES;
	__u32 block = address / ARENA_BLOCK_BYTES % ARENA_CHUNK_BLOCKS;
	const char *value;
	void *blocks;

	blocks = bpf_map_lookup_elem(&arena, &chunk);
	if (!blocks)
		return NULL;
	value = bpf_map_lookup_elem(blocks, &block);
	return value ? value + (address & (ARENA_BLOCK_BYTES - bytes)) : NULL;
}

static __always_inline struct vma_walk *get_walk(__u32 asker)
{
	return bpf_map_lookup_elem(&vma_walks, &asker);
}

static __always_inline struct off_cpu_turn *get_turn(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&off_cpu_turns, &zero);
}

static __always_inline struct scratch *get_scratch(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratch_of_cpu, &zero);
}

static __always_inline struct python_chain *get_python_chain(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&python_chains, &zero);
}

static __always_inline struct hotspot_frame *get_hotspot_frame(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&hotspot_frames, &zero);
}

static __always_inline void stat_add(__u32 stat)
{
	__u32 zero = 0;
	struct bpf_counts *counts = bpf_map_lookup_elem(&stats, &zero);

	if (counts && stat < STAT_NR)
		counts->of[stat]++;
}

#endif

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The contract for allocations of programs.
 *
 * Allocators that follow OpenTelemetry's contract sample allocations by their bytes, and tell of
 * them with the USDT probes otel_memory:alloc(ptr, size, weighted_bytes) and otel_memory:free(ptr).
 * BPF programs are attached to these probes as uprobes. They take one of `heap_interval` calls of
 * the first probe at random and send RECORD_ALLOC, which stands for weighted_bytes * heap_interval
 * bytes. For each call of the second probe they send RECORD_FREE, without frames. The agent ignores
 * those of allocations that it does not have.
 *
 * Of chosen processes that tell nothing, the calls of the allocator's functions are sampled by
 * uprobes, in windows of time: the trap takes longer than the call. The bytes of the calls on a CPU
 * form a line as those of growth do (growth.h), and what is chosen is sent with RECORD_ALLOC,
 * without an address. */
#ifndef BPF_SHARED_HEAP_H
#define BPF_SHARED_HEAP_H

#include <linux/types.h>

/* Limits of heap_interval. The agent raises it if many records come, and lowers it if few do. */
#define HEAP_MIN_INTERVAL 1
#define HEAP_MAX_INTERVAL (1 << 16)

#define HEAP_MAX_WEIGHT (1ULL << 44) /* 16 TiB: a program that tells of more errs */

/* Where the arguments of a probe are: the cookie of its uprobe, with 20 bits for each of them. An
 * argument is in a register, or in memory near the address in a register. */
#define HEAP_MAX_ARGUMENTS 3
#define HEAP_ARGUMENT_BITS 20
#define HEAP_REGISTER_BITS 5 /* a word of bpf_user_pt_regs_t */
#define HEAP_IN_MEMORY (1U << 5)
#define HEAP_IS_SHORT (1U << 6) /* 4 bytes without a sign, else 8 */
#define HEAP_OFFSET_SHIFT 7 /* of memory, biased by … */
#define HEAP_OFFSET_BIAS (1 << 12)

#define HEAP_REGISTER(word) ((__u64)(word))
#define HEAP_ARGUMENT(number, argument) ((argument) << (HEAP_ARGUMENT_BITS * (number)))

/* The arguments are where those of a function are: what is known without cookies, before Linux
 * 5.15. */
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
#define HEAP_USUAL_ARGUMENTS                                                                       \
	(HEAP_ARGUMENT(0, HEAP_REGISTER(0)) | HEAP_ARGUMENT(1, HEAP_REGISTER(1)) |                 \
	 HEAP_ARGUMENT(2, HEAP_REGISTER(2)))
#else
#define HEAP_USUAL_ARGUMENTS                                                                       \
	(HEAP_ARGUMENT(0, HEAP_REGISTER(14)) | HEAP_ARGUMENT(1, HEAP_REGISTER(13)) |               \
	 HEAP_ARGUMENT(2, HEAP_REGISTER(12)))
#endif

enum heap_probe_kind {
	HEAP_PROBE_ALLOC,
	HEAP_PROBE_FREE,
	HEAP_NR_CONTRACT_KINDS,
	/* The beginning of a function that allocates. Its first argument here is the size. */
	HEAP_PROBE_CALL = HEAP_NR_CONTRACT_KINDS,
	HEAP_NR_PROBE_KINDS,
};

/* Of the arguments of a call. */
#define HEAP_HAS_FACTOR (1ULL << 63) /* the second one multiplies the size */
#define HEAP_IS_SLOW (1ULL << 62) /* the trap takes about ten times as long */
#define HEAP_IS_TRIAL (1ULL << 61) /* of the agent itself, to see how long it takes: never chosen */

/* When calls count, and for how much: the numbers of heap_window. */
enum heap_window_number {
	HEAP_WINDOW_FROM_NS, /* CLOCK_MONOTONIC */
	HEAP_WINDOW_UNTIL_NS,
	HEAP_WINDOW_MEAN_BYTES, /* the mean distance of the bytes that are chosen */
	HEAP_WINDOW_SCALE, /* what a byte stands for, in 1 / HEAP_SCALE_ONE */
	HEAP_WINDOW_NUMBERS,
};

#define HEAP_SCALE_ONE 1024
#define HEAP_MAX_SCALE (HEAP_SCALE_ONE << 13)
#define HEAP_MAX_CALL_BYTES (1ULL << 38) /* of a call: 256 GiB; larger ones are left out */

/* Calls on a CPU that counted. */
struct heap_call_counts {
	__u64 nr, nr_slow; /* the slow ones are among all */
	__u64 bytes;
	__u64 stacks_ns; /* CPU time for the stacks of those that were chosen */
};

/* A probe of a file. */
struct heap_probe {
	__u64 offset; /* of its instruction in the file */
	__u64 semaphore; /* offset of its semaphore in the file; 0: it has none */
	__u64 arguments;
	__u32 kind; /* enum heap_probe_kind */
	__u32 pad;
};

#define HEAP_MAX_PROBES 64 /* of a file */

struct heap_probes {
	__u64 nr;
	struct heap_probe of[HEAP_MAX_PROBES];
};

#endif

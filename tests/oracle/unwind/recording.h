/* SPDX-License-Identifier: Apache-2.0 */
/* Two records of the same instants. The BPF program `sample` is attached to a perf event; with the
 * knob `pass_to_perf` it lets that event write its own record as well, with the registers and a
 * copy of the stack that it had just unwound. Nothing of the process runs between the two. */
#ifndef TESTS_UNWIND_RECORDING_H
#define TESTS_UNWIND_RECORDING_H

#include "base/cleanup.h"
#include "base/err.h"
#include "bpf/shared/cfi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NR_DWARF_REGISTERS                                                                         \
	(NR_REGS + 1) /* in the order of enum unwind_register, then the instruction pointer */

/* A stack that perf copied. */
struct perf_copy {
	uint64_t time_ns;
	uint32_t cpu;
	uint32_t tid;
	uint64_t registers[NR_DWARF_REGISTERS];
	uint8_t *bytes; /* owned; from the stack pointer upwards */
	size_t len;
	bool is_truncated; /* there may be more */
};

/* A stack that the BPF program found. */
struct bpf_stack {
	uint64_t time_ns;
	uint32_t cpu;
	uint32_t tid;
	uint32_t result; /* enum unwind_result */
	size_t nr_frames;
	uint64_t *frames; /* owned; user frames, leaf first, without flags */
};

struct recording_opts {
	uint32_t pid;
	uint32_t frequency_hz;
};

struct recording;

/* The maps that unwinding needs, by descriptor; borrowed from the recording. */
struct recording_maps {
	int processes_fd;
	int tables_fd;
	int arena_fd;
};

struct recording_losses {
	uint64_t nr_perf_lost;
	uint64_t nr_bpf_lost;
	uint64_t nr_without_registers; /* kernel threads, 32-bit code */
};

/* Loads the BPF programs and starts to record. Errors: what libbpf,
 * perf_event_open(2) and mmap(2) say. */
int recording_open(const struct recording_opts *opts, struct recording **ret_recording) must_check;
void recording_close(struct recording *recording);
DEFINE_FREEP(struct recording, recording_close)

struct recording_maps recording_get_maps(const struct recording *recording);

/* Takes out of the rings what is there. Errors: -EBADMSG, -ENOSPC, -ENOMEM. */
int recording_drain(struct recording *recording) must_check;

/* Stops, and calls `handle` for each stack, with NULL where perf's copy of it is not there. */
void recording_pair(struct recording *recording,
		    void (*handle)(const struct bpf_stack *stack, const struct perf_copy *copy,
				   void *data),
		    void *data);

struct recording_losses recording_get_losses(const struct recording *recording);

#endif

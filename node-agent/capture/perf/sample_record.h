/* SPDX-License-Identifier: Apache-2.0 */
/* The records of an event that samples with registers and a copy of the stack, and of one that tells of tasks:
 *
 *	sample_type	SAMPLE_RECORD_TYPE, SAMPLE_RECORD_TAIL_TYPE
 *	sample_id_all; sample_regs_user as perf_regs.h says; comm, task
 *
 *	SAMPLE	header | ip | pid tid | time | cpu | nr, callchain | abi, registers | size, stack, how much of it is real
 *	others	header | their own fields | pid tid | time | cpu */
#ifndef CAPTURE_PERF_SAMPLE_RECORD_H
#define CAPTURE_PERF_SAMPLE_RECORD_H

#include "base/err.h"

#include <linux/perf_event.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAMPLE_RECORD_TAIL_TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)
#define SAMPLE_RECORD_TYPE                                                                         \
	(SAMPLE_RECORD_TAIL_TYPE | PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN |                        \
	 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

enum sample_record_kind {
	SAMPLE_RECORD_OTHER, /* of no interest */
	SAMPLE_RECORD_SAMPLE,
	SAMPLE_RECORD_COMM, /* a thread has another name */
	SAMPLE_RECORD_FORK, /* a thread or process was made */
	SAMPLE_RECORD_EXIT, /* a thread has ended */
	SAMPLE_RECORD_LOST, /* records found no room before this one */
	SAMPLE_RECORD_THROTTLE, /* the event was held back */
};

/* Pointers are into the record, and need not be aligned. */
struct sample_record {
	enum sample_record_kind kind;
	uint64_t time_ns; /* by the event's clock */
	uint32_t pid, tid; /* whom it is about */

	/* SAMPLE */
	uint32_t cpu;
	bool in_user; /* the CPU was in user space */
	uint64_t ip;
	const uint8_t *chain; /* nr_chain addresses and marks (PERF_CONTEXT_…) */
	size_t nr_chain;
	uint64_t abi; /* enum perf_sample_regs_abi */
	const uint8_t *regs; /* perf_regs_nr values; NULL with PERF_SAMPLE_REGS_ABI_NONE */
	const uint8_t *stack;
	size_t stack_bytes; /* that are real */
	size_t stack_room; /* that could have been */

	uint32_t parent_pid, parent_tid; /* FORK */

	/* COMM */
	const char *comm; /* NUL-terminated */
	bool is_exec; /* as far as the kernel marks it */

	uint64_t nr_lost; /* LOST */
};

/* Where a record's time is, from its beginning. At most 65535; may lie behind the end of a record that is too short. */
size_t sample_record_time_offset(const struct perf_event_header *header);

/* Parses the `len` bytes of one record, header included. Errors: -EBADMSG. */
int sample_record_parse(const void *bytes, size_t len, struct sample_record *ret_record) must_check;

/* The addresses of the kernel's part of the call chain, leaf first; returns how many there are, at most `max`. */
size_t sample_record_kernel_frames(const struct sample_record *record, __u64 *ret_frames,
				   size_t max);

/* The user's part: where it begins in the record, not aligned, and how many addresses there are. */
size_t sample_record_user_chain(const struct sample_record *record, const uint8_t **ret_chain);

#endif

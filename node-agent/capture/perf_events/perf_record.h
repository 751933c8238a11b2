/* SPDX-License-Identifier: Apache-2.0 */
/* The records that the kernel writes into a perf ring buffer (perf_event_open(2)), for events
 * opened with sample_id_all and one of these layouts as sample_type:
 *
 *	PERF_LAYOUT_TIME	header | own fields | time
 *	PERF_LAYOUT_TASK	header | own fields | pid tid | time | cpu
 *	PERF_LAYOUT_STACK	the same, and samples are
 *				header | ip | pid tid | time | cpu | nr, callchain |
 *				abi, registers | size, stack, how much of it is real */
#ifndef CAPTURE_PERF_EVENTS_PERF_RECORD_H
#define CAPTURE_PERF_EVENTS_PERF_RECORD_H

#include "base/err.h"

#include <linux/perf_event.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_LAYOUT_TIME PERF_SAMPLE_TIME
#define PERF_LAYOUT_TASK (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)
#define PERF_LAYOUT_STACK                                                                          \
	(PERF_LAYOUT_TASK | PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |       \
	 PERF_SAMPLE_STACK_USER)

/* Pointers are into the record, and need not be aligned. Fields of other types are 0. */
struct perf_record {
	uint32_t type; /* PERF_RECORD_..., also of kinds that are not parsed */
	uint64_t time_ns; /* by the event's clock */
	uint32_t pid, tid; /* of the task that the record is about */

	/* COMM */
	const char *comm; /* NUL-terminated */
	bool is_exec; /* as far as the kernel marks it (from Linux 3.16 on) */

	/* FORK, EXIT */
	uint32_t parent_pid, parent_tid;

	/* MMAP2 and MMAP. The latter is from kernels before Linux 3.16, which do not report the
	 * file: the inode is 0 */
	uint64_t start;
	uint64_t len; /* the range does not wrap around */
	uint64_t file_offset;
	uint64_t inode, inode_generation;
	uint32_t dev_major, dev_minor;
	bool is_executable;
	const char *path; /* NUL-terminated */

	/* LOST */
	uint64_t nr_lost; /* records that found no room before this one */

	/* SAMPLE */
	uint32_t cpu;
	bool in_user; /* the CPU was in user space */
	uint64_t ip;
	const uint8_t *chain; /* nr_chain addresses and marks (PERF_CONTEXT_...) */
	size_t nr_chain;
	uint64_t abi; /* enum perf_sample_regs_abi */
	/* A value for each bit of sample_regs_user; NULL with PERF_SAMPLE_REGS_ABI_NONE. */
	const uint8_t *regs;
	const uint8_t *stack;
	size_t stack_bytes; /* copied by the kernel */
	size_t stack_room; /* the largest size that it could have copied */
};

/* Offset of the time in a record of the layout `sample_type`. At most 65535; it may lie behind the
 * end of a record that is too short. */
size_t perf_record_time_offset(const struct perf_event_header *header, uint64_t sample_type);

/* Parses the `len` bytes of one record, header included, of an event opened with `attr`, of
 * which sample_type and sample_regs_user matter. Of record types not named above only type and
 * time are set. Errors: -EBADMSG. */
int perf_record_parse(const void *bytes, size_t len, const struct perf_event_attr *attr,
		      struct perf_record *ret_record) must_check;

/* Copies the addresses of the kernel's part of a sample's call chain, leaf first, at most `max`.
 * Returns their number. */
size_t perf_record_kernel_frames(const struct perf_record *record, __u64 *ret_frames, size_t max);

/* Finds the user's part of the call chain in the record, where it is not aligned. Returns
 * its number of addresses. */
size_t perf_record_user_chain(const struct perf_record *record, const uint8_t **ret_chain);

#endif

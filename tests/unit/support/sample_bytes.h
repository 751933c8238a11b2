/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the records of an event with the layout PERF_LAYOUT_STACK
 * (capture/perf_events/perf_record.h). */
#ifndef TESTS_UNIT_SAMPLE_BYTES_H
#define TESTS_UNIT_SAMPLE_BYTES_H

#include "perf_bytes.h"

#include <stdint.h>

#define SAMPLE_BYTES_NR_REGS 17
#define SAMPLE_BYTES_REGS ((UINT64_C(1) << SAMPLE_BYTES_NR_REGS) - 1) /* as sample_regs_user */

/* Contents of a sample; regs[i] is i + 1, the stack's bytes are 's'. */
struct sample_case {
	uint64_t time_ns;
	uint32_t pid, tid;
	uint16_t misc;
	const uint64_t *chain;
	size_t nr_chain;
	uint64_t abi;
	uint64_t stack_room; /* in all, at most 128 */
	uint64_t stack_bytes; /* real ones */
};

/* The size into the header, of what ends otherwise than with a time. */
static inline void sample_bytes_end(struct perf_bytes *out)
{
	uint16_t size = (uint16_t)out->len;

	memcpy(out->bytes + offsetof(struct perf_event_header, size), &size, sizeof(size));
}

static inline struct perf_bytes sample_bytes(const struct sample_case *c)
{
	struct perf_bytes out = perf_bytes_begin(PERF_RECORD_SAMPLE, c->misc);

	perf_bytes_u64(&out, 0xabc);
	perf_bytes_u32(&out, c->pid);
	perf_bytes_u32(&out, c->tid);
	perf_bytes_u64(&out, c->time_ns);
	perf_bytes_u32(&out, 3);
	perf_bytes_u32(&out, 0);
	perf_bytes_u64(&out, c->nr_chain);
	perf_bytes_append(&out, c->chain, c->nr_chain * sizeof(uint64_t));
	perf_bytes_u64(&out, c->abi);
	for (size_t i = 0; c->abi != PERF_SAMPLE_REGS_ABI_NONE && i < SAMPLE_BYTES_NR_REGS; i++)
		perf_bytes_u64(&out, i + 1);
	perf_bytes_u64(&out, c->stack_room);
	for (uint64_t i = 0; i < c->stack_room; i++)
		perf_bytes_append(&out, "s", 1);
	if (c->stack_room > 0)
		perf_bytes_u64(&out, c->stack_bytes);
	sample_bytes_end(&out);
	return out;
}

/* Last fields of all records but samples. */
static inline void sample_bytes_tail(struct perf_bytes *out, uint64_t time_ns)
{
	perf_bytes_u32(out, 70);
	perf_bytes_u32(out, 71);
	perf_bytes_u64(out, time_ns);
	perf_bytes_u32(out, 5);
	perf_bytes_u32(out, 0);
	sample_bytes_end(out);
}

static inline struct perf_bytes sample_bytes_comm(uint32_t pid, uint32_t tid, const char *comm,
						  uint16_t misc, uint64_t time_ns)
{
	struct perf_bytes out = perf_bytes_begin(PERF_RECORD_COMM, misc);

	perf_bytes_u32(&out, pid);
	perf_bytes_u32(&out, tid);
	perf_bytes_text(&out, comm);
	sample_bytes_tail(&out, time_ns);
	return out;
}

/* A FORK or EXIT. */
static inline struct perf_bytes sample_bytes_task(uint32_t type, uint32_t pid, uint32_t tid,
						  uint32_t ppid, uint64_t time_ns)
{
	struct perf_bytes out = perf_bytes_begin(type, 0);

	perf_bytes_u32(&out, pid);
	perf_bytes_u32(&out, ppid);
	perf_bytes_u32(&out, tid);
	perf_bytes_u32(&out, ppid);
	perf_bytes_u64(&out, time_ns);
	sample_bytes_tail(&out, time_ns);
	return out;
}

#endif

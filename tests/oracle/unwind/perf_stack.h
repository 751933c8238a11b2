/* SPDX-License-Identifier: Apache-2.0 */
/* The perf event that copies a stack and the registers that go with it, and the records it writes
 * (perf_event_open(2), PERF_RECORD_SAMPLE). */
#ifndef TESTS_UNWIND_PERF_STACK_H
#define TESTS_UNWIND_PERF_STACK_H

#include "base/err.h"
#include "tests/oracle/unwind/recording.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_stack {
	bool is_sample; /* the next fields are set */
	bool has_registers; /* and these */
	uint64_t time_ns;
	uint32_t tid;
	uint64_t registers[NR_DWARF_REGISTERS];
	const uint8_t *bytes; /* borrowed from the record */
	size_t len;
	bool is_truncated; /* as much was copied as there was room for */
	uint64_t nr_lost; /* records that found no room before this one */
};

/* Not enabled yet. */
struct perf_event_attr perf_stack_attr(uint32_t frequency_hz);

/* Errors: -EBADMSG. */
int perf_stack_parse(const void *record, size_t len, struct perf_stack *ret_stack) must_check;

#endif

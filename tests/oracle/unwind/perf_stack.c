/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/oracle/unwind/perf_stack.h"

#include "base/cleanup.h"

#include <asm/perf_regs.h>
#include <string.h>
#include <time.h>

/* As much as a record can hold beside the rest: the size of a record has 16 bits. The
 * kernel shortens it by that. */
#define STACK_BYTES 65528

/* perf's number of each register, in DWARF's order. */
#if CFI_IS_ARM64
#define NR_PERF_REGISTERS PERF_REG_ARM64_MAX
static const uint8_t perf_numbers[NR_DWARF_REGISTERS] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,
							  9,  10, 11, 12, 13, 14, 15, 16, 17,
							  18, 19, 20, 21, 22, 23, 24, 25, 26,
							  27, 28, 29, 30, 31, 32 };
#else
#define NR_PERF_REGISTERS PERF_REG_X86_64_MAX
static const uint8_t perf_numbers[NR_DWARF_REGISTERS] = {
	PERF_REG_X86_AX,  PERF_REG_X86_DX,  PERF_REG_X86_CX,  PERF_REG_X86_BX,	PERF_REG_X86_SI,
	PERF_REG_X86_DI,  PERF_REG_X86_BP,  PERF_REG_X86_SP,  PERF_REG_X86_R8,	PERF_REG_X86_R9,
	PERF_REG_X86_R10, PERF_REG_X86_R11, PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14,
	PERF_REG_X86_R15, PERF_REG_X86_IP,
};
#endif

static uint64_t wanted_registers(void)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < NR_DWARF_REGISTERS; i++)
		mask |= UINT64_C(1) << perf_numbers[i];
	return mask;
}

struct perf_event_attr perf_stack_attr(uint32_t frequency_hz)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = frequency_hz,
		.disabled = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER,
		.sample_regs_user = wanted_registers(),
		.sample_stack_user = STACK_BYTES,
	};
}

/* A record that is read from its beginning to its end. */
struct reader {
	const uint8_t *next;
	size_t nr_left;
	bool failed;
};

static const void *take(struct reader *reader, size_t len)
{
	const void *bytes = reader->next;

	if (reader->failed || len > reader->nr_left) {
		reader->failed = true;
		return NULL;
	}
	reader->next += len;
	reader->nr_left -= len;
	return bytes;
}

static uint64_t take_u64(struct reader *reader)
{
	const void *bytes = take(reader, sizeof(uint64_t));
	uint64_t value = 0;

	if (bytes)
		memcpy(&value, bytes, sizeof(value));
	return value;
}

/* They come in the order of perf's numbers. */
static void take_registers(struct reader *reader, uint64_t registers[static NR_DWARF_REGISTERS])
{
	for (int number = 0; number < NR_PERF_REGISTERS; number++) {
		const uint8_t *found = memchr(perf_numbers, number, sizeof(perf_numbers));

		if (found)
			registers[found - perf_numbers] = take_u64(reader);
	}
}

/* PERF_SAMPLE_STACK_USER: the room, that many bytes, and how many of them were copied. */
static void take_stack(struct reader *reader, struct perf_stack *stack)
{
	uint64_t room = take_u64(reader);

	if (room == 0)
		return;
	stack->bytes = take(reader, room);
	stack->len = take_u64(reader);
	stack->is_truncated = stack->len == room;
	if (stack->len > room)
		reader->failed = true;
}

static void take_sample(struct reader *reader, struct perf_stack *stack)
{
	stack->is_sample = true;
	stack->tid = (uint32_t)(take_u64(reader) >> 32);
	stack->time_ns = take_u64(reader);
	if (take_u64(reader) != PERF_SAMPLE_REGS_ABI_64)
		return;
	stack->has_registers = true;
	take_registers(reader, stack->registers);
	take_stack(reader, stack);
}

int perf_stack_parse(const void *record, size_t len, struct perf_stack *ret_stack)
{
	const struct perf_event_header *header = record;
	struct reader reader = { record, len, false };
	struct perf_stack stack = { 0 };

	(void)take(&reader, sizeof(*header));
	if (reader.failed)
		return -EBADMSG;
	if (header->type == PERF_RECORD_SAMPLE) {
		take_sample(&reader, &stack);
	} else if (header->type == PERF_RECORD_LOST) {
		(void)take_u64(&reader);
		stack.nr_lost = take_u64(&reader);
	}
	if (reader.failed)
		return -EBADMSG;
	*ret_stack = stack;
	return 0;
}

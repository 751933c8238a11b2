/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/perf_events/perf_record.h"

#include "bpf/shared/events.h"
#include "sample_bytes.h"
#include "unit.h"

#define TIME_NS 123456789012345

static const uint64_t chain[] = { (uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000010,
				  0xffffffff81000020, (uint64_t)PERF_CONTEXT_USER, 0x401000 };

static const struct sample_case whole = {
	.time_ns = TIME_NS,
	.pid = 7,
	.tid = 8,
	.misc = PERF_RECORD_MISC_KERNEL,
	.chain = chain,
	.nr_chain = array_len(chain),
	.abi = PERF_SAMPLE_REGS_ABI_64,
	.stack_room = 64,
	.stack_bytes = 48,
};

static const struct perf_event_attr attr = {
	.sample_type = PERF_LAYOUT_STACK,
	.sample_regs_user = SAMPLE_BYTES_REGS,
};

static struct perf_record parse(const struct perf_bytes *in)
{
	struct perf_record record;

	assert_int_equal(perf_record_parse(in->bytes, in->len, &attr, &record), 0);
	return record;
}

static void assert_refused(const struct perf_bytes *in)
{
	struct perf_record record;

	assert_int_equal(perf_record_parse(in->bytes, in->len, &attr, &record), -EBADMSG);
}

static uint64_t time_by_offset(const struct perf_bytes *in)
{
	struct perf_event_header header;
	uint64_t time_ns;

	memcpy(&header, in->bytes, sizeof(header));
	memcpy(&time_ns, in->bytes + perf_record_time_offset(&header, attr.sample_type),
	       sizeof(time_ns));
	return time_ns;
}

static void a_sample_has_registers_and_stack(void **state)
{
	struct perf_bytes in = sample_bytes(&whole);
	struct perf_record record = parse(&in);
	(void)state;

	assert_int_equal(record.type, PERF_RECORD_SAMPLE);
	assert_int_equal(record.time_ns, TIME_NS);
	assert_int_equal(time_by_offset(&in), TIME_NS);
	assert_int_equal(record.pid, 7);
	assert_int_equal(record.tid, 8);
	assert_int_equal(record.cpu, 3);
	assert_int_equal(record.ip, 0xabc);
	assert_false(record.in_user);
	assert_int_equal(record.abi, PERF_SAMPLE_REGS_ABI_64);
	assert_int_equal(record.stack_room, 64);
	assert_int_equal(record.stack_bytes, 48);
	assert_memory_equal(record.stack, "ssss", 4);

	for (size_t i = 0; i < SAMPLE_BYTES_NR_REGS; i++) {
		uint64_t value;

		memcpy(&value, record.regs + i * sizeof(value), sizeof(value));
		assert_int_equal(value, i + 1);
	}
}

static void the_user_chain_is_without_marks_and_kernel_frames(void **state)
{
	struct perf_bytes in = sample_bytes(&whole);
	struct perf_record record = parse(&in);
	const uint8_t *user;
	uint64_t ip;
	(void)state;

	assert_int_equal(perf_record_user_chain(&record, &user), 1);
	memcpy(&ip, user, sizeof(ip));
	assert_int_equal(ip, 0x401000);
	record.nr_chain = 4; /* the mark is the last */
	assert_int_equal(perf_record_user_chain(&record, &user), 0);
	record.nr_chain = 0;
	assert_int_equal(perf_record_user_chain(&record, &user), 0);
	assert_null(user);
}

static void kernel_frames_are_without_marks_and_user_frames(void **state)
{
	struct perf_bytes in = sample_bytes(&whole);
	struct perf_record record = parse(&in);
	__u64 frames[MAX_KERNEL_FRAMES];
	(void)state;

	assert_int_equal(perf_record_kernel_frames(&record, frames, array_len(frames)), 2);
	assert_int_equal(frames[0], chain[1]);
	assert_int_equal(frames[1], chain[2]);
	assert_int_equal(perf_record_kernel_frames(&record, frames, 1), 1);
	record.nr_chain = 0;
	assert_int_equal(perf_record_kernel_frames(&record, frames, array_len(frames)), 0);
}

static void a_kernel_thread_has_neither(void **state)
{
	struct sample_case c = whole;
	(void)state;

	c.abi = PERF_SAMPLE_REGS_ABI_NONE;
	c.stack_room = 0;
	struct perf_bytes in = sample_bytes(&c);
	struct perf_record record = parse(&in);
	assert_int_equal(record.abi, PERF_SAMPLE_REGS_ABI_NONE);
	assert_null(record.regs);
	assert_int_equal(record.stack_bytes, 0);
	c.misc = PERF_RECORD_MISC_USER;
	in = sample_bytes(&c);
	assert_true(parse(&in).in_user);
}

static void tasks_and_names_are_told(void **state)
{
	struct perf_bytes in = sample_bytes_comm(7, 8, "worker", 0, TIME_NS);
	struct perf_record record = parse(&in);
	(void)state;

	assert_int_equal(record.type, PERF_RECORD_COMM);
	assert_int_equal(record.pid, 7);
	assert_int_equal(record.tid, 8);
	assert_string_equal(record.comm, "worker");
	assert_false(record.is_exec);
	assert_int_equal(record.time_ns, TIME_NS);
	assert_int_equal(time_by_offset(&in), TIME_NS);
	in = sample_bytes_comm(7, 7, "true", PERF_RECORD_MISC_COMM_EXEC, TIME_NS);
	assert_true(parse(&in).is_exec);

	in = sample_bytes_task(PERF_RECORD_FORK, 9, 10, 7, TIME_NS);
	record = parse(&in);
	assert_int_equal(record.type, PERF_RECORD_FORK);
	assert_int_equal(record.pid, 9);
	assert_int_equal(record.tid, 10);
	assert_int_equal(record.parent_pid, 7);
	assert_int_equal(record.parent_tid, 7);
	in = sample_bytes_task(PERF_RECORD_EXIT, 9, 10, 7, TIME_NS);
	assert_int_equal(parse(&in).type, PERF_RECORD_EXIT);
}

static void what_was_lost_or_held_back_is_told(void **state)
{
	struct perf_bytes in = perf_bytes_begin(PERF_RECORD_LOST, 0);
	(void)state;

	perf_bytes_u64(&in, 1);
	perf_bytes_u64(&in, 42);
	sample_bytes_tail(&in, TIME_NS);
	assert_int_equal(parse(&in).type, PERF_RECORD_LOST);
	assert_int_equal(parse(&in).nr_lost, 42);

	in = perf_bytes_begin(PERF_RECORD_THROTTLE, 0);
	sample_bytes_tail(&in, TIME_NS);
	assert_int_equal(parse(&in).type, PERF_RECORD_THROTTLE);
	in = perf_bytes_begin(PERF_RECORD_MAX + 1, 0);
	sample_bytes_tail(&in, TIME_NS);
	assert_int_equal(parse(&in).type, PERF_RECORD_MAX + 1);
}

/* The size in the header follows the cut: only the body is too short. */
static void assert_cuts_are_refused(const struct perf_bytes *in)
{
	for (size_t len = 0; len < in->len; len++) {
		uint8_t *copy = test_malloc(len + 1);
		uint16_t size = (uint16_t)len;
		struct perf_record record;

		memcpy(copy, in->bytes, len);
		if (len >= sizeof(struct perf_event_header))
			memcpy(copy + offsetof(struct perf_event_header, size), &size,
			       sizeof(size));
		assert_int_equal(perf_record_parse(copy, len, &attr, &record), -EBADMSG);
		test_free(copy);
	}
}

static void records_that_are_cut_short_are_refused(void **state)
{
	struct perf_bytes sample = sample_bytes(&whole);
	struct perf_bytes fork = sample_bytes_task(PERF_RECORD_FORK, 9, 10, 7, TIME_NS);
	struct perf_bytes lost = perf_bytes_begin(PERF_RECORD_LOST, 0);
	(void)state;

	perf_bytes_u64(&lost, 1);
	perf_bytes_u64(&lost, 42);
	sample_bytes_tail(&lost, TIME_NS);
	assert_cuts_are_refused(&sample);
	assert_cuts_are_refused(&fork);
	assert_cuts_are_refused(&lost);
}

/* Where a number stands in `whole`, and one that reaches behind the record. */
static void numbers_that_reach_beyond_the_record_are_refused(void **state)
{
	const size_t chain_at = 40, abi_at = chain_at + 8 + sizeof(chain);
	const size_t room_at = abi_at + 8 + SAMPLE_BYTES_NR_REGS * 8, real_at = room_at + 8 + 64;
	const struct {
		size_t at;
		uint64_t value;
	} cases[] = {
		{ chain_at, 1 << 20 },
		{ chain_at, UINT64_MAX },
		{ chain_at, UINT64_MAX / 8 + 1 },
		{ chain_at, 100 },
		{ abi_at, 3 },
		{ abi_at, UINT64_MAX },
		{ abi_at, PERF_SAMPLE_REGS_ABI_NONE }, /* a register is taken for the room */
		{ room_at, 65 },
		{ room_at, 72 },
		{ room_at, 80 },
		{ room_at, UINT64_MAX },
		{ real_at, 65 },
		{ real_at, UINT64_MAX },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct perf_bytes in = sample_bytes(&whole);

		memcpy(in.bytes + cases[i].at, &cases[i].value, sizeof(cases[i].value));
		if (cases[i].at == abi_at && cases[i].value == PERF_SAMPLE_REGS_ABI_NONE)
			in.bytes[abi_at + 8 + 7] = 0xff;
		assert_refused(&in);
	}
}

static void a_name_without_an_end_is_refused(void **state)
{
	struct perf_bytes in = sample_bytes_comm(7, 8, "seven..", 0, TIME_NS);
	(void)state;

	parse(&in);
	in.bytes[8 + 8 + 7] = 'x';
	assert_refused(&in);
}

static void a_size_that_is_not_the_length_is_refused(void **state)
{
	struct perf_bytes in = sample_bytes(&whole);
	(void)state;

	in.len -= 8;
	assert_refused(&in);
	in.len += 16;
	assert_refused(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_has_registers_and_stack),
		cmocka_unit_test(kernel_frames_are_without_marks_and_user_frames),
		cmocka_unit_test(the_user_chain_is_without_marks_and_kernel_frames),
		cmocka_unit_test(a_kernel_thread_has_neither),
		cmocka_unit_test(tasks_and_names_are_told),
		cmocka_unit_test(what_was_lost_or_held_back_is_told),
		cmocka_unit_test(records_that_are_cut_short_are_refused),
		cmocka_unit_test(numbers_that_reach_beyond_the_record_are_refused),
		cmocka_unit_test(a_name_without_an_end_is_refused),
		cmocka_unit_test(a_size_that_is_not_the_length_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

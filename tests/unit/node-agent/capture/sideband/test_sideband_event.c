/* SPDX-License-Identifier: Apache-2.0 */
/* From the bytes of a record to the event that it reports. */
#include "capture/sideband/sideband_event.h"

#include "perf_bytes.h"
#include "unit.h"

#include <sys/mman.h>

#define GENERATION 77
#define TIME_NS 123456789012345

static const struct perf_event_attr attr = { .sample_type = PERF_LAYOUT_TIME };

struct parsed {
	bool has_event;
	struct proc_event event;
	uint64_t nr_lost;
};

static struct perf_bytes task_bytes(uint32_t type, uint32_t pid, uint32_t ppid, uint32_t tid)
{
	struct perf_bytes out = perf_bytes_begin(type, 0);

	perf_bytes_u32(&out, pid);
	perf_bytes_u32(&out, ppid);
	perf_bytes_u32(&out, tid);
	perf_bytes_u32(&out, ppid);
	perf_bytes_u64(&out, TIME_NS - 1);
	perf_bytes_end(&out, TIME_NS);
	return out;
}

static struct perf_bytes comm_bytes(uint16_t misc, uint32_t pid, uint32_t tid)
{
	struct perf_bytes out = perf_bytes_begin(PERF_RECORD_COMM, misc);

	perf_bytes_u32(&out, pid);
	perf_bytes_u32(&out, tid);
	perf_bytes_text(&out, "true");
	perf_bytes_end(&out, TIME_NS);
	return out;
}

struct mmap_case {
	const char *path;
	uint64_t start;
	uint64_t len;
	uint32_t pid;
	uint32_t prot;
	int result;
	uint16_t misc;
	bool has_event;
};

static struct perf_bytes mmap2_bytes(const struct mmap_case *c)
{
	struct perf_bytes out = perf_bytes_begin(PERF_RECORD_MMAP2, c->misc);

	perf_bytes_u32(&out, c->pid);
	perf_bytes_u32(&out, c->pid + 1);
	perf_bytes_u64(&out, c->start);
	perf_bytes_u64(&out, c->len);
	perf_bytes_u64(&out, 0x26000);
	perf_bytes_u32(&out, 0xfe);
	perf_bytes_u32(&out, 0x0a);
	perf_bytes_u64(&out, 325835);
	perf_bytes_u64(&out, GENERATION);
	perf_bytes_u32(&out, c->prot);
	perf_bytes_u32(&out, MAP_PRIVATE);
	perf_bytes_text(&out, c->path);
	perf_bytes_end(&out, TIME_NS);
	return out;
}

/* Errors: those of perf_record_parse(). */
static int parse_as(const struct perf_bytes *in, bool marks_execs, struct parsed *ret_parsed)
{
	struct parsed parsed = { 0 };
	struct perf_record record;

	int r = perf_record_parse(in->bytes, in->len, &attr, &record);
	if (r < 0)
		return r;
	parsed.has_event = sideband_event_read(&record, marks_execs, &parsed.event);
	parsed.nr_lost = record.nr_lost;
	*ret_parsed = parsed;
	return 0;
}

static struct parsed parse(const struct perf_bytes *in)
{
	struct parsed parsed;

	assert_int_equal(parse_as(in, true, &parsed), 0);
	return parsed;
}

static void comm_is_an_exec_only_when_marked(void **state)
{
	(void)state;
	struct perf_bytes in = comm_bytes(PERF_RECORD_MISC_COMM_EXEC, 7, 9);
	struct parsed record = parse(&in);

	assert_true(record.has_event);
	assert_int_equal(record.event.kind, PROC_EXEC);
	assert_int_equal(record.event.pid, 7);
	assert_int_equal(record.event.time_ns, TIME_NS);

	in = comm_bytes(0, 7, 7);
	assert_false(parse(&in).has_event);
	in = comm_bytes(PERF_RECORD_MISC_COMM_EXEC, 0, 0);
	assert_false(parse(&in).has_event);
	in = comm_bytes(PERF_RECORD_MISC_COMM_EXEC, UINT32_MAX, UINT32_MAX);
	assert_false(parse(&in).has_event);
}

static void a_name_of_a_first_thread_is_an_exec_where_none_is_marked(void **state)
{
	struct perf_bytes first = comm_bytes(0, 7, 7), other = comm_bytes(0, 7, 9);
	struct parsed record = { 0 };
	(void)state;

	assert_int_equal(parse_as(&first, false, &record), 0);
	assert_true(record.has_event);
	assert_int_equal(record.event.kind, PROC_EXEC);
	assert_int_equal(parse_as(&other, false, &record), 0);
	assert_false(record.has_event);
}

static struct perf_bytes mmap_bytes(uint32_t pid, uint64_t len, const char *path)
{
	struct perf_bytes out = perf_bytes_begin(PERF_RECORD_MMAP, 0);

	perf_bytes_u32(&out, pid);
	perf_bytes_u32(&out, pid);
	perf_bytes_u64(&out, 0x1000);
	perf_bytes_u64(&out, len);
	perf_bytes_u64(&out, 0x26000);
	perf_bytes_text(&out, path);
	perf_bytes_end(&out, TIME_NS);
	return out;
}

static void old_kernels_tell_a_path_without_its_file(void **state)
{
	struct perf_bytes in = mmap_bytes(7, 0x2000, "/usr/lib/libc.so");
	struct parsed record = parse(&in);
	(void)state;

	assert_true(record.has_event);
	assert_int_equal(record.event.kind, PROC_MMAP);
	assert_int_equal(record.event.start, 0x1000);
	assert_int_equal(record.event.len, 0x2000);
	assert_int_equal(record.event.file_offset, 0x26000);
	assert_int_equal(record.event.inode, 0);
	assert_string_equal(record.event.path, "/usr/lib/libc.so");

	in = mmap_bytes(0, 0x2000, "/init");
	assert_false(parse(&in).has_event);
	in = mmap_bytes(7, 0, "/empty");
	assert_int_equal(parse_as(&in, true, &record), -EBADMSG);
	in = mmap_bytes(7, UINT64_MAX, "/wraps");
	assert_int_equal(parse_as(&in, true, &record), -EBADMSG);
}

struct task_case {
	uint32_t type;
	uint32_t pid;
	uint32_t ppid;
	uint32_t tid;
	bool has_event;
};

static enum proc_event_kind kind_of(const struct task_case *c)
{
	if (c->type == PERF_RECORD_EXIT)
		return PROC_EXIT;
	return c->pid == c->ppid ? PROC_THREAD : PROC_FORK;
}

static void threads_are_neither_forks_nor_exits_of_processes(void **state)
{
	static const struct task_case cases[] = {
		{ PERF_RECORD_FORK, 8, 7, 8, true },
		{ PERF_RECORD_FORK, 7, 7, 8, true },
		{ PERF_RECORD_FORK, 0, 7, 0, false },
		{ PERF_RECORD_FORK, 8, 0, 8, false },
		{ PERF_RECORD_FORK, UINT32_MAX, 7, 8, false },
		{ PERF_RECORD_FORK, 8, UINT32_MAX, 8, false },
		{ PERF_RECORD_EXIT, 8, 7, 8, true },
		{ PERF_RECORD_EXIT, 8, 0, 8, true },
		{ PERF_RECORD_EXIT, 8, 7, 9, false },
		{ PERF_RECORD_EXIT, 0, 0, 0, false },
		{ PERF_RECORD_EXIT, UINT32_MAX, 7, UINT32_MAX, false },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		const struct task_case *c = &cases[i];
		struct perf_bytes in = task_bytes(c->type, c->pid, c->ppid, c->tid);
		struct parsed record = parse(&in);

		assert_int_equal(record.has_event, c->has_event);
		if (!c->has_event)
			continue;
		assert_int_equal(record.event.kind, kind_of(c));
		assert_int_equal(record.event.pid, c->pid);
		assert_int_equal(record.event.time_ns, TIME_NS);
		if (c->type == PERF_RECORD_FORK)
			assert_int_equal(record.event.parent_pid, c->ppid);
	}
}

static void executable_mappings_are_told_and_checked(void **state)
{
	static const uint32_t rx = PROT_READ | PROT_EXEC;
	const struct mmap_case cases[] = {
		{ "/usr/lib/libc.so.6", 0x1000, 0x2000, 7, rx, 0, PERF_RECORD_MISC_USER, true },
		{ "", 0x1000, 0x2000, 7, PROT_EXEC, 0, 0, true },
		{ "/a b (deleted)", 0x1000, 0x2000, 7, rx, 0, 0, true },
		{ "//anon", 0x1000, 0x2000, 7, rx, 0, 0, true },
		{ "/data", 0x1000, 0x2000, 7, PROT_READ, 0, 0, false },
		{ "/a", 0x1000, 0x2000, 0, rx, 0, 0, false },
		{ "/a", 0x1000, 0x2000, UINT32_MAX, rx, 0, 0, false },
		{ "/a", 0x1000, 0, 7, rx, -EBADMSG, 0, false },
		{ "/a", 0x1000, UINT64_MAX, 7, rx, -EBADMSG, 0, false },
		{ "/a", 0x1000, 0x2000, 7, rx, -EBADMSG, PERF_RECORD_MISC_MMAP_BUILD_ID, false },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct perf_bytes in = mmap2_bytes(&cases[i]);
		struct parsed record = { 0 };

		assert_int_equal(parse_as(&in, true, &record), cases[i].result);
		assert_int_equal(record.has_event, cases[i].has_event);
		if (!record.has_event)
			continue;
		assert_int_equal(record.event.kind, PROC_MMAP);
		assert_int_equal(record.event.pid, 7);
		assert_int_equal(record.event.start, 0x1000);
		assert_int_equal(record.event.len, 0x2000);
		assert_int_equal(record.event.file_offset, 0x26000);
		assert_int_equal(record.event.inode, 325835);
		assert_int_equal(record.event.inode_generation, GENERATION);
		assert_int_equal(record.event.dev_major, 0xfe);
		assert_int_equal(record.event.dev_minor, 0x0a);
		assert_string_equal(record.event.path, cases[i].path);
	}
}

static void a_path_ends_before_the_time(void **state)
{
	struct parsed record;
	(void)state;
	struct perf_bytes in = mmap2_bytes(
		&(struct mmap_case){ .pid = 7, .len = 1, .prot = PROT_EXEC, .path = "/seven." });

	assert_int_equal(parse_as(&in, true, &record), 0);
	in.bytes[in.len - 9] = 'x';
	assert_int_equal(parse_as(&in, true, &record), -EBADMSG);
}

static void losses_are_told(void **state)
{
	struct perf_bytes in = perf_bytes_begin(PERF_RECORD_LOST, 0);
	(void)state;

	perf_bytes_u64(&in, 1);
	perf_bytes_u64(&in, 42);
	perf_bytes_end(&in, TIME_NS);
	assert_int_equal(parse(&in).nr_lost, 42);
	assert_false(parse(&in).has_event);
}

static void a_change_of_the_kernels_code_is_told(void **state)
{
	struct perf_bytes in = perf_bytes_begin(PERF_RECORD_KSYMBOL, 0);
	(void)state;

	perf_bytes_u64(&in, UINT64_C(0xffffffffc0001000));
	perf_bytes_u64(&in, 64);
	perf_bytes_text(&in, "bpf_prog_1_new");
	perf_bytes_end(&in, TIME_NS);
	assert_true(parse(&in).has_event);
	assert_int_equal(parse(&in).event.kind, PROC_KERNEL_CODE);
	assert_int_equal(parse(&in).event.time_ns, TIME_NS);
	assert_int_equal(parse(&in).event.pid, 0);
}

static void unknown_kinds_are_of_no_interest(void **state)
{
	(void)state;
	for (uint32_t type = PERF_RECORD_MAX; type < PERF_RECORD_MAX + 10; type++) {
		struct perf_bytes in = perf_bytes_begin(type, 0xffff);

		perf_bytes_end(&in, TIME_NS);
		assert_false(parse(&in).has_event);
		assert_int_equal(parse(&in).nr_lost, 0);
	}
}

/* Their layout would need more bytes than there are. */
static void samples_are_of_no_interest(void **state)
{
	struct perf_bytes in = perf_bytes_begin(PERF_RECORD_SAMPLE, 0);
	(void)state;

	perf_bytes_end(&in, TIME_NS);
	assert_false(parse(&in).has_event);
}

/* The size in the header follows the cut: only the body is too short. */
static void assert_cuts_are_refused(const struct perf_bytes *whole, size_t least_len)
{
	for (size_t len = 0; len < whole->len; len++) {
		uint8_t *copy = test_malloc(len + 1);
		uint16_t size = (uint16_t)len;
		struct perf_record record;

		memcpy(copy, whole->bytes, len);
		if (len >= sizeof(struct perf_event_header))
			memcpy(copy + offsetof(struct perf_event_header, size), &size,
			       sizeof(size));
		int r = perf_record_parse(copy, len, &attr, &record);
		if (len < least_len)
			assert_int_equal(r, -EBADMSG);
		test_free(copy);
	}
}

static void records_that_are_cut_short_are_refused(void **state)
{
	(void)state;
	struct perf_bytes exec = comm_bytes(PERF_RECORD_MISC_COMM_EXEC, 7, 7);
	struct perf_bytes fork = task_bytes(PERF_RECORD_FORK, 8, 7, 8);
	struct perf_bytes exit = task_bytes(PERF_RECORD_EXIT, 8, 7, 8);
	struct perf_bytes mmap2 = mmap2_bytes(
		&(struct mmap_case){ .pid = 7, .len = 1, .prot = PROT_EXEC, .path = "/seven." });

	assert_cuts_are_refused(&exec, 8 + 8 + 8);
	assert_cuts_are_refused(&fork, fork.len);
	assert_cuts_are_refused(&exit, exit.len);
	struct perf_bytes mmap = mmap_bytes(7, 1, "/seven.");
	assert_cuts_are_refused(&mmap2, mmap2.len);
	assert_cuts_are_refused(&mmap, mmap.len);
}

static void a_size_that_is_not_the_length_is_refused(void **state)
{
	(void)state;
	struct perf_bytes in = task_bytes(PERF_RECORD_FORK, 8, 7, 8);
	struct perf_record record;

	assert_int_equal(perf_record_parse(in.bytes, in.len - 8, &attr, &record), -EBADMSG);
	assert_int_equal(perf_record_parse(in.bytes, in.len + 8, &attr, &record), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comm_is_an_exec_only_when_marked),
		cmocka_unit_test(a_name_of_a_first_thread_is_an_exec_where_none_is_marked),
		cmocka_unit_test(old_kernels_tell_a_path_without_its_file),
		cmocka_unit_test(threads_are_neither_forks_nor_exits_of_processes),
		cmocka_unit_test(executable_mappings_are_told_and_checked),
		cmocka_unit_test(a_path_ends_before_the_time),
		cmocka_unit_test(losses_are_told),
		cmocka_unit_test(a_change_of_the_kernels_code_is_told),
		cmocka_unit_test(unknown_kinds_are_of_no_interest),
		cmocka_unit_test(samples_are_of_no_interest),
		cmocka_unit_test(records_that_are_cut_short_are_refused),
		cmocka_unit_test(a_size_that_is_not_the_length_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/lock_frames.h"

#include "base/cleanup.h"
#include "bpf/shared/lock.h"

#include "kernel_list.h"
#include "unit.h"

/* As Linux 6.18 has them. */
#define LIST                                                                                       \
	"ffffffff81000000 T __mutex_lock\n"                                                        \
	"ffffffff81000100 T __traceiter_contention_end\n"                                          \
	"ffffffff81000200 T bpf_trace_run2\n"                                                      \
	"ffffffff81000300 T __bpf_trace_contention_end\n"                                          \
	"ffffffff81000400 T mutex_lock\n"                                                          \
	"ffffffffc0000000 t bpf_prog_1_lock_end\t[bpf]\n"

#define SLOW_PATH 0xffffffff81000010
#define ITERATION 0xffffffff81000110
#define RUN 0xffffffff81000210
#define GLUE 0xffffffff81000310
#define FAST_PATH 0xffffffff81000410
#define PROGRAM 0xffffffffc0000010

static struct kernel_ranges frames_of(const char *list)
{
	_cleanup_(kernel_symbols_freep) struct kernel_symbols *symbols = kernel_list_read(list);
	struct kernel_ranges frames;

	lock_frames_init(&frames, symbols);
	return frames;
}

static void the_frames_of_who_traces_are_counted(void **state)
{
	static const struct {
		__u64 frames[6];
		size_t nr, count;
	} cases[] = {
		{ { PROGRAM, RUN, GLUE, ITERATION, SLOW_PATH, FAST_PATH }, 6, 4 },
		{ { 1, RUN, ITERATION, SLOW_PATH, FAST_PATH },
		  5,
		  3 }, /* a new program has no name */
		{ { SLOW_PATH, FAST_PATH }, 2, 0 },
		{ { PROGRAM, RUN }, 2, 0 },
		{ { 0 }, 0, 0 },
	};
	const struct kernel_ranges frames = frames_of(LIST);

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++)
		assert_int_equal(lock_frames_count(&frames, cases[i].frames, cases[i].nr),
				 cases[i].count);
}

static void without_names_nothing_is_counted(void **state)
{
	const struct kernel_ranges frames = frames_of("");
	const __u64 addresses[] = { PROGRAM, RUN, SLOW_PATH };

	(void)state;
	assert_int_equal(lock_frames_count(&frames, addresses, 3), 0);
}

static void a_lock_has_the_name_of_its_kind_and_its_own(void **state)
{
	static const struct {
		uint8_t flags;
		const char *own_name, *name;
	} cases[] = {
		{ LOCK_SPIN, NULL, "[spinlock]" },
		{ LOCK_SPIN | LOCK_READ, NULL, "[rwlock read]" },
		{ LOCK_SPIN | LOCK_WRITE, "tasklist_lock", "[rwlock write tasklist_lock]" },
		{ LOCK_MUTEX, NULL, "[mutex]" },
		{ LOCK_MUTEX | LOCK_SPIN, "pernet_ops_rwsem", "[mutex pernet_ops_rwsem]" },
		{ LOCK_READ | LOCK_IS_MMAP, NULL, "[rwsem read mmap_lock]" },
		{ LOCK_SPIN | LOCK_IS_SIGHAND, NULL, "[spinlock siglock]" },
		{ LOCK_WRITE, NULL, "[rwsem write]" },
		{ LOCK_PERCPU | LOCK_READ, NULL, "[percpu_rwsem read]" },
		{ LOCK_RT, NULL, "[rt_mutex]" },
		{ 0, NULL, "[semaphore]" },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		const struct sample_event event = { .lock_flags = cases[i].flags };
		char name[LOCK_NAME_BYTES];

		lock_frames_name(&event, cases[i].own_name, name);
		assert_string_equal(name, cases[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_frames_of_who_traces_are_counted),
		cmocka_unit_test(without_names_nothing_is_counted),
		cmocka_unit_test(a_lock_has_the_name_of_its_kind_and_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

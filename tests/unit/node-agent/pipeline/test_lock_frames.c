/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/lock_frames.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "bpf/shared/lock.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

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

#define TASKLIST 0xffffffff82001000
#define STATE 0xffffffff82001040

static const char variables[] = "ffffffff82001000 D tasklist_lock\n"
				"ffffffff82001040 d rcu_state\n";

static struct kernel_data *read_variables(void)
{
	_cleanup_close_ int fd = memfd_create("kallsyms", MFD_CLOEXEC);
	struct kernel_data *data = NULL;
	char path[32];

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, variables, strlen(variables)), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(kernel_data_new(AT_FDCWD, path, &data), 0);
	return data;
}

static void a_lock_has_the_name_of_its_kind_and_its_own(void **state)
{
	static const struct {
		uint64_t address;
		uint8_t flags;
		const char *name;
	} cases[] = {
		{ 1, LOCK_FLAG_SPIN, "[spinlock]" },
		{ 1, LOCK_FLAG_SPIN | LOCK_FLAG_READ, "[rwlock read]" },
		{ TASKLIST, LOCK_FLAG_SPIN | LOCK_FLAG_WRITE, "[rwlock write tasklist_lock]" },
		{ 1, LOCK_FLAG_MUTEX, "[mutex]" },
		{ STATE + 64, LOCK_FLAG_MUTEX | LOCK_FLAG_SPIN, "[mutex rcu_state+0x40]" },
		{ TASKLIST, LOCK_FLAG_READ | LOCK_IS_MMAP, "[rwsem read mmap_lock]" },
		{ 1, LOCK_FLAG_SPIN | LOCK_IS_SIGHAND, "[spinlock siglock]" },
		{ 1, LOCK_FLAG_WRITE, "[rwsem write]" },
		{ 1, LOCK_FLAG_PERCPU | LOCK_FLAG_READ, "[percpu_rwsem read]" },
		{ 1, LOCK_FLAG_RT, "[rt_mutex]" },
		{ 1, 0, "[semaphore]" },
	};
	_cleanup_(kernel_data_freep) struct kernel_data *data = read_variables();

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		const struct sample_event event = { .lock = cases[i].address,
						    .lock_flags = cases[i].flags };
		char name[LOCK_NAME_BYTES];

		lock_frames_name(&event, data, name);
		assert_string_equal(name, cases[i].name);
	}
}

static void without_variables_a_lock_has_the_name_of_its_kind(void **state)
{
	const struct sample_event event = { .lock = TASKLIST, .lock_flags = LOCK_FLAG_SPIN };
	char name[LOCK_NAME_BYTES];

	(void)state;
	lock_frames_name(&event, NULL, name);
	assert_string_equal(name, "[spinlock]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_frames_of_who_traces_are_counted),
		cmocka_unit_test(without_names_nothing_is_counted),
		cmocka_unit_test(a_lock_has_the_name_of_its_kind_and_its_own),
		cmocka_unit_test(without_variables_a_lock_has_the_name_of_its_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/schedule_frames.h"

#include "base/cleanup.h"

#include "kernel_list.h"
#include "unit.h"

/* As Linux 6.18 and older kernels have them. */
#define LIST                                                                                       \
	"ffffffff81000000 T do_nanosleep\n"                                                        \
	"ffffffff81000100 t __schedule\n"                                                          \
	"ffffffff81000200 T schedule\n"                                                            \
	"ffffffff81000300 t schedule_timeout.isra.0\n"                                             \
	"ffffffff81000400 T schedule_work\n"                                                       \
	"ffffffff81000500 T __traceiter_sched_switch\n"                                            \
	"ffffffffc0000000 t bpf_prog_1_off_cpu_switch\t[bpf]\n"

#define SLEEP 0xffffffff81000010
#define SCHEDULE_INSIDE 0xffffffff81000110
#define SCHEDULE 0xffffffff81000210
#define TIMEOUT 0xffffffff81000310
#define WORK 0xffffffff81000410
#define TRACE 0xffffffff81000510
#define PROGRAM 0xffffffffc0000010

static struct kernel_ranges frames_of(const char *list)
{
	_cleanup_(kernel_symbols_freep) struct kernel_symbols *symbols = kernel_list_read(list);
	struct kernel_ranges frames;

	schedule_frames_init(&frames, symbols);
	return frames;
}

static void frames_up_to_the_scheduler_are_counted(void **state)
{
	static const struct {
		__u64 frames[14];
		size_t nr, count;
	} cases[] = {
		{ { PROGRAM, TRACE, SCHEDULE_INSIDE, SCHEDULE, SLEEP }, 5, 4 },
		{ { PROGRAM, TRACE, SCHEDULE_INSIDE, SCHEDULE, TIMEOUT, SLEEP }, 6, 5 },
		{ { SCHEDULE_INSIDE, SLEEP, SCHEDULE }, 3, 1 },
		{ { SCHEDULE_INSIDE }, 1, 1 },
		{ { SLEEP, WORK }, 2, 0 },
		{ { WORK, SLEEP, WORK, WORK, WORK, WORK, WORK, WORK, WORK, WORK, WORK, WORK, WORK,
		    SCHEDULE },
		  14,
		  0 }, /* too far from the leaf */
		{ { 0 }, 0, 0 },
	};
	const struct kernel_ranges frames = frames_of(LIST);

	(void)state;
	assert_int_equal(frames.nr, 3);
	for (size_t i = 0; i < array_len(cases); i++)
		assert_int_equal(schedule_frames_count(&frames, cases[i].frames, cases[i].nr),
				 cases[i].count);
}

static void without_names_nothing_is_counted(void **state)
{
	const struct kernel_ranges frames = frames_of("");
	const __u64 addresses[] = { SCHEDULE_INSIDE, SLEEP };

	(void)state;
	assert_int_equal(schedule_frames_count(&frames, addresses, 2), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_up_to_the_scheduler_are_counted),
		cmocka_unit_test(without_names_nothing_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/sampled_process.h"

#include "bpf/shared/frames.h"
#include "process/process_table.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>

static void threads_of_the_kernel_are_told_by_name_alone(void **state)
{
	static const char *const names[] = { "kworker/0:1", "kworker/u8:3-ev", "ksoftirqd/0" };
	static const uint32_t expected[] = { 1, 1, 2 };
	_cleanup_(window_freep) struct window *window = NULL;
	struct locator locator = { .owner = 0 };
	(void)state;

	assert_int_equal(window_new(1, 1, PROFILE_CPU, &window), 0);
	locator.window = window;
	for (uint32_t i = 0; i < array_len(names); i++) {
		static struct sample_event event;
		struct profile_sample sample = { .count = 1 };

		event = (struct sample_event){ .pid = i + 100,
					       .unwind_result = UNWIND_KERNEL_THREAD };
		snprintf(event.process_comm, sizeof(event.process_comm), "%s", names[i]);
		assert_int_equal(sampled_process_add(&locator, &event, &sample), 0);
		assert_int_equal(sample.process, expected[i]);
		assert_string_equal(
			profile_string(builder_peek(window->builder), sample.process_comm),
			names[i]);
	}
	const struct profile *p = builder_peek(window->builder);
	assert_string_equal(profile_string(p, p->processes[1].name), "kworker");
	assert_int_equal(p->processes[1].pid, 0);
}

/* As with a sample taken in exec(): there is no stack of user space to ask for the process by, nor
 * has another sample told when it started. */
static void what_events_told_of_a_process_is_said(void **state)
{
	const struct proc_event events[] = {
		{ .kind = PROC_FORK, .pid = 7, .parent_pid = 6, .time_ns = 1 },
		{ .kind = PROC_EXEC, .pid = 7, .time_ns = 2 },
		{ .kind = PROC_MMAP,
		  .pid = 7,
		  .time_ns = 3,
		  .start = 0x1000,
		  .len = 0x1000,
		  .inode = 5,
		  .path = "/usr/bin/dash" },
	};
	static const struct sample_event event = {
		.pid = 7, .start_ns = 100, .time_ns = 200, .process_comm = "sh"
	};
	_cleanup_(process_table_freep) struct process_table *processes = NULL;
	_cleanup_(window_freep) struct window *window = NULL;
	_cleanup_close_ int proc_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct locator locator = { .owner = 0 };
	struct profile_sample sample = { .count = 1 };
	(void)state;

	assert_int_equal(process_table_new(proc_fd, 10, &processes), 0);
	assert_int_equal(window_new(1, 1, PROFILE_CPU, &window), 0);
	process_table_handle(processes,
			     &(struct proc_event){ .kind = PROC_EXEC, .pid = 6, .time_ns = 1 });
	for (size_t i = 0; i < array_len(events); i++)
		process_table_handle(processes, &events[i]);
	locator.window = window;
	locator.processes = processes;
	assert_int_equal(sampled_process_add(&locator, &event, &sample), 0);

	const struct profile *p = builder_peek(window->builder);
	const struct profile_process *process = &p->processes[sample.process];
	assert_int_equal(process->pid, 7);
	assert_string_equal(profile_string(p, process->path), "/usr/bin/dash");
	assert_string_equal(profile_string(p, process->name), "dash");
}

/* Windows of CPU time and of blocks are filled side by side. */
static void a_process_has_a_number_of_its_own_in_each_window(void **state)
{
	static const struct sample_event other = { .pid = 8, .start_ns = 90, .time_ns = 200 };
	static const struct sample_event event = { .pid = 7, .start_ns = 100, .time_ns = 200 };
	_cleanup_(process_table_freep) struct process_table *processes = NULL;
	_cleanup_(window_freep) struct window *cpu = NULL, *off_cpu = NULL, *lock = NULL;
	_cleanup_close_ int proc_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct profile_sample sample = { .count = 1 };
	(void)state;

	assert_int_equal(process_table_new(proc_fd, 10, &processes), 0);
	assert_int_equal(window_new(1, 1, PROFILE_CPU, &cpu), 0);
	assert_int_equal(window_new(1, 1, PROFILE_OFF_CPU, &off_cpu), 0);
	assert_int_equal(window_new(1, 1, PROFILE_LOCK_DELAY, &lock), 0);
	for (uint32_t pid = 7; pid <= 8; pid++)
		process_table_handle(
			processes,
			&(struct proc_event){ .kind = PROC_EXEC, .pid = pid, .time_ns = 1 });
	struct locator in_cpu = { .window = cpu, .processes = processes };
	struct locator in_off_cpu = { .window = off_cpu, .processes = processes };
	struct locator in_lock = { .window = lock, .processes = processes };
	assert_int_equal(sampled_process_add(&in_cpu, &other, &sample), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sampled_process_add(&in_cpu, &event, &sample), 0);
		assert_int_equal(sample.process, 2);
		assert_int_equal(sampled_process_add(&in_off_cpu, &event, &sample), 0);
		assert_int_equal(sample.process, 1);
		assert_int_equal(sampled_process_add(&in_lock, i == 0 ? &other : &event, &sample),
				 0);
		assert_int_equal(sample.process, i + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_of_the_kernel_are_told_by_name_alone),
		cmocka_unit_test(what_events_told_of_a_process_is_said),
		cmocka_unit_test(a_process_has_a_number_of_its_own_in_each_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

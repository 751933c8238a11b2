/* SPDX-License-Identifier: Apache-2.0 */
/* Times in which threads do not run, from the records to the profiles. */
#include "pipeline/pipeline.h"

#include "base/clock.h"
#include "base/log.h"
#include "bpf/shared/off_cpu.h"
#include "idle_capture.h"
#include "rows_worker_main.h"
#include "symbol_worker_main.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

#define MS NSEC_PER_MSEC
#define TID 4711

struct fixture {
	int proc_fd;
	struct pod_index *pods;
	struct cgroup_fs *fs;
	struct idle_capture capture;
	struct pipeline *pipeline;
	uint64_t start_ns; /* with a second of Unix time */
	/* By the symbolizer thread; read when it has ended. */
	uint64_t waited_ns[REASON_NR];
	uint64_t woken_ns; /* by the thread "waker" */
	size_t nr_profiles;
	enum profile_type type;
};

/* Returns whether the second half of a stack is that of the waker: a frame without a name. */
static bool is_woken(const struct profile *profile, const struct profile_stack *stack)
{
	for (size_t i = 0; i < stack->nr; i++) {
		uint32_t location = profile->stack_locations[stack->first + i];

		if (strcmp(profile_location_name(profile, location), "[woken by waker]") == 0)
			return i == 1;
	}
	return false;
}

static void take_profile(struct profile *profile, void *data)
{
	struct fixture *fixture = data;

	assert_int_equal(profile->type, fixture->type);
	for (size_t i = 0; i < profile->nr_samples; i++) {
		const struct profile_sample *sample = &profile->samples[i];

		fixture->waited_ns[sample->reason] += sample->count;
		if (is_woken(profile, &profile->stacks[sample->stack]))
			fixture->woken_ns += sample->count;
	}
	fixture->nr_profiles++;
}

static int set_up(void **state)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));
	uint64_t now_ns = clock_mono_ns();

	*state = fixture;
	if (cgroup_fs_open(NULL, &fixture->fs) < 0) {
		print_message("SKIP: no cgroup hierarchy is mounted\n");
		return 0;
	}
	assert_int_equal(pod_index_new(1, &fixture->pods), 0);
	log_set_level(LOG_LEVEL_ERROR);
	fixture->proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	fixture->type = PROFILE_OFF_CPU;
	idle_capture_start(&fixture->capture);
	fixture->start_ns = now_ns - clock_mono_to_real_ns(now_ns) % NSEC_PER_SEC -
			    20 * NSEC_PER_SEC;
	return 0;
}

static void start(struct fixture *fixture, uint32_t hidden_reasons, uint64_t min_block_ns)
{
	const struct pipeline_opts opts = {
		.proc_fd = fixture->proc_fd,
		.symbol_memory_max = (size_t)64 << 20,
		.demangle = DEMANGLE_SHORT,
		.debug_dir = "/nonexistent",
		.max_processes = 8,
		.tables = fixture->capture.tables,
		.source = fixture->capture.source,
		.selection = fixture->capture.selection,
		.off_cpu = true,
		.wall = fixture->type == PROFILE_WALL,
		.period_ns = 10 * MS,
		.hidden_reasons = hidden_reasons,
		.min_block_ns = min_block_ns,
		.identity = { .cgroup_fs = fixture->fs,
			      .pods = fixture->pods,
			      .node_name = "node-1",
			      .host_name = "host-1" },
		.sink = take_profile,
		.sink_data = fixture,
	};

	assert_int_equal(pipeline_start(&opts, &fixture->pipeline), 0);
	pipeline_start_blocks(fixture->pipeline, fixture->start_ns);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	if (fixture->pipeline)
		pipeline_give_up(fixture->pipeline, 0);
	pipeline_free(fixture->pipeline);
	if (fixture->fs)
		idle_capture_stop(&fixture->capture);
	pod_index_free(fixture->pods);
	cgroup_fs_close(fixture->fs);
	if (fixture->proc_fd > 0)
		close(fixture->proc_fd);
	test_free(fixture);
	return 0;
}

static struct fixture *fixture_or_skip(void **state)
{
	struct fixture *fixture = *state;

	if (!fixture->fs)
		skip();
	return fixture;
}

static struct sample_event event_at(const struct fixture *fixture, uint64_t at_ms,
				    uint32_t sequence)
{
	return (struct sample_event){
		.time_ns = fixture->start_ns + at_ms * MS,
		.pid = TID,
		.tid = TID,
		.sequence = sequence,
		.probability = OFF_CPU_CERTAIN,
		.queued_ns = QUEUED_UNKNOWN,
	};
}

static void begin(struct fixture *fixture, uint64_t at_ms, uint32_t sequence, uint8_t flags)
{
	struct sample_event event = event_at(fixture, at_ms, sequence);

	event.kind = RECORD_BLOCK_BEGIN;
	event.wait_flags = flags;
	pipeline_begin_block(fixture->pipeline, &event);
}

static void end_after(struct fixture *fixture, uint64_t at_ms, uint32_t sequence,
		      uint32_t runnable_ms)
{
	struct sample_event event = event_at(fixture, at_ms, sequence);

	event.kind = RECORD_BLOCK_END;
	event.runnable_us = runnable_ms * 1000;
	pipeline_end_block(fixture->pipeline, &event);
}

static void end(struct fixture *fixture, uint64_t at_ms, uint32_t sequence)
{
	end_after(fixture, at_ms, sequence, 0);
}

static void add(struct fixture *fixture, uint64_t from_ms, uint64_t to_ms, uint8_t flags)
{
	struct sample_event event = event_at(fixture, to_ms, 0);

	event.kind = RECORD_BLOCK_LATE;
	event.length_ns = (to_ms - from_ms) * MS;
	event.wait_flags = flags;
	pipeline_add_block(fixture->pipeline, &event);
}

static void wake(struct fixture *fixture, uint64_t at_ms, uint32_t sequence)
{
	struct sample_event event = event_at(fixture, at_ms, sequence);

	event.kind = RECORD_WAKER;
	event.tid = TID + 1;
	event.woken_tid = TID;
	event.nr_user = 1;
	event.frames[0] = 0x1000;
	memcpy(event.thread_comm, "waker", sizeof("waker"));
	pipeline_add_waker(fixture->pipeline, &event);
}

/* Ends the input, and waits for all profiles. */
static void finish(struct fixture *fixture)
{
	pipeline_close(fixture->pipeline);
	assert_true(pipeline_wait(fixture->pipeline, UINT64_MAX));
}

static void waits_have_reasons(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	start(fixture, 0, 0);
	begin(fixture, 10, 1, WAIT_FLAG_IO);
	end(fixture, 40, 1);
	add(fixture, 50, 57, WAIT_FLAG_PREEMPTED);
	begin(fixture, 60, 2, 0);
	end(fixture, 61, 2);
	finish(fixture);
	assert_int_equal(fixture->waited_ns[REASON_DISK], 30 * MS);
	assert_int_equal(fixture->waited_ns[REASON_PREEMPTED], 7 * MS);
	assert_int_equal(fixture->waited_ns[REASON_OTHER], MS);
}

static void hidden_reasons_do_not_count(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	start(fixture, 1U << REASON_PREEMPTED | 1U << REASON_OTHER, 0);
	begin(fixture, 10, 1, WAIT_FLAG_IO);
	end(fixture, 40, 1);
	add(fixture, 50, 57, WAIT_FLAG_PREEMPTED);
	begin(fixture, 60, 2, 0);
	end(fixture, 61, 2);
	finish(fixture);
	assert_int_equal(fixture->waited_ns[REASON_DISK], 30 * MS);
	assert_int_equal(fixture->waited_ns[REASON_PREEMPTED], 0);
	assert_int_equal(fixture->waited_ns[REASON_OTHER], 0);
	assert_int_equal(pipeline_get_stats(fixture->pipeline).nr_blocks_lost, 0);
}

static void a_wait_whose_end_nobody_told_is_lost(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	start(fixture, 0, 0);
	begin(fixture, 10, 1, WAIT_FLAG_IO);
	begin(fixture, 60, 2, 0);
	end(fixture, 61, 2);
	finish(fixture);
	assert_int_equal(fixture->waited_ns[REASON_DISK], 0);
	assert_int_equal(fixture->waited_ns[REASON_OTHER], MS);
	assert_int_equal(pipeline_get_stats(fixture->pipeline).nr_blocks_lost, 1);
}

static void a_thread_that_is_awake_waits_for_a_cpu(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	start(fixture, 1U << REASON_OTHER, 0);
	begin(fixture, 10, 1, WAIT_FLAG_IO);
	end_after(fixture, 40, 1, 12);
	begin(fixture, 50, 2, 0);
	end_after(fixture, 60, 2, 3);
	begin(fixture, 900, 3, WAIT_FLAG_IO);
	end_after(fixture, 1100, 3, 150);
	finish(fixture);
	assert_int_equal(fixture->waited_ns[REASON_DISK], 68 * MS);
	assert_int_equal(fixture->waited_ns[REASON_RUN_QUEUE], 165 * MS);
	assert_int_equal(fixture->waited_ns[REASON_OTHER], 0);
}

/* A block that was chosen with a probability of 1 in 4, and what the kernel counted. */
static void add_counted(struct fixture *fixture, uint64_t from_ms, uint64_t to_ms, uint8_t flags,
			uint64_t queued_ms)
{
	struct sample_event event = event_at(fixture, to_ms, 0);

	event.kind = RECORD_BLOCK_LATE;
	event.probability = OFF_CPU_CERTAIN / 4;
	event.length_ns = (to_ms - from_ms) * MS;
	event.runnable_us = flags & WAIT_FLAG_PREEMPTED ? 0 : 1000;
	event.wait_flags = flags;
	event.queued_ns = queued_ms * MS;
	pipeline_add_block(fixture->pipeline, &event);
}

static void what_the_kernel_counts_in_run_queues_is_not_estimated(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	start(fixture, 0, 0);
	add_counted(fixture, 10, 20, WAIT_FLAG_PREEMPTED, 70);
	add_counted(fixture, 20, 31, WAIT_FLAG_IO, 9);
	finish(fixture);
	assert_int_equal(fixture->waited_ns[REASON_PREEMPTED], 70 * MS);
	assert_in_range(fixture->waited_ns[REASON_DISK], 40 * MS - 1, 40 * MS + 1);
	assert_int_equal(fixture->waited_ns[REASON_RUN_QUEUE], 9 * MS);
}

/* Of what was counted, a thread that was throttled for 10 ms with a probability of 1 in 4 was
 * throttled for 40 ms, and preempted for the rest. */
static void a_cpu_limit_is_to_blame_only_for_its_own_waits(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	start(fixture, 0, 0);
	add_counted(fixture, 10, 20, WAIT_FLAG_PREEMPTED | WAIT_FLAG_THROTTLED, 70);
	add_counted(fixture, 20, 30, WAIT_FLAG_PREEMPTED | WAIT_FLAG_THROTTLED, 5);
	finish(fixture);
	assert_in_range(fixture->waited_ns[REASON_THROTTLED], 45 * MS - 1, 45 * MS + 1);
	assert_in_range(fixture->waited_ns[REASON_PREEMPTED], 30 * MS - 1, 30 * MS + 1);
}

static void end_counted(struct fixture *fixture, uint64_t at_ms, uint32_t runnable_ms,
			uint64_t queued_ms)
{
	struct sample_event event = event_at(fixture, at_ms, 1);

	event.kind = RECORD_BLOCK_END;
	event.runnable_us = runnable_ms * 1000;
	event.queued_ns = queued_ms * MS;
	pipeline_end_block(fixture->pipeline, &event);
}

static void time_in_a_run_queue_before_the_start_does_not_count(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	start(fixture, 0, 0);
	begin(fixture, 10, 1, WAIT_FLAG_PREEMPTED);
	pipeline_start_blocks(fixture->pipeline, fixture->start_ns + 500 * MS);
	end_counted(fixture, 1010, 0, 1003); /* with another wait before */
	finish(fixture);
	assert_int_equal(fixture->waited_ns[REASON_PREEMPTED], 513 * MS);
}

static void begin_counted(struct fixture *fixture, uint64_t at_ms, uint64_t queued_ms)
{
	struct sample_event event = event_at(fixture, at_ms, 1);

	event.kind = RECORD_BLOCK_BEGIN;
	event.wait_flags = WAIT_FLAG_IO;
	event.queued_ns = queued_ms * MS;
	pipeline_begin_block(fixture->pipeline, &event);
}

static void a_beginning_tells_of_run_queues_before(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	start(fixture, 0, 0);
	begin_counted(fixture, 10, 4);
	end_counted(fixture, 40, 10, 0); /* the next record tells of it */
	finish(fixture);
	assert_int_equal(fixture->waited_ns[REASON_DISK], 20 * MS);
	assert_int_equal(fixture->waited_ns[REASON_RUN_QUEUE], 4 * MS);
}

static void queue(struct fixture *fixture, uint64_t at_ms, uint64_t queued_ms, uint32_t probability)
{
	struct sample_event event = event_at(fixture, at_ms, 0);

	event.kind = RECORD_QUEUED;
	event.queued_ns = queued_ms * MS;
	event.probability = probability;
	pipeline_add_queued(fixture->pipeline, &event);
}

static void time_in_run_queues_may_come_without_a_wait(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	start(fixture, 0, 0);
	queue(fixture, 0, 5, OFF_CPU_CERTAIN); /* what was before does not count */
	queue(fixture, 10, 3, OFF_CPU_CERTAIN);
	queue(fixture, 20, 3, OFF_CPU_CERTAIN / 2);
	finish(fixture);
	assert_in_range(fixture->waited_ns[REASON_RUN_QUEUE], 9 * MS - 1, 9 * MS + 1);
}

/* A wait counts from its beginning, also if the window before ended while it was too short. */
static void waits_that_are_too_short_do_not_count(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	start(fixture, 0, 20 * MS);
	begin(fixture, 10, 1, WAIT_FLAG_IO);
	end(fixture, 29, 1);
	add(fixture, 50, 69, WAIT_FLAG_IO);
	add(fixture, 100, 120, WAIT_FLAG_PREEMPTED);
	begin(fixture, 990, 2, 0);
	end(fixture, 1015, 2);
	finish(fixture);
	assert_int_equal(fixture->waited_ns[REASON_DISK], 0);
	assert_int_equal(fixture->waited_ns[REASON_PREEMPTED], 20 * MS);
	assert_int_equal(fixture->waited_ns[REASON_OTHER], 25 * MS);
}

/* Also if it ends in another window than it began in. */
static void a_wait_has_its_waker(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	start(fixture, 0, 0);
	begin(fixture, 10, 1, 0);
	wake(fixture, 29, 1);
	end(fixture, 30, 1);
	begin(fixture, 900, 2, 0);
	wake(fixture, 1099, 2);
	end(fixture, 1100, 2);
	begin(fixture, 1200, 3, 0);
	wake(fixture, 1250, 2); /* of another block */
	end(fixture, 1300, 3);
	finish(fixture);
	assert_int_equal(fixture->waited_ns[REASON_OTHER], 320 * MS);
	assert_int_equal(fixture->woken_ns, 220 * MS);
}

static void a_wait_that_is_told_at_its_end_counts_as_a_whole(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	start(fixture, 0, 0);
	add(fixture, 500, 3500, 0);
	finish(fixture);
	assert_int_equal(fixture->waited_ns[REASON_OTHER], 3000 * MS);
}

/* A sample of CPU time. */
static void sample(struct fixture *fixture, uint64_t at_ms)
{
	struct sample_event event = { .kind = RECORD_TIMER, .pid = TID, .tid = TID };

	event.time_ns = fixture->start_ns + at_ms * MS;
	event.unwind_result = UNWIND_KERNEL_THREAD;
	pipeline_add_running(fixture->pipeline, &event);
}

static void cpu_time_stands_beside_waits(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	fixture->type = PROFILE_WALL;
	start(fixture, 0, 0);
	sample(fixture, 5);
	begin(fixture, 10, 1, WAIT_FLAG_IO);
	end(fixture, 40, 1);
	sample(fixture, 50);
	sample(fixture, 1500);
	finish(fixture);
	assert_int_equal(fixture->waited_ns[REASON_DISK], 30 * MS);
	assert_int_equal(fixture->waited_ns[REASON_RUNNING], 30 * MS);
}

static void hidden_cpu_time_does_not_count(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	fixture->type = PROFILE_WALL;
	start(fixture, 1U << REASON_RUNNING, 0);
	sample(fixture, 5);
	begin(fixture, 10, 1, WAIT_FLAG_IO);
	end(fixture, 40, 1);
	finish(fixture);
	assert_int_equal(fixture->waited_ns[REASON_DISK], 30 * MS);
	assert_int_equal(fixture->waited_ns[REASON_RUNNING], 0);
}

static void told(struct fixture *fixture, uint64_t at_ms, uint64_t ran_ms, uint64_t waited_ms)
{
	struct sample_event event = { .kind = RECORD_TIMES, .pid = TID, .tid = TID };

	event.time_ns = fixture->start_ns + at_ms * MS;
	event.ran_ns = ran_ms * MS;
	event.length_ns = waited_ms * MS;
	pipeline_add_times(fixture->pipeline, &event);
}

static void what_a_thread_ran_and_waited_in_all_stands_beside_its_samples(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	fixture->type = PROFILE_WALL;
	start(fixture, 0, 0);
	sample(fixture, 5);
	told(fixture, 1500, 200, 1300);
	finish(fixture);
	assert_int_equal(fixture->waited_ns[REASON_RUNNING], 210 * MS);
	assert_int_equal(fixture->waited_ns[REASON_OTHER], 1300 * MS);
}

static void the_sum_of_all_waits_says_nothing_if_some_do_not_count(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	fixture->type = PROFILE_WALL;
	start(fixture, 1U << REASON_DISK, 0);
	told(fixture, 1500, 200, 1300);
	finish(fixture);
	assert_int_equal(fixture->waited_ns[REASON_RUNNING], 200 * MS);
	assert_int_equal(fixture->waited_ns[REASON_OTHER], 0);
}

static void times_that_are_told_before_the_start_do_not_count(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	fixture->type = PROFILE_WALL;
	start(fixture, 0, 0);
	told(fixture, 0, 200, 1300);
	told(fixture, 1500, 0, 1500);
	finish(fixture);
	assert_int_equal(fixture->waited_ns[REASON_RUNNING], 0);
	assert_int_equal(fixture->waited_ns[REASON_OTHER], 1500 * MS);
}

#define BLOCKS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		BLOCKS_TEST(waits_have_reasons),
		BLOCKS_TEST(hidden_reasons_do_not_count),
		BLOCKS_TEST(a_wait_whose_end_nobody_told_is_lost),
		BLOCKS_TEST(a_thread_that_is_awake_waits_for_a_cpu),
		BLOCKS_TEST(what_the_kernel_counts_in_run_queues_is_not_estimated),
		BLOCKS_TEST(a_cpu_limit_is_to_blame_only_for_its_own_waits),
		BLOCKS_TEST(time_in_a_run_queue_before_the_start_does_not_count),
		BLOCKS_TEST(a_beginning_tells_of_run_queues_before),
		BLOCKS_TEST(time_in_run_queues_may_come_without_a_wait),
		BLOCKS_TEST(waits_that_are_too_short_do_not_count),
		BLOCKS_TEST(a_wait_has_its_waker),
		BLOCKS_TEST(a_wait_that_is_told_at_its_end_counts_as_a_whole),
		BLOCKS_TEST(cpu_time_stands_beside_waits),
		BLOCKS_TEST(hidden_cpu_time_does_not_count),
		BLOCKS_TEST(what_a_thread_ran_and_waited_in_all_stands_beside_its_samples),
		BLOCKS_TEST(the_sum_of_all_waits_says_nothing_if_some_do_not_count),
		BLOCKS_TEST(times_that_are_told_before_the_start_do_not_count),
	};

	if (is_rows_worker(argc, argv))
		return rows_worker_main();
	if (is_symbol_worker(argc, argv))
		return symbol_worker_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

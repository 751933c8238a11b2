/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for locks, from the records to the profiles. */
#include "pipeline/pipeline.h"

#include "base/clock.h"
#include "base/log.h"
#include "bpf/shared/lock.h"
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
	uint64_t totals[PROFILE_NR_TYPES];
	uint64_t mutex_ns, unknown_ns, kernel_ns, futex_ns;
	bool seen[PROFILE_NR_TYPES];
};

/* The lock is at the tip. */
static const char *tip_of(const struct profile *profile, const struct profile_sample *sample)
{
	const struct profile_stack *stack = &profile->stacks[sample->stack];

	assert_true(stack->nr > 0);
	return profile_location_name(profile, profile->stack_locations[stack->first]);
}

static void take_delay(struct fixture *fixture, const struct profile *profile,
		       const struct profile_sample *sample)
{
	const char *tip = tip_of(profile, sample);

	if (strcmp(tip, "[mutex]") == 0)
		fixture->mutex_ns += sample->count;
	if (strcmp(tip, "[lock]") == 0)
		fixture->unknown_ns += sample->count;
	if (sample->reason == REASON_KERNEL_LOCK)
		fixture->kernel_ns += sample->count;
	if (sample->reason == REASON_FUTEX)
		fixture->futex_ns += sample->count;
}

static void take_profile(struct profile *profile, void *data)
{
	struct fixture *fixture = data;

	fixture->seen[profile->type] = true;
	fixture->totals[profile->type] += profile_total(profile);
	for (size_t i = 0; profile->type == PROFILE_LOCK_DELAY && i < profile->nr_samples; i++)
		take_delay(fixture, profile, &profile->samples[i]);
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
	idle_capture_start(&fixture->capture);
	fixture->start_ns = now_ns - clock_mono_to_real_ns(now_ns) % NSEC_PER_SEC -
			    20 * NSEC_PER_SEC;
	return 0;
}

static void start(struct fixture *fixture, bool off_cpu, bool counts_contentions)
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
		.off_cpu = off_cpu,
		.locks = true,
		.counts_contentions = counts_contentions,
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
				    uint64_t length_ms)
{
	return (struct sample_event){
		.time_ns = fixture->start_ns + at_ms * MS,
		.length_ns = length_ms * MS,
		.start_ns = 1, /* no process began then */
		.pid = TID,
		.tid = TID,
		.probability = OFF_CPU_CERTAIN,
		.lock = 0x4711,
	};
}

static void add_kernel_lock(struct fixture *fixture, uint64_t at_ms, uint64_t length_ms,
			    uint32_t one_in)
{
	struct sample_event event = event_at(fixture, at_ms, length_ms);

	event.kind = RECORD_LOCK;
	event.lock_flags = LOCK_FLAG_MUTEX;
	event.probability /= one_in;
	pipeline_add_lock(fixture->pipeline, &event);
}

static void add_block(struct fixture *fixture, uint64_t at_ms, uint64_t length_ms, uint8_t flags)
{
	struct sample_event event = event_at(fixture, at_ms, length_ms);

	event.kind = RECORD_BLOCK_LATE;
	event.wait_flags = flags;
	pipeline_add_block(fixture->pipeline, &event);
}

/* Ends the input, and waits for all profiles. */
static void finish(struct fixture *fixture)
{
	pipeline_close(fixture->pipeline);
	assert_true(pipeline_wait(fixture->pipeline, UINT64_MAX));
}

static void waits_for_locks_are_named_and_have_their_time(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	start(fixture, false, false);
	add_kernel_lock(fixture, 10, 3, 1);
	add_kernel_lock(fixture, 20, 5, 10);
	add_block(fixture, 40, 7, WAIT_FLAG_LOCK);
	add_block(fixture, 60, 11, 0);
	finish(fixture);
	assert_int_equal(fixture->mutex_ns, 53 * MS);
	assert_int_equal(fixture->unknown_ns, 7 * MS);
	assert_int_equal(fixture->kernel_ns, 53 * MS);
	assert_int_equal(fixture->futex_ns, 7 * MS);
	assert_int_equal(fixture->totals[PROFILE_LOCK_DELAY], 60 * MS);
	assert_false(fixture->seen[PROFILE_LOCK_CONTENTIONS]);
	assert_false(fixture->seen[PROFILE_OFF_CPU]);
}

static void waits_for_locks_are_counted(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	start(fixture, false, true);
	add_kernel_lock(fixture, 20, 5, 10);
	add_block(fixture, 40, 7, WAIT_FLAG_LOCK);
	add_block(fixture, 60, 11, 0);
	finish(fixture);
	assert_int_equal(fixture->totals[PROFILE_LOCK_DELAY], 57 * MS);
	assert_int_equal(fixture->totals[PROFILE_LOCK_CONTENTIONS], 11);
}

static void waits_for_locks_of_user_space_are_waits_as_well(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	start(fixture, true, false);
	add_kernel_lock(fixture, 10, 3, 1);
	add_block(fixture, 40, 7, WAIT_FLAG_LOCK);
	add_block(fixture, 60, 11, 0);
	finish(fixture);
	assert_int_equal(fixture->totals[PROFILE_LOCK_DELAY], 10 * MS);
	assert_int_equal(fixture->totals[PROFILE_OFF_CPU], 18 * MS);
}

/* No function is known that takes a lock. */
static void waits_that_may_be_for_something_else_are_left_out_and_counted(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	start(fixture, true, true);
	add_block(fixture, 40, 7, WAIT_FLAG_MAYBE_LOCK);
	add_block(fixture, 60, 11, WAIT_FLAG_LOCK);
	finish(fixture);
	assert_int_equal(fixture->totals[PROFILE_LOCK_DELAY], 11 * MS);
	assert_int_equal(fixture->futex_ns, 11 * MS);
	assert_int_equal(fixture->totals[PROFILE_LOCK_CONTENTIONS], 1);
	assert_int_equal(fixture->totals[PROFILE_OFF_CPU], 18 * MS);
	assert_int_equal(pipeline_get_stats(fixture->pipeline).nr_other_waits, 2);
	assert_int_equal(pipeline_get_stats(fixture->pipeline).nr_samples_lost, 0);
}

/* The time of a long wait is spread over several windows, but it is one wait. */
static void a_long_wait_is_one_contention(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);
	struct sample_event event = event_at(fixture, 100, 0);

	start(fixture, false, true);
	event.kind = RECORD_BLOCK_BEGIN;
	event.wait_flags = WAIT_FLAG_LOCK;
	event.sequence = 1;
	pipeline_begin_block(fixture->pipeline, &event);
	event.kind = RECORD_BLOCK_END;
	event.time_ns += 1500 * MS;
	pipeline_end_block(fixture->pipeline, &event);
	finish(fixture);
	assert_int_equal(fixture->totals[PROFILE_LOCK_DELAY], 1500 * MS);
	assert_int_equal(fixture->totals[PROFILE_LOCK_CONTENTIONS], 1);
}

#define LOCKS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		LOCKS_TEST(waits_for_locks_are_named_and_have_their_time),
		LOCKS_TEST(waits_for_locks_are_counted),
		LOCKS_TEST(waits_for_locks_of_user_space_are_waits_as_well),
		LOCKS_TEST(waits_that_may_be_for_something_else_are_left_out_and_counted),
		LOCKS_TEST(a_long_wait_is_one_contention),
	};

	if (is_rows_worker(argc, argv))
		return rows_worker_main();
	if (is_symbol_worker(argc, argv))
		return symbol_worker_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

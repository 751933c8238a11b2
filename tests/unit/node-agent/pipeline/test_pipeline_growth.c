/* SPDX-License-Identifier: Apache-2.0 */
/* Growth of memory, from the records to the profiles. */
#include "pipeline/pipeline.h"

#include "base/clock.h"
#include "base/log.h"
#include "bpf/shared/growth.h"
#include "idle_capture.h"
#include "rows_worker_main.h"
#include "symbol_worker_main.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

#define PID 4711
#define MIB (UINT64_C(1) << 20)

struct fixture {
	int proc_fd;
	struct pod_index *pods;
	struct cgroup_fs *fs;
	struct idle_capture capture;
	struct pipeline *pipeline;
	/* By the symbolizer thread; read when it has ended. */
	uint64_t anonymous, file, shared, other;
	uint64_t nr_samples_of_cpu;
	uint64_t period;
};

static uint64_t *sum_of(struct fixture *fixture, const char *tip)
{
	if (strcmp(tip, "[anonymous memory]") == 0)
		return &fixture->anonymous;
	if (strcmp(tip, "[file pages]") == 0)
		return &fixture->file;
	return strcmp(tip, "[shared memory]") == 0 ? &fixture->shared : &fixture->other;
}

static void take_profile(struct profile *profile, void *data)
{
	struct fixture *fixture = data;

	for (size_t i = 0; i < profile->nr_samples; i++) {
		const struct profile_sample *sample = &profile->samples[i];
		const struct profile_stack *stack = &profile->stacks[sample->stack];
		uint32_t tip = profile->stack_locations[stack->first];

		if (profile->type == PROFILE_CPU) {
			fixture->nr_samples_of_cpu += sample->count;
			continue;
		}
		assert_int_equal(profile->type, PROFILE_RSS_GROWTH);
		assert_int_equal(stack->nr, 2);
		fixture->period = profile->period;
		*sum_of(fixture, profile_location_name(profile, tip)) += sample->count;
	}
}

static int set_up(void **state)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));

	*state = fixture;
	fixture->proc_fd = -EBADF;
	if (cgroup_fs_open(NULL, &fixture->fs) < 0) {
		print_message("SKIP: no cgroup hierarchy is mounted\n");
		return 0;
	}
	assert_int_equal(pod_index_new(1, &fixture->pods), 0);
	log_set_level(LOG_LEVEL_ERROR);
	fixture->proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	idle_capture_start(&fixture->capture);
	const struct pipeline_opts opts = {
		.proc_fd = fixture->proc_fd,
		.symbol_memory_max = (size_t)64 << 20,
		.demangle = DEMANGLE_SHORT,
		.debug_dir = "/nonexistent",
		.max_processes = 8,
		.tables = fixture->capture.tables,
		.source = fixture->capture.source,
		.selection = fixture->capture.selection,
		.period_ns = 10 * NSEC_PER_MSEC,
		.identity = { .cgroup_fs = fixture->fs,
			      .pods = fixture->pods,
			      .node_name = "node-1",
			      .host_name = "host-1" },
		.sink = take_profile,
		.sink_data = fixture,
	};
	return pipeline_start(&opts, &fixture->pipeline);
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
	cleanup_closep(&fixture->proc_fd);
	test_free(fixture);
	return 0;
}

static struct sample_event event_of(uint8_t kind)
{
	return (struct sample_event){
		.kind = kind,
		.time_ns = clock_mono_ns(),
		.pid = PID,
		.tid = PID,
		.nr_user = 1,
		.frames = { 0x1000 },
	};
}

static void grow(struct fixture *fixture, uint8_t memory, uint64_t bytes)
{
	struct sample_event event = event_of(RECORD_GROWTH);

	event.grown_memory = memory;
	event.grown_bytes = bytes;
	pipeline_add_growth(fixture->pipeline, &event);
}

static void growth_is_in_bytes_below_the_kind_of_memory(void **state)
{
	struct fixture *fixture = *state;

	if (!fixture->fs)
		skip();
	grow(fixture, GROWN_ANONYMOUS, MIB);
	grow(fixture, GROWN_FILE, 3 * MIB);
	grow(fixture, GROWN_ANONYMOUS, MIB + 4096);
	grow(fixture, GROWN_SHARED, 5 * MIB);
	grow(fixture, UINT8_MAX, 7);
	const struct sample_event of_cpu = event_of(RECORD_TIMER);
	pipeline_add_sample(fixture->pipeline, &of_cpu);
	pipeline_close(fixture->pipeline);
	assert_true(pipeline_wait(fixture->pipeline, UINT64_MAX));

	assert_int_equal(fixture->anonymous, 2 * MIB + 4096);
	assert_int_equal(fixture->file, 3 * MIB);
	assert_int_equal(fixture->shared, 5 * MIB);
	assert_int_equal(fixture->other, 7);
	assert_int_equal(fixture->period, 1);
	assert_int_equal(fixture->nr_samples_of_cpu, 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(growth_is_in_bytes_below_the_kind_of_memory, set_up,
						tear_down),
	};

	if (is_rows_worker(argc, argv))
		return rows_worker_main();
	if (is_symbol_worker(argc, argv))
		return symbol_worker_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

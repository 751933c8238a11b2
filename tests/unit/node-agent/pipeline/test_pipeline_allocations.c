/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations, from the records to the profiles. */
#include "pipeline/pipeline.h"

#include "base/clock.h"
#include "base/log.h"
#include "idle_capture.h"
#include "pipeline/allocations.h"
#include "rows_worker_main.h"
#include "symbol_worker_main.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

#define NOBODY 0x7ffffff0 /* no process has this pid */
#define REPORT_NS NSEC_PER_SEC
#define MIB (UINT64_C(1) << 20)

struct fixture {
	int proc_fd;
	struct pod_index *pods;
	struct cgroup_fs *fs;
	struct idle_capture capture;
	struct pipeline *pipeline;
	/* By the symbolizer thread; read when it has ended. */
	uint64_t sums[PROFILE_NR_TYPES];
	size_t nr_profiles[PROFILE_NR_TYPES];
};

static void take_profile(struct profile *profile, void *data)
{
	struct fixture *fixture = data;

	assert_int_equal(profile->period, 1);
	fixture->sums[profile->type] += profile_total(profile);
	fixture->nr_profiles[profile->type]++;
}

static int start(void **state, uint64_t report_ns)
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
		.counts_alloc_bytes = true,
		.counts_alloc_objects = true,
		.counts_bytes_in_use = true,
		.counts_objects_in_use = true,
		.in_use_report_ns = report_ns,
		.identity = { .cgroup_fs = fixture->fs,
			      .pods = fixture->pods,
			      .node_name = "node-1",
			      .host_name = "host-1" },
		.sink = take_profile,
		.sink_data = fixture,
	};
	return pipeline_start(&opts, &fixture->pipeline);
}

static int set_up(void **state)
{
	return start(state, 0);
}

static int set_up_reports(void **state)
{
	return start(state, REPORT_NS);
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
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)getpid(),
		.nr_user = 1,
		.frames = { 0x1000 },
	};
}

static void allocate(struct fixture *fixture, uint64_t address, uint64_t size, uint64_t weight)
{
	struct sample_event event = event_of(RECORD_ALLOC);

	event.address = address;
	event.alloc_bytes = size;
	event.grown_bytes = weight;
	pipeline_add_alloc(fixture->pipeline, &event);
}

static void allocate_as_nobody(struct fixture *fixture, uint64_t bytes)
{
	struct sample_event event = event_of(RECORD_ALLOC);

	event.pid = NOBODY;
	event.start_ns = 1;
	event.alloc_bytes = event.grown_bytes = bytes;
	pipeline_add_alloc(fixture->pipeline, &event);
}

static void release(struct fixture *fixture, uint64_t address)
{
	struct sample_event event = event_of(RECORD_FREE);

	event.nr_user = 0;
	event.address = address;
	pipeline_add_alloc(fixture->pipeline, &event);
}

static void finish(struct fixture *fixture)
{
	pipeline_close(fixture->pipeline);
	assert_true(pipeline_wait(fixture->pipeline, UINT64_MAX));
}

static void what_is_not_freed_is_in_use(void **state)
{
	struct fixture *fixture = *state;

	if (!fixture->fs)
		skip();
	allocate(fixture, 0x10, 1024, MIB);
	allocate(fixture, 0x20, MIB, 2 * MIB);
	allocate(fixture, 0x30, 4096, MIB);
	release(fixture, 0x20);
	release(fixture, 0x999);
	finish(fixture);
	assert_int_equal(fixture->sums[PROFILE_ALLOC_SPACE], 4 * MIB);
	assert_int_equal(fixture->sums[PROFILE_ALLOC_OBJECTS], 1024 + 2 + 256);
	assert_int_equal(fixture->sums[PROFILE_INUSE_SPACE], 2 * MIB);
	assert_int_equal(fixture->sums[PROFILE_INUSE_OBJECTS], 1024 + 256);
}

static void what_a_process_had_at_its_end_is_in_use(void **state)
{
	struct fixture *fixture = *state;
	struct proc_event event = { .kind = PROC_EXIT,
				    .pid = (uint32_t)getpid(),
				    .time_ns = clock_mono_ns() };

	if (!fixture->fs)
		skip();
	allocate(fixture, 0x10, 1024, MIB);
	pipeline_add_event(fixture->pipeline, &event);
	release(fixture, 0x10);
	finish(fixture);
	assert_int_equal(fixture->sums[PROFILE_INUSE_SPACE], MIB);
}

/* What ends, or what is gone without an event, is in no report. */
static void what_is_in_use_is_reported_again_and_again(void **state)
{
	struct fixture *fixture = *state;
	struct proc_event event = { .kind = PROC_EXIT, .pid = (uint32_t)getpid() };
	uint64_t now_ns = clock_mono_ns();

	if (!fixture->fs)
		skip();
	allocate_as_nobody(fixture, MIB);
	allocate(fixture, 0x10, 1024, MIB);
	pipeline_tick(fixture->pipeline, now_ns);
	allocate(fixture, 0x20, MIB, 2 * MIB);
	pipeline_tick(fixture->pipeline, now_ns + REPORT_NS - 1);
	pipeline_tick(fixture->pipeline, now_ns + REPORT_NS);
	release(fixture, 0x10);
	assert_int_equal(pipeline_get_stats(fixture->pipeline).nr_allocations_in_use, 1);
	pipeline_tick(fixture->pipeline, now_ns + 2 * REPORT_NS);
	event.time_ns = now_ns + 2 * REPORT_NS;
	pipeline_add_event(fixture->pipeline, &event);
	pipeline_tick(fixture->pipeline, now_ns + 3 * REPORT_NS);
	assert_int_equal(pipeline_get_stats(fixture->pipeline).nr_in_use_bytes, 0);
	finish(fixture);
	assert_int_equal(fixture->nr_profiles[PROFILE_INUSE_SPACE], 3);
	assert_int_equal(fixture->sums[PROFILE_INUSE_SPACE], MIB + 3 * MIB + 2 * MIB);
	assert_int_equal(fixture->nr_profiles[PROFILE_INUSE_OBJECTS], 3);
	assert_int_equal(fixture->sums[PROFILE_INUSE_OBJECTS], 1024 + (1024 + 2) + 2);
}

static void what_a_program_had_before_another_one_is_forgotten(void **state)
{
	struct fixture *fixture = *state;
	struct proc_event event = { .kind = PROC_EXEC,
				    .pid = (uint32_t)getpid(),
				    .time_ns = clock_mono_ns() };

	if (!fixture->fs)
		skip();
	allocate(fixture, 0x10, 1024, MIB);
	pipeline_add_event(fixture->pipeline, &event);
	finish(fixture);
	assert_int_equal(fixture->sums[PROFILE_INUSE_SPACE], 0);
	assert_int_equal(fixture->sums[PROFILE_ALLOC_SPACE], MIB);
}

static void fractions_of_objects_are_rounded_so_that_sums_are_right(void **state)
{
	struct sample_event event = event_of(RECORD_ALLOC);
	uint64_t nr = 0;
	(void)state;

	event.alloc_bytes = MIB;
	event.grown_bytes = MIB + MIB / 4;
	for (uint64_t i = 0; i < 100000; i++) {
		event.time_ns = i;
		nr += allocations_count_objects(&event);
	}
	assert_in_range(nr, 124000, 126000);
	event.alloc_bytes = 0;
	assert_int_equal(allocations_count_objects(&event), 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_not_freed_is_in_use, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_a_process_had_at_its_end_is_in_use, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_a_program_had_before_another_one_is_forgotten,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_in_use_is_reported_again_and_again,
						set_up_reports, tear_down),
		cmocka_unit_test(fractions_of_objects_are_rounded_so_that_sums_are_right),
	};

	if (is_rows_worker(argc, argv))
		return rows_worker_main();
	if (is_symbol_worker(argc, argv))
		return symbol_worker_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

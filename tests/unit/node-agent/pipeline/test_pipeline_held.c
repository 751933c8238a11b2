/* SPDX-License-Identifier: Apache-2.0 */
/* A recording's windows while one file is never read: others do not wait for it. */
#include "pipeline/pipeline.h"

#include "base/clock.h"
#include "base/log.h"
#include "symbol/elf/elf_symbols.h"
#include "idle_capture.h"
#include "rows_worker_main.h"
#include "symbol_worker_main.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unit.h"

#define MAX_PROFILES 8
#define STEP_NS (10 * NSEC_PER_MSEC)

struct fixture {
	int proc_fd;
	struct pod_index *pods;
	struct cgroup_fs *fs;
	struct idle_capture capture;
	struct pipeline *pipeline;
	uint64_t start_ns;
	pthread_mutex_t lock; /* of the next two */
	char leafs[MAX_PROFILES][64]; /* the first function of each profile */
	size_t nr_profiles;
};

static struct stat own_program;

int __real_elf_symbols_load(int fd, size_t max_bytes, struct elf_symbols **ret_symbols);
int __wrap_elf_symbols_load(int fd, size_t max_bytes, struct elf_symbols **ret_symbols);

/* In the symbol worker: of all files but this program it never says anything. */
int __wrap_elf_symbols_load(int fd, size_t max_bytes, struct elf_symbols **ret_symbols)
{
	struct stat st;
	uint32_t zero = 0;

	while (fstat(fd, &st) < 0 || st.st_ino != own_program.st_ino)
		syscall(SYS_futex, &zero, FUTEX_WAIT, 0, NULL, NULL, 0);
	return __real_elf_symbols_load(fd, max_bytes, ret_symbols);
}

void known_code(void);

void known_code(void)
{
	assert_true(true);
}

static void take_profile(struct profile *profile, void *data)
{
	const struct profile_stack *stack = &profile->stacks[profile->samples[0].stack];
	uint32_t leaf = profile->stack_locations[stack->first];
	struct fixture *fixture = data;

	pthread_mutex_lock(&fixture->lock);
	assert_true(fixture->nr_profiles < MAX_PROFILES);
	snprintf(fixture->leafs[fixture->nr_profiles++], sizeof(fixture->leafs[0]), "%s",
		 profile_location_name(profile, leaf));
	pthread_mutex_unlock(&fixture->lock);
}

static size_t nr_profiles_of(struct fixture *fixture)
{
	pthread_mutex_lock(&fixture->lock);
	size_t nr = fixture->nr_profiles;
	pthread_mutex_unlock(&fixture->lock);
	return nr;
}

static bool wait_for_profiles(struct fixture *fixture, size_t nr, uint64_t max_ns)
{
	const struct timespec step = clock_timespec(STEP_NS);
	uint64_t end_ns = clock_mono_ns() + max_ns;

	while (nr_profiles_of(fixture) < nr && clock_mono_ns() < end_ns)
		nanosleep(&step, NULL);
	return nr_profiles_of(fixture) >= nr;
}

static int set_up(void **state)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));

	*state = fixture;
	if (cgroup_fs_open(NULL, &fixture->fs) < 0) {
		print_message("SKIP: no cgroup hierarchy is mounted\n");
		return 0;
	}
	assert_int_equal(pod_index_new(1, &fixture->pods), 0);
	pthread_mutex_init(&fixture->lock, NULL);
	log_set_level(LOG_LEVEL_ERROR);
	fixture->proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	idle_capture_start(&fixture->capture);
	const struct pipeline_opts opts = {
		.proc_fd = fixture->proc_fd,
		.symbol_memory_max = (size_t)64 << 20,
		.last_names_wait_ns = 60 * NSEC_PER_SEC,
		.demangle = DEMANGLE_SHORT,
		.debug_dir = "/nonexistent",
		.max_processes = 8,
		.tables = fixture->capture.tables,
		.source = fixture->capture.source,
		.selection = fixture->capture.selection,
		.period_ns = NSEC_PER_SEC / 19,
		.identity = { .cgroup_fs = fixture->fs,
			      .pods = fixture->pods,
			      .node_name = "node-1",
			      .host_name = "host-1" },
		.sink = take_profile,
		.sink_data = fixture,
	};
	assert_int_equal(pipeline_start(&opts, &fixture->pipeline), 0);
	fixture->start_ns = clock_mono_ns() - 20 * NSEC_PER_SEC;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	if (fixture->pipeline)
		pipeline_give_up(fixture->pipeline, 0);
	pipeline_free(fixture->pipeline);
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

/* A sample of this process in a window of its own. */
static void add_window(struct fixture *fixture, uint64_t second, uint64_t address)
{
	const struct sample_event event = {
		.time_ns = fixture->start_ns + second * NSEC_PER_SEC,
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)getpid(),
		.nr_user = 1,
		.in_user = true,
		.frames = { address },
	};

	pipeline_add_sample(fixture->pipeline, &event);
	pipeline_tick(fixture->pipeline, event.time_ns + NSEC_PER_SEC);
}

/* In the C library. */
static uint64_t unread_address(void)
{
	return (uintptr_t)dlsym(RTLD_DEFAULT, "getppid");
}

static void what_was_not_known_in_time_is_named_at_a_recordings_end(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	add_window(fixture, 0, (uintptr_t)known_code);
	add_window(fixture, 1, (uintptr_t)known_code);
	pipeline_close(fixture->pipeline);
	assert_true(pipeline_wait(fixture->pipeline, UINT64_MAX));
	assert_int_equal(fixture->nr_profiles, 2);
	assert_string_equal(fixture->leafs[0], "known_code");
	assert_string_equal(fixture->leafs[1], "known_code");
	assert_int_equal(pipeline_get_stats(fixture->pipeline).nr_windows_finished, 2);
}

static void complete_windows_do_not_wait_behind_others(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	add_window(fixture, 0, unread_address());
	add_window(fixture, 1, (uintptr_t)known_code);
	add_window(fixture, 2, unread_address());
	add_window(fixture, 3, (uintptr_t)known_code);
	assert_true(wait_for_profiles(fixture, 2, 8 * NSEC_PER_SEC));
	assert_int_equal(nr_profiles_of(fixture), 2);
	assert_string_equal(fixture->leafs[0], "known_code");
	assert_string_equal(fixture->leafs[1], "known_code");
}

/* They have been waited for before: the time that is left is for those that were not. */
static void a_stop_ends_the_wait_for_what_was_held(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	add_window(fixture, 0, unread_address());
	add_window(fixture, 1, unread_address());
	assert_false(wait_for_profiles(fixture, 1, NSEC_PER_SEC));
	pipeline_close(fixture->pipeline);
	pipeline_give_up(fixture->pipeline, clock_mono_ns() + 30 * NSEC_PER_SEC);
	assert_true(pipeline_wait(fixture->pipeline, clock_mono_ns() + 5 * NSEC_PER_SEC));
	assert_int_equal(fixture->nr_profiles, 2);
	assert_int_equal(pipeline_get_stats(fixture->pipeline).nr_samples_lost, 0);
}

#define HELD_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		HELD_TEST(what_was_not_known_in_time_is_named_at_a_recordings_end),
		HELD_TEST(complete_windows_do_not_wait_behind_others),
		HELD_TEST(a_stop_ends_the_wait_for_what_was_held),
	};

	if (stat("/proc/self/exe", &own_program) < 0)
		return 1;
	if (is_rows_worker(argc, argv))
		return rows_worker_main();
	if (is_symbol_worker(argc, argv))
		return symbol_worker_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

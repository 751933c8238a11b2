/* SPDX-License-Identifier: Apache-2.0 */
/* Samples made by hand, of real processes, through the pipeline as the agent runs it. */
#include "pipeline/pipeline.h"

#include "base/clock.h"
#include "base/log.h"
#include "bpf/shared/frames.h"
#include "cgroup_fixture.h"
#include "idle_capture.h"
#include "pipeline/symbolizer_thread.h"
#include "rows_worker_main.h"
#include "symbol_worker_main.h"
#include "tests/standin/kubelet_standin.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define MAX_PROFILES 256
#define MAX_PROCESSES 64
#define MAX_PODS 100
#define SYMBOL_MEMORY ((size_t)64 << 20)
#define NAMES_WAIT_NS (10 * NSEC_PER_SEC)
#define PERIOD_NS (NSEC_PER_SEC / 19)
#define TICK_NS (100 * NSEC_PER_MSEC)
#define HELD_PID 4000000 /* no such process */
#define CLOCK_TOLERANCE_NS NSEC_PER_SEC
#define PODS_FILE FIXTURES_DIR "/kubelet/pods-1.36.json"
#define STRANGER_UID "00000000-2778-49ae-92ed-f9f23d29979f"
#define STRANGER_DIR                                                                               \
	"/kubepods/pod" STRANGER_UID                                                               \
	"/0000161f157008fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b6"

struct fixture {
	int proc_fd;
	struct cgroup_fs *fs;
	struct cgroup_fixture cgroups; /* of one test */
	struct pod_index *pods;
	struct idle_capture capture;
	struct pipeline *pipeline;
	uint64_t host_id; /* a cgroup that is nobody's */
	uint64_t start_ns; /* of the test, in the clock of samples */
	pthread_mutex_t gate; /* held: the sink waits */
	struct profile *profiles[MAX_PROFILES]; /* what reached the sink; owned */
	size_t nr_profiles;
};

void busy_code(void);

void busy_code(void)
{
	for (;;)
		pause();
}

/* Finishes what was handed in. */
static void drain(struct pipeline *pipeline)
{
	pipeline_close(pipeline);
	assert_true(pipeline_wait(pipeline, UINT64_MAX));
}

static void take_profile(struct profile *profile, void *data)
{
	struct fixture *fixture = data;

	pthread_mutex_lock(&fixture->gate);
	assert_true(fixture->nr_profiles < MAX_PROFILES);
	fixture->profiles[fixture->nr_profiles++] = profile_ref(profile);
	pthread_mutex_unlock(&fixture->gate);
}

static struct pipeline_opts opts_of(struct fixture *fixture, struct pod_watch *watch)
{
	return (struct pipeline_opts){
		.proc_fd = fixture->proc_fd,
		.symbol_memory_max = SYMBOL_MEMORY,
		.names_wait_ns = NAMES_WAIT_NS,
		.wants_lines = true,
		.demangle = DEMANGLE_SHORT,
		.debug_dir = DEBUG_FILES_DEFAULT_DIR,
		.max_processes = MAX_PROCESSES,
		.tables = fixture->capture.tables,
		.source = fixture->capture.source,
		.selection = fixture->capture.selection,
		.period_ns = PERIOD_NS,
		.identity = { .cgroup_fs = fixture->fs,
			      .pods = fixture->pods,
			      .watch = watch,
			      .node_name = "node-1",
			      .host_name = "host-1" },
		.sink = take_profile,
		.sink_data = fixture,
	};
}

static void start_pipeline(struct fixture *fixture, struct pod_watch *watch)
{
	const struct pipeline_opts opts = opts_of(fixture, watch);

	assert_int_equal(pipeline_start(&opts, &fixture->pipeline), 0);
}

/* Returns when the second of Unix time began in which a time lies, and a little: windows end with
 * it. */
static uint64_t second_start_ns(uint64_t mono_ns)
{
	return mono_ns - clock_mono_to_real_ns(mono_ns) % NSEC_PER_SEC + NSEC_PER_MSEC;
}

static int set_up(void **state)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));

	*state = fixture;
	if (cgroup_fs_open(NULL, &fixture->fs) < 0)
		return 0;
	fixture->proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	fixture->start_ns = second_start_ns(clock_mono_ns());
	pthread_mutex_init(&fixture->gate, NULL);
	assert_int_equal(cgroup_fs_id(fixture->fs, "/", &fixture->host_id), 0);
	assert_int_equal(pod_index_new(MAX_PODS, &fixture->pods), 0);
	log_set_level(LOG_LEVEL_ERROR);
	idle_capture_start(&fixture->capture);
	start_pipeline(fixture, NULL);
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	pipeline_free(fixture->pipeline);
	idle_capture_stop(&fixture->capture);
	for (size_t i = 0; i < fixture->nr_profiles; i++)
		profile_unref(fixture->profiles[i]);
	pod_index_free(fixture->pods);
	cgroup_fs_close(fixture->fs);
	cgroup_fixture_done(&fixture->cgroups);
	if (fixture->proc_fd > 0)
		close(fixture->proc_fd);
	test_free(fixture);
	return 0;
}

static struct fixture *fixture_or_skip(void **state)
{
	struct fixture *fixture = *state;

	if (!fixture->fs) {
		print_message("SKIP: no cgroup hierarchy is mounted\n");
		skip();
	}
	return fixture;
}

/* A copy of this program that waits in busy_code(). */
static pid_t start_child(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		busy_code();
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* A sample in busy_code(), called from nowhere, `after_ns` the start of the test. */
static struct sample_event sample_of(const struct fixture *fixture, pid_t pid, uint64_t after_ns)
{
	return (struct sample_event){
		.time_ns = fixture->start_ns + after_ns,
		.cgroup_id = fixture->host_id,
		.pid = (uint32_t)pid,
		.tid = (uint32_t)pid + 1,
		.cpu = 3,
		.nr_user = 2,
		.in_user = true,
		.unwind_result = UNWIND_COMPLETE,
		.thread_comm = "a-thread",
		.process_comm = "exactly-16-bytes",
		.frames = { (uintptr_t)busy_code, 0x10 },
	};
}

/* Not inlined: the event is large, and callers have their own. */
__attribute__((noinline)) static void add_sample(const struct fixture *fixture, pid_t pid,
						 uint64_t after_ns)
{
	const struct sample_event event = sample_of(fixture, pid, after_ns);

	pipeline_add_sample(fixture->pipeline, &event);
}

static void tick(const struct fixture *fixture, uint64_t after_ns)
{
	pipeline_tick(fixture->pipeline, fixture->start_ns + after_ns);
}

static void tell(const struct fixture *fixture, enum proc_event_kind kind, uint64_t after_ns)
{
	pipeline_add_event(fixture->pipeline,
			   &(struct proc_event){ .kind = kind,
						 .pid = HELD_PID,
						 .time_ns = fixture->start_ns + after_ns });
}

static uint64_t total_in_sink(const struct fixture *fixture)
{
	uint64_t total = 0;

	for (size_t i = 0; i < fixture->nr_profiles; i++)
		total += profile_total(fixture->profiles[i]);
	return total;
}

/* Of the profiles that all samples so far become. */
static void assert_totals(const struct fixture *fixture, const uint64_t *totals, size_t nr)
{
	drain(fixture->pipeline);
	assert_int_equal(fixture->nr_profiles, nr);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(profile_total(fixture->profiles[i]), totals[i]);
}

static void a_sample_arrives_with_all_it_says(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);
	pid_t pid = start_child();

	add_sample(fixture, pid, 0);
	end_child(pid);
	drain(fixture->pipeline);

	assert_int_equal(fixture->nr_profiles, 1);
	const struct profile *profile = fixture->profiles[0];
	assert_int_equal(profile->nr_samples, 1);
	const struct profile_sample *sample = &profile->samples[0];
	assert_int_equal(sample->pid, pid);
	assert_int_equal(sample->tid, pid + 1);
	assert_int_equal(sample->cpu, 3);
	assert_int_equal(sample->count, 1);
	assert_int_equal(sample->cgroup_id, fixture->host_id);
	assert_string_equal(profile_string(profile, sample->thread_comm), "a-thread");
	assert_string_equal(profile_string(profile, sample->process_comm), "exactly-16-bytes");
	const struct profile_process *process = &profile->processes[sample->process];
	assert_true(process->pid == (uint32_t)pid && process->seen_ns >= fixture->start_ns);
	assert_string_equal(profile_string(profile, process->name), "test_pipeline");
	assert_string_equal(profile_resource_get(profile, sample->resource, "host.name"), "host-1");
	const struct profile_stack *stack = &profile->stacks[sample->stack];
	const uint32_t *locations = &profile->stack_locations[stack->first];
	assert_int_equal(stack->nr, 2);
	assert_string_equal(profile_location_name(profile, locations[0]), "busy_code");
	assert_string_equal(profile_location_name(profile, locations[1]), "[unknown]");
}

static void a_profile_says_which_time_it_covers(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);
	uint64_t expected_ns = clock_mono_to_real_ns(fixture->start_ns);

	add_sample(fixture, getpid(), 0);
	drain(fixture->pipeline);
	assert_int_equal(fixture->nr_profiles, 1);
	assert_in_range(fixture->profiles[0]->duration_ns, 1, NSEC_PER_SEC - 1); /* it was cut */
	assert_int_equal(fixture->profiles[0]->period, PERIOD_NS);
	assert_true(fixture->profiles[0]->time_unix_ns + CLOCK_TOLERANCE_NS > expected_ns);
	assert_true(fixture->profiles[0]->time_unix_ns < expected_ns + CLOCK_TOLERANCE_NS);
}

static void samples_are_cut_into_windows_of_a_second(void **state)
{
	static const uint64_t at_ms[] = { 0, 1, 900, 1000, 1900, 2500, 3400, 9000 };
	static const uint64_t totals[] = { 3, 2, 1, 1, 1 };
	struct fixture *fixture = fixture_or_skip(state);

	for (size_t i = 0; i < array_len(at_ms); i++)
		add_sample(fixture, getpid(), at_ms[i] * NSEC_PER_MSEC);
	assert_totals(fixture, totals, array_len(totals));
	assert_int_equal(pipeline_get_stats(fixture->pipeline).nr_windows, array_len(totals));
}

static void a_late_sample_goes_into_the_present_window(void **state)
{
	static const uint64_t totals[] = { 1, 2 };
	struct fixture *fixture = fixture_or_skip(state);

	add_sample(fixture, getpid(), 0);
	add_sample(fixture, getpid(), 1100 * NSEC_PER_MSEC);
	add_sample(fixture, getpid(), 900 * NSEC_PER_MSEC);
	assert_totals(fixture, totals, array_len(totals));
}

static void a_tick_closes_a_window_that_is_over(void **state)
{
	static const uint64_t totals[] = { 2, 1 };
	struct fixture *fixture = fixture_or_skip(state);

	tick(fixture, 0);
	add_sample(fixture, getpid(), 0);
	tick(fixture, 900 * NSEC_PER_MSEC);
	add_sample(fixture, getpid(), 900 * NSEC_PER_MSEC);
	tick(fixture, NSEC_PER_SEC);
	assert_int_equal(pipeline_get_stats(fixture->pipeline).nr_windows, 1);
	add_sample(fixture, getpid(), 900 * NSEC_PER_MSEC);
	assert_totals(fixture, totals, array_len(totals));
}

static void closing_without_samples_gives_nothing_and_twice_is_fine(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	tick(fixture, 0);
	drain(fixture->pipeline);
	drain(fixture->pipeline);
	assert_int_equal(fixture->nr_profiles, 0);
	assert_int_equal(pipeline_get_stats(fixture->pipeline).nr_samples, 0);
	pipeline_free(NULL);
}

static void a_drain_delivers_all_that_was_handed_in(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	for (uint64_t i = 0; i < 500; i++)
		add_sample(fixture, getpid(), i * TICK_NS);
	drain(fixture->pipeline);
	const struct pipeline_stats stats = pipeline_get_stats(fixture->pipeline);
	assert_int_equal(total_in_sink(fixture), 500);
	assert_int_equal(stats.nr_samples, 500);
	assert_int_equal(stats.nr_samples_lost, 0);
	assert_int_equal(stats.nr_windows, 50);
	assert_int_equal(stats.nr_frames_named, 50);
	assert_int_equal(stats.nr_frames_unnamed, 50);
	assert_int_equal(stats.processes.nr_processes, 1);
	assert_int_equal(stats.identity.nr_missed, geteuid() == 0 ? 0 : 50);
}

static void what_a_slow_sink_costs_is_counted(void **state)
{
	enum { NR_SAMPLES = 3 * SYMBOLIZER_MAX_WINDOWS };
	struct fixture *fixture = fixture_or_skip(state);

	pthread_mutex_lock(&fixture->gate);
	for (uint64_t i = 0; i < NR_SAMPLES; i++) {
		add_sample(fixture, getpid(), i * NSEC_PER_SEC);
		add_sample(fixture, getpid(), i * NSEC_PER_SEC + 1);
	}
	pthread_mutex_unlock(&fixture->gate);
	drain(fixture->pipeline);

	const struct pipeline_stats stats = pipeline_get_stats(fixture->pipeline);
	assert_int_equal(stats.nr_samples, 2 * NR_SAMPLES);
	assert_true(stats.nr_samples_lost >= 2 * (NR_SAMPLES - SYMBOLIZER_MAX_WINDOWS - 2));
	assert_int_equal(total_in_sink(fixture) + stats.nr_samples_lost, stats.nr_samples);
}

/* Stacks of the kernel, each frame of which is new. */
static void what_does_not_fit_into_a_window_is_counted(void **state)
{
	enum { NR_SAMPLES = 14000 };
	struct fixture *fixture = fixture_or_skip(state);
	struct sample_event event = sample_of(fixture, getpid(), 0);
	uint64_t address = UINT64_C(0xffff800000000000);

	event.nr_user = 0;
	event.nr_kernel = MAX_KERNEL_FRAMES;
	for (int i = 0; i < NR_SAMPLES; i++) {
		for (size_t k = 0; k < MAX_KERNEL_FRAMES; k++)
			event.frames[k] = address += 16;
		pipeline_add_sample(fixture->pipeline, &event);
	}
	add_sample(fixture, getpid(), NSEC_PER_SEC);
	drain(fixture->pipeline);

	const struct pipeline_stats stats = pipeline_get_stats(fixture->pipeline);
	assert_int_equal(stats.nr_samples, NR_SAMPLES + 1);
	assert_true(stats.nr_samples_lost > 0);
	assert_true(total_in_sink(fixture) >= 1);
	assert_int_equal(total_in_sink(fixture) + stats.nr_samples_lost, stats.nr_samples);
}

static void a_process_known_from_events_alone_has_its_code(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);
	struct sample_event event = sample_of(fixture, HELD_PID, 2);

	tell(fixture, PROC_EXEC, 0);
	pipeline_add_event(fixture->pipeline, &(struct proc_event){ .kind = PROC_MMAP,
								    .pid = HELD_PID,
								    .time_ns = fixture->start_ns,
								    .start = 0x10000,
								    .len = 0x1000,
								    .inode = 1,
								    .dev_major = 1,
								    .path = "/bin/short" });
	event.nr_user = 1;
	event.frames[0] = 0x10123;
	tell(fixture, PROC_EXIT, 3);
	pipeline_add_sample(fixture->pipeline, &event);
	drain(fixture->pipeline);
	assert_int_equal(fixture->nr_profiles, 1);
	assert_string_equal(profile_location_name(fixture->profiles[0], 1), "short+0x123");
}

/* Windows are closed by samples as often as by ticks; the table must be swept in either case. */
static void processes_that_ended_are_forgotten_while_samples_come(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	tell(fixture, PROC_EXEC, 0);
	tell(fixture, PROC_EXIT, 1);
	for (uint64_t after_ns = TICK_NS; after_ns < 3 * PROCESS_LINGER_NS; after_ns += TICK_NS) {
		add_sample(fixture, getpid(), after_ns);
		tick(fixture, after_ns);
	}
	assert_int_equal(pipeline_get_stats(fixture->pipeline).processes.nr_processes, 1);
}

static void a_cgroup_nobody_knows_is_said_to_be_unknown(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);
	struct sample_event event = sample_of(fixture, getpid(), 0);

	event.cgroup_id = UINT64_MAX;
	pipeline_add_sample(fixture->pipeline, &event);
	add_sample(fixture, getpid(), 1);
	drain(fixture->pipeline);
	assert_int_equal(fixture->nr_profiles, 1);
	const struct profile *profile = fixture->profiles[0];
	assert_int_equal(profile->nr_samples, 2);
	for (size_t i = 0; i < profile->nr_samples; i++) {
		const struct profile_sample *sample = &profile->samples[i];

		if (sample->cgroup_id == UINT64_MAX)
			assert_string_equal(profile_resource_get(profile, sample->resource,
								 "flamelet.identity"),
					    "unknown");
	}
	assert_true(pipeline_get_stats(fixture->pipeline).identity.nr_samples[IDENTITY_UNKNOWN] >=
		    1);
}

static struct pod_watch *watch_server(const struct fixture *fixture,
				      const struct kubelet_standin *server)
{
	const struct kubelet_opts opts = { .url = server->url,
					   .node_name = "node-1",
					   .ca_file = server->ca_file,
					   .token_file = server->token_file };
	struct pod_watch_opts watch_opts = { .index = fixture->pods };
	struct pod_watch *watch = NULL;

	assert_int_equal(kubelet_new(&opts, &watch_opts.kubelet), 0);
	assert_int_equal(pod_watch_start(&watch_opts, &watch), 0);
	pod_watch_wait_first(watch, clock_mono_ns() + 20 * NSEC_PER_SEC);
	return watch;
}

/* A pod that the kubelet never lists. Its window ended a while ago, to make the wait short. */
static void check_grace_time(struct fixture *fixture, uint64_t cgroup_id)
{
	uint64_t now_ns = clock_mono_ns();

	fixture->start_ns = second_start_ns(now_ns + NSEC_PER_SEC / 2 - IDENTITY_GRACE_NS);
	uint64_t deadline_ns = fixture->start_ns + NSEC_PER_SEC - 2 * NSEC_PER_MSEC +
			       IDENTITY_GRACE_NS;
	fixture->host_id = cgroup_id;
	add_sample(fixture, getpid(), 0);
	drain(fixture->pipeline);
	assert_true(clock_mono_ns() >= deadline_ns);
	assert_true(clock_mono_ns() < deadline_ns + 10 * NSEC_PER_SEC);

	assert_int_equal(fixture->nr_profiles, 1);
	const struct profile *profile = fixture->profiles[0];
	uint32_t resource = profile->samples[0].resource;
	assert_string_equal(profile_resource_get(profile, resource, "k8s.pod.uid"), STRANGER_UID);
	assert_null(profile_resource_get(profile, resource, "k8s.pod.name"));
	assert_int_equal(pipeline_get_stats(fixture->pipeline).identity.nr_samples[IDENTITY_PATH],
			 1);
}

/* A sample of such a pod, whose names are still waited for when the drain begins. */
static void close_with_stranger(struct fixture *fixture, uint64_t cgroup_id)
{
	fixture->start_ns = clock_mono_ns() - NSEC_PER_SEC;
	fixture->host_id = cgroup_id;
	add_sample(fixture, getpid(), 0);
	pipeline_close(fixture->pipeline);
	assert_false(pipeline_wait(fixture->pipeline, clock_mono_ns() + NSEC_PER_SEC / 2));
}

static void check_giving_up(struct fixture *fixture, uint64_t cgroup_id)
{
	close_with_stranger(fixture, cgroup_id);
	pipeline_give_up(fixture->pipeline, clock_mono_ns());
	assert_true(pipeline_wait(fixture->pipeline, clock_mono_ns() + 60 * NSEC_PER_SEC));
	assert_int_equal(total_in_sink(fixture), 1);
	assert_int_equal(pipeline_abandon(fixture->pipeline), 0);
}

static void check_abandoning(struct fixture *fixture, uint64_t cgroup_id)
{
	close_with_stranger(fixture, cgroup_id);
	assert_int_equal(pipeline_abandon(fixture->pipeline), 1);
	assert_int_equal(pipeline_abandon(fixture->pipeline), 0);
	drain(fixture->pipeline);
	assert_int_equal(total_in_sink(fixture), 0);
	assert_int_equal(pipeline_get_stats(fixture->pipeline).nr_samples_lost, 1);
}

/* Runs a check with a pod that the kubelet never lists. */
static void with_stranger(void **state, void (*check)(struct fixture *fixture, uint64_t cgroup_id))
{
	struct fixture *fixture = fixture_or_skip(state);
	struct kubelet_standin server;

	cgroup_fixture_init(&fixture->cgroups);
	cgroup_fixture_require(&fixture->cgroups);
	if (kubelet_standin_start(&server, "127.0.0.1:0", "node-1", PODS_FILE) < 0) {
		print_message("SKIP: the kubelet stand-in needs python3 and openssl\n");
		skip();
	}
	struct pod_watch *watch = watch_server(fixture, &server);
	pipeline_free(fixture->pipeline);
	start_pipeline(fixture, watch);
	check(fixture, cgroup_fixture_make(&fixture->cgroups, STRANGER_DIR));

	pipeline_free(take_ptr(fixture->pipeline));
	pod_watch_stop(watch);
	kubelet_standin_stop(&server);
}

static void a_window_waits_for_names_but_not_for_ever(void **state)
{
	with_stranger(state, check_grace_time);
}

static void a_window_does_not_wait_for_names_when_the_end_is_near(void **state)
{
	with_stranger(state, check_giving_up);
}

static void what_is_abandoned_is_lost_once(void **state)
{
	with_stranger(state, check_abandoning);
}

#define PIPELINE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		PIPELINE_TEST(a_sample_arrives_with_all_it_says),
		PIPELINE_TEST(a_profile_says_which_time_it_covers),
		PIPELINE_TEST(samples_are_cut_into_windows_of_a_second),
		PIPELINE_TEST(a_late_sample_goes_into_the_present_window),
		PIPELINE_TEST(a_tick_closes_a_window_that_is_over),
		PIPELINE_TEST(closing_without_samples_gives_nothing_and_twice_is_fine),
		PIPELINE_TEST(a_drain_delivers_all_that_was_handed_in),
		PIPELINE_TEST(what_a_slow_sink_costs_is_counted),
		PIPELINE_TEST(what_does_not_fit_into_a_window_is_counted),
		PIPELINE_TEST(a_process_known_from_events_alone_has_its_code),
		PIPELINE_TEST(processes_that_ended_are_forgotten_while_samples_come),
		PIPELINE_TEST(a_cgroup_nobody_knows_is_said_to_be_unknown),
		PIPELINE_TEST(a_window_waits_for_names_but_not_for_ever),
		PIPELINE_TEST(a_window_does_not_wait_for_names_when_the_end_is_near),
		PIPELINE_TEST(what_is_abandoned_is_lost_once),
	};

	if (is_rows_worker(argc, argv))
		return rows_worker_main();
	if (is_symbol_worker(argc, argv))
		return symbol_worker_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* With real cgroups, made below one of the test's own. */
#include "agent/target.h"

#include "cgroup_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "unit.h"

#define MAX_BYTES 65536
#define ID "9a4e161f157008fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b6"
#define POD_DIR "/kubepods/burstable/pod43ef20e3-2778-49ae-92ed-f9f23d29979f"
#define DIR POD_DIR "/" ID

struct fixture {
	struct cgroup_fixture cgroups;
	struct options options;
	struct target target;
	struct selection *selection;
	struct strbuf message;
};

static int set_up(void **state)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));

	cgroup_fixture_init(&fixture->cgroups);
	fixture->message = strbuf_with_max(MAX_BYTES);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	selection_free(fixture->selection);
	cgroup_fixture_done(&fixture->cgroups);
	strbuf_done(&fixture->message);
	test_free(fixture);
	return 0;
}

/* The test's fixture with the cgroup of a container, or the end of the test. */
static struct fixture *fixture_with_pod(void **state)
{
	struct fixture *fixture = *state;

	cgroup_fixture_require(&fixture->cgroups);
	cgroup_fixture_make(&fixture->cgroups, DIR);
	return fixture;
}

static int resolve(struct fixture *fixture)
{
	return target_resolve(&fixture->options, &fixture->target, &fixture->message);
}

static void assert_refused(struct fixture *fixture, int error, const char *message)
{
	assert_int_equal(resolve(fixture), error);
	assert_string_equal(strbuf_str(&fixture->message), message);
}

/* Selects by --cgroup alone. */
static void select_cgroup(struct fixture *fixture, const char *path)
{
	char *items[] = { (char *)path };

	selection_free(fixture->selection);
	fixture->options.cgroups = (struct string_list){ items, 1, 1 };
	assert_int_equal(
		target_check_cgroups(&fixture->options, fixture->cgroups.fs, &fixture->message), 0);
	assert_int_equal(target_select(&fixture->options, fixture->cgroups.fs, &fixture->message,
				       &fixture->selection),
			 0);
}

static enum selection_verdict verdict_on(const struct fixture *fixture, const char *path)
{
	const struct pod_match nothing = { .is_final = false };
	struct cgroup_owner owner;

	cgroup_path_parse(path, &owner);
	return selection_decide(fixture->selection, path, &owner, &nothing);
}

static void without_options_everything_is_wanted(void **state)
{
	struct fixture *fixture = fixture_with_pod(state);
	struct capture_opts capture = { .frequency_hz = 99 };

	assert_int_equal(resolve(fixture), 0);
	target_apply(&fixture->target, &fixture->options, &capture);
	assert_null(capture.cpus);
	assert_int_equal(capture.nr_pids + capture.nr_tids + capture.nr_comms, 0);
	assert_false(capture.include_idle || capture.follow_forks);
	assert_int_equal(target_select(&fixture->options, fixture->cgroups.fs, &fixture->message,
				       &fixture->selection),
			 0);
	assert_true(selection_is_empty(fixture->selection));
}

static void a_cgroup_is_told_by_its_path_in_any_spelling(void **state)
{
	struct fixture *fixture = fixture_with_pod(state);
	char full[512];
	const char *const paths[] = { POD_DIR, &POD_DIR[1], full, POD_DIR "/", "//kubepods" };

	snprintf(full, sizeof(full), "%s%s", fixture->cgroups.root, POD_DIR);
	for (size_t i = 0; i < array_len(paths); i++) {
		select_cgroup(fixture, paths[i]);
		assert_int_equal(verdict_on(fixture, DIR), SELECTION_WANTED);
		assert_int_equal(verdict_on(fixture, "/system.slice"), SELECTION_EXCLUDED);
	}
}

static void the_root_cgroup_has_two_spellings_too(void **state)
{
	struct fixture *fixture = fixture_with_pod(state);
	const char *const paths[] = { "/", fixture->cgroups.root };

	for (size_t i = 0; i < array_len(paths); i++) {
		select_cgroup(fixture, paths[i]);
		assert_int_equal(verdict_on(fixture, "/"), SELECTION_WANTED);
		assert_int_equal(verdict_on(fixture, "/system.slice"), SELECTION_WANTED);
	}
}

static void a_cgroup_that_is_not_there_is_refused(void **state)
{
	static const char *const paths[] = { "/nosuch", "/cgroup.procs", "nosuch", "//x/y" };
	struct fixture *fixture = fixture_with_pod(state);

	for (size_t i = 0; i < array_len(paths); i++) {
		char *items[] = { (char *)POD_DIR, (char *)paths[i] };
		char message[512];

		snprintf(message, sizeof(message), "cgroup %s: not found below %s", paths[i],
			 fixture->cgroups.root);
		strbuf_clear(&fixture->message);
		fixture->options.cgroups = (struct string_list){ items, 2, 2 };
		assert_int_equal(target_check_cgroups(&fixture->options, fixture->cgroups.fs,
						      &fixture->message),
				 -ENOENT);
		assert_string_equal(strbuf_str(&fixture->message), message);
	}
}

static void *wait_for_cancel(void *data)
{
	*(_Atomic pid_t *)data = gettid();
	pause();
	return NULL;
}

static void a_thread_is_no_process(void **state)
{
	struct fixture *fixture = *state;
	_Atomic pid_t tid = 0;
	char message[96];
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, wait_for_cancel, &tid), 0);
	while (tid == 0)
		usleep(1000);
	uint32_t pid = (uint32_t)tid;
	fixture->options.pids = (struct number_list){ &pid, 1, 1 };
	snprintf(message, sizeof(message),
		 "pid %u: no such process; it is a thread, which --tid takes", pid);
	assert_refused(fixture, -ENOENT, message);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
}

/* A pid that was a process's a moment ago. */
static uint32_t absent_pid(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return (uint32_t)pid;
}

static void a_process_must_exist(void **state)
{
	struct fixture *fixture = *state;
	uint32_t pids[] = { (uint32_t)getpid(), 1, absent_pid() };
	char message[64];

	fixture->options.pids = (struct number_list){ pids, 2, 2 };
	assert_int_equal(resolve(fixture), 0);
	fixture->options.pids.nr = 3;
	snprintf(message, sizeof(message), "pid %u: no such process", pids[2]);
	assert_refused(fixture, -ENOENT, message);
}

static void a_thread_must_exist(void **state)
{
	struct fixture *fixture = *state;
	uint32_t tid = absent_pid();
	char message[64];

	fixture->options.tids = (struct number_list){ &tid, 1, 1 };
	snprintf(message, sizeof(message), "tid %u: no such thread", tid);
	assert_refused(fixture, -ENOENT, message);
	strbuf_clear(&fixture->message);
	tid = (uint32_t)getpid();
	assert_int_equal(resolve(fixture), 0);
}

static void what_needs_no_resolving_is_passed_on(void **state)
{
	struct fixture *fixture = *state;
	uint32_t cpus[] = { 0, 65 };
	uint32_t pid = (uint32_t)getpid();
	char *comms[] = { (char *)"nginx" };
	struct capture_opts capture = { .frequency_hz = 99 };

	fixture->options.cpus = (struct number_list){ cpus, 2, 2 };
	fixture->options.pids = (struct number_list){ &pid, 1, 1 };
	fixture->options.tids = (struct number_list){ &pid, 1, 1 };
	fixture->options.comms = (struct string_list){ comms, 1, 1 };
	fixture->options.command.nr = 1;
	fixture->options.include_idle = true;
	assert_int_equal(resolve(fixture), 0);
	target_apply(&fixture->target, &fixture->options, &capture);
	const struct cpu_set_bits wanted = { .words = { [0] = 1, [1] = 2 } };
	assert_memory_equal(capture.cpus, &wanted, sizeof(wanted));
	assert_int_equal(capture.nr_pids, 1);
	assert_int_equal(capture.pids[0], pid);
	assert_int_equal(capture.nr_tids, 1);
	assert_int_equal(capture.tids[0], pid);
	assert_int_equal(capture.nr_comms, 1);
	assert_string_equal(capture.comms[0], "nginx");
	assert_true(capture.include_idle);
	assert_true(capture.follow_forks);
	assert_int_equal(capture.frequency_hz, 99);
}

#define TARGET_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TARGET_TEST(without_options_everything_is_wanted),
		TARGET_TEST(a_cgroup_is_told_by_its_path_in_any_spelling),
		TARGET_TEST(the_root_cgroup_has_two_spellings_too),
		TARGET_TEST(a_cgroup_that_is_not_there_is_refused),
		TARGET_TEST(a_process_must_exist),
		TARGET_TEST(a_thread_is_no_process),
		TARGET_TEST(a_thread_must_exist),
		TARGET_TEST(what_needs_no_resolving_is_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

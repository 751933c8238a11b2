/* SPDX-License-Identifier: Apache-2.0 */
/* With real cgroups, made below one of the test's own. */
#include "target.h"

#include "base/clock.h"
#include "cgroup_fixture.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>

#include "unit.h"

#define MAX_BYTES 65536
#define MAX_PODS 10
#define POD_UID "43ef20e3-2778-49ae-92ed-f9f23d29979f"
#define OTHER_UID "bbbbbbbb-2778-49ae-92ed-f9f23d29979f"
#define ABSENT_UID "cccccccc-2778-49ae-92ed-f9f23d29979f"
#define POD_DIR "/kubepods/burstable/pod" POD_UID
#define OTHER_DIR "/kubepods/pod" OTHER_UID
#define ID_A "9a4e161f157008fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b6"
#define ID_B "9a4e161f157108fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b6"
#define ID_A_12 "9a4e161f1570"
#define DIR_A POD_DIR "/" ID_A
#define DIR_B OTHER_DIR "/" ID_B

#define POD(namespace, name, uid)                                                                  \
	"{\"metadata\":{\"name\":\"" name                                                          \
	"\",\"namespace\":\"" namespace "\",\"uid\":\"" uid                                        \
					"\"},\"spec\":{\"containers\":[{}]},\"status\":{}}"

struct fixture {
	struct cgroup_fixture cgroups;
	struct pod_index *pods;
	struct options options;
	char *pod, *container; /* what options has of each */
	struct target target;
	struct strbuf message;
};

static int set_up(void **state)
{
	static const char body[] = "{\"kind\":\"PodList\",\"items\":[" POD(
		"shop", "web", POD_UID) "," POD("shop", "db", OTHER_UID) "," POD("test", "db",
										 ABSENT_UID) "]}";
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));
	const struct pod_list_opts list_opts = { .max_bytes = MAX_BYTES };
	struct pod_list *list = NULL;

	cgroup_fixture_init(&fixture->cgroups);
	assert_int_equal(pod_index_new(MAX_PODS, &fixture->pods), 0);
	assert_int_equal(pod_list_parse(body, strlen(body), &list_opts, &list), 0);
	assert_int_equal(pod_index_update(fixture->pods, list, clock_mono_ns()), 0);
	fixture->message = strbuf_with_max(MAX_BYTES);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	target_done(&fixture->target);
	pod_index_free(fixture->pods);
	cgroup_fixture_done(&fixture->cgroups);
	strbuf_done(&fixture->message);
	test_free(fixture);
	return 0;
}

/* The test's fixture with the cgroups of two pods, or the end of the test. */
static struct fixture *fixture_with_pods(void **state)
{
	struct fixture *fixture = *state;

	cgroup_fixture_require(&fixture->cgroups);
	cgroup_fixture_make(&fixture->cgroups, DIR_A "/init.scope/deeper");
	cgroup_fixture_make(&fixture->cgroups, DIR_B);
	return fixture;
}

static void set_pod(struct fixture *fixture, const char *pod)
{
	fixture->pod = (char *)pod;
	fixture->options.pods = (struct string_list){ &fixture->pod, 1, 1 };
}

static void set_container(struct fixture *fixture, const char *container)
{
	fixture->container = (char *)container;
	fixture->options.containers = (struct string_list){ &fixture->container, 1, 1 };
}

static int resolve(struct fixture *fixture)
{
	return target_resolve(&fixture->options, fixture->cgroups.fs, fixture->pods,
			      &fixture->target, &fixture->message);
}

static uint64_t id_of(const struct fixture *fixture, const char *path)
{
	uint64_t id = 0;

	assert_int_equal(cgroup_fs_id(fixture->cgroups.fs, path, &id), 0);
	return id;
}

/* The target is these cgroups, in whatever order. */
static void assert_cgroups(const struct fixture *fixture, const char *const *paths, size_t nr)
{
	assert_int_equal(fixture->target.nr_cgroup_ids, nr);
	for (size_t i = 0; i < nr; i++) {
		uint64_t id = id_of(fixture, paths[i]);
		size_t nr_found = 0;

		for (size_t k = 0; k < nr; k++)
			nr_found += fixture->target.cgroup_ids[k] == id;
		assert_int_equal(nr_found, 1);
	}
}

static void assert_cgroup(const struct fixture *fixture, const char *path)
{
	assert_cgroups(fixture, &path, 1);
}

static void assert_refused(struct fixture *fixture, int error, const char *message)
{
	assert_int_equal(resolve(fixture), error);
	assert_string_equal(strbuf_str(&fixture->message), message);
	assert_int_equal(fixture->target.nr_cgroup_ids, 0);
	assert_null(fixture->target.cgroup_ids);
}

static void without_options_the_target_is_empty(void **state)
{
	struct fixture *fixture = *state;
	struct capture_opts capture = { 0 };

	assert_int_equal(resolve(fixture), 0);
	assert_int_equal(fixture->target.nr_cgroup_ids, 0);
	target_apply(&fixture->target, &fixture->options, &capture);
	assert_null(capture.cpus);
	assert_int_equal(capture.nr_pids, 0);
	assert_false(capture.follow_forks);
}

static void a_pod_is_its_own_cgroup(void **state)
{
	struct fixture *fixture = fixture_with_pods(state);

	set_pod(fixture, "web");
	assert_int_equal(resolve(fixture), 0);
	assert_cgroup(fixture, POD_DIR);
}

static void a_pod_may_have_its_namespace_before_it(void **state)
{
	struct fixture *fixture = fixture_with_pods(state);

	set_pod(fixture, "shop/db");
	assert_int_equal(resolve(fixture), 0);
	assert_cgroup(fixture, OTHER_DIR);
}

static void a_pod_that_cannot_be_told_is_refused_with_the_reason(void **state)
{
	static const struct {
		const char *pod;
		int error;
		const char *message;
	} cases[] = {
		{ "nosuch", -ENOENT,
		  "pod nosuch: the kubelet does not list it; names need --kubelet-url" },
		{ "test/web", -ENOENT,
		  "pod test/web: the kubelet does not list it; names need --kubelet-url" },
		{ "/web", -ENOENT,
		  "pod /web: the kubelet does not list it; names need --kubelet-url" },
		{ "db", -ENOTUNIQ, "pod db is in several namespaces: write NAMESPACE/db" },
		{ "test/db", -ENOENT, "pod test/db: no such pod runs on this node" },
	};
	struct fixture *fixture = fixture_with_pods(state);

	for (size_t i = 0; i < array_len(cases); i++) {
		strbuf_clear(&fixture->message);
		set_pod(fixture, cases[i].pod);
		assert_refused(fixture, cases[i].error, cases[i].message);
	}
}

static void a_container_is_told_by_the_beginning_of_its_id(void **state)
{
	static const char *const ids[] = { ID_A, ID_A_12 };

	for (size_t i = 0; i < array_len(ids); i++) {
		struct fixture *fixture = fixture_with_pods(state);

		set_container(fixture, ids[i]);
		assert_int_equal(resolve(fixture), 0);
		assert_cgroup(fixture, DIR_A); /* and not what is below it */
		target_done(&fixture->target);
	}
}

static void a_beginning_of_two_ids_is_both_containers(void **state)
{
	static const char *const paths[] = { DIR_A, DIR_B };
	struct fixture *fixture = fixture_with_pods(state);

	set_container(fixture, "9a4e161f157");
	assert_int_equal(resolve(fixture), 0);
	assert_cgroups(fixture, paths, array_len(paths));
}

static void a_container_that_is_not_there_is_refused(void **state)
{
	struct fixture *fixture = fixture_with_pods(state);

	set_container(fixture, "000000000000");
	assert_refused(fixture, -ENOENT,
		       "container 000000000000: no such container runs on this node");
	strbuf_clear(&fixture->message);
	set_container(fixture, ID_A "0");
	assert_int_equal(resolve(fixture), -ENOENT);
}

static void a_cgroup_is_told_by_its_path_in_either_spelling(void **state)
{
	struct fixture *fixture = fixture_with_pods(state);
	char full[512];
	const char *const paths[] = { POD_DIR, &POD_DIR[1], full };

	snprintf(full, sizeof(full), "%s%s", fixture->cgroups.root, POD_DIR);
	for (size_t i = 0; i < array_len(paths); i++) {
		char *items[] = { (char *)paths[i] };

		fixture->options.cgroups = (struct string_list){ items, 1, 1 };
		assert_int_equal(resolve(fixture), 0);
		assert_cgroup(fixture, POD_DIR);
		target_done(&fixture->target);
	}
}

static void the_root_cgroup_has_two_spellings_too(void **state)
{
	struct fixture *fixture = fixture_with_pods(state);
	const char *const paths[] = { "/", fixture->cgroups.root };

	for (size_t i = 0; i < array_len(paths); i++) {
		char *items[] = { (char *)paths[i] };

		fixture->options.cgroups = (struct string_list){ items, 1, 1 };
		assert_int_equal(resolve(fixture), 0);
		assert_cgroup(fixture, "/");
		target_done(&fixture->target);
	}
}

static void a_cgroup_that_is_not_there_is_refused(void **state)
{
	static const char *const paths[] = { "/nosuch", "/cgroup.procs", "nosuch", "//x/y" };
	struct fixture *fixture = fixture_with_pods(state);

	for (size_t i = 0; i < array_len(paths); i++) {
		char *items[] = { (char *)POD_DIR, (char *)paths[i] };
		char message[512];

		snprintf(message, sizeof(message), "cgroup %s: not found below %s", paths[i],
			 fixture->cgroups.root);
		strbuf_clear(&fixture->message);
		fixture->options.cgroups = (struct string_list){ items, 2, 2 };
		assert_refused(fixture, -ENOENT, message);
	}
}

static void targets_of_all_kinds_add_up(void **state)
{
	static const char *const paths[] = { OTHER_DIR, DIR_A, "/kubepods" };
	struct fixture *fixture = fixture_with_pods(state);
	char *items[] = { (char *)"/kubepods" };

	set_pod(fixture, "shop/db");
	set_container(fixture, ID_A_12);
	fixture->options.cgroups = (struct string_list){ items, 1, 1 };
	assert_int_equal(resolve(fixture), 0);
	assert_cgroups(fixture, paths, array_len(paths));
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
	assert_int_equal(cpu_set_count(capture.cpus), 2);
	assert_true(cpu_set_has(capture.cpus, 0) && cpu_set_has(capture.cpus, 65));
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
		TARGET_TEST(without_options_the_target_is_empty),
		TARGET_TEST(a_pod_is_its_own_cgroup),
		TARGET_TEST(a_pod_may_have_its_namespace_before_it),
		TARGET_TEST(a_pod_that_cannot_be_told_is_refused_with_the_reason),
		TARGET_TEST(a_container_is_told_by_the_beginning_of_its_id),
		TARGET_TEST(a_beginning_of_two_ids_is_both_containers),
		TARGET_TEST(a_container_that_is_not_there_is_refused),
		TARGET_TEST(a_cgroup_is_told_by_its_path_in_either_spelling),
		TARGET_TEST(the_root_cgroup_has_two_spellings_too),
		TARGET_TEST(a_cgroup_that_is_not_there_is_refused),
		TARGET_TEST(targets_of_all_kinds_add_up),
		TARGET_TEST(a_process_must_exist),
		TARGET_TEST(a_thread_is_no_process),
		TARGET_TEST(a_thread_must_exist),
		TARGET_TEST(what_needs_no_resolving_is_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* With real cgroups, one of which is held up. */
#include "vitals/throttling.h"

#include "base/cleanup.h"
#include "cgroup_fixture.h"
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#define V1_CPU_ROOT "/sys/fs/cgroup/cpu"
#define PATH_BYTES 512
#define MAX_ROUNDS 600 /* of 50 ms */
#define ROUND_US 50000

struct fixture {
	struct cgroup_fixture cgroups;
	struct throttling throttling;
	uint64_t other_id, container_id;
	pid_t child;
	uint64_t held_up_id; /* that was visited last */
	uint64_t throttled_ns; /* of all visits */
	uint32_t nr_seconds; /* of the last visit */
};

static int put(const struct fixture *fixture, const char *file, const char *text)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", fixture->cgroups.root, file);
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
}

/* One percent of a CPU for the pod. */
static bool set_limit(const struct fixture *fixture)
{
	return put(fixture, "pod/cpu.cfs_quota_us", "1000") == 0 ||
	       (put(fixture, "cgroup.subtree_control", "+cpu") == 0 &&
		put(fixture, "pod/cpu.max", "1000 100000") == 0);
}

static pid_t start_busy(const struct fixture *fixture)
{
	char pid_text[16];
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		for (;;)
			;
	snprintf(pid_text, sizeof(pid_text), "%d", pid);
	assert_int_equal(put(fixture, "pod/container/cgroup.procs", pid_text), 0);
	return pid;
}

static int setup(void **state)
{
	static struct fixture fixture;

	fixture = (struct fixture){ .child = -1 };
	*state = &fixture;
	cgroup_fixture_init_at(&fixture.cgroups,
			       access(V1_CPU_ROOT, F_OK) == 0 ? V1_CPU_ROOT : NULL);
	if (!fixture.cgroups.fs)
		return 0;
	fixture.container_id = cgroup_fixture_make(&fixture.cgroups, "/pod/container");
	fixture.other_id = cgroup_fixture_make(&fixture.cgroups, "/pod/other");
	throttling_init(&fixture.throttling, fixture.cgroups.fs);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	if (!fixture->cgroups.fs)
		return 0;
	throttling_done(&fixture->throttling);
	cgroup_fixture_done(&fixture->cgroups);
	return 0;
}

static struct fixture *fixture_or_skip(void **state)
{
	struct fixture *fixture = *state;

	cgroup_fixture_require(&fixture->cgroups);
	if (!set_limit(fixture)) {
		print_message("SKIP: this hierarchy has no limits of CPU time\n");
		skip();
	}
	return fixture;
}

static void visit(uint64_t cgroup_id, const struct cpu_throttling *increase, uint32_t nr_seconds,
		  void *data)
{
	struct fixture *fixture = data;

	fixture->held_up_id = cgroup_id;
	fixture->throttled_ns += increase->throttled_ns;
	fixture->nr_seconds = nr_seconds;
}

static void a_limit_above_a_cgroup_holds_it_up(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	fixture->child = start_busy(fixture);
	for (uint64_t i = 0; i < MAX_ROUNDS && fixture->throttled_ns == 0; i++) {
		throttling_see(&fixture->throttling, fixture->container_id, i);
		throttling_see(&fixture->throttling, fixture->other_id, i);
		throttling_read(&fixture->throttling, i, visit, fixture);
		usleep(ROUND_US);
	}
	kill(fixture->child, SIGKILL);
	waitpid(fixture->child, NULL, 0);
	assert_true(fixture->throttled_ns > 0);
	/* Both are below the limit; it counts once. */
	assert_int_equal(fixture->held_up_id, fixture->container_id);
	/* It was read this long ago, when it was not known to be held up. */
	assert_int_equal(fixture->nr_seconds, THROTTLING_INTERVAL_S);
}

static void an_idle_cgroup_is_not_held_up_and_is_forgotten(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	throttling_see(&fixture->throttling, fixture->container_id, 1);
	throttling_see(&fixture->throttling, UINT64_MAX, 1); /* it is gone */
	for (uint64_t i = 1; i < THROTTLING_FORGET_S; i++)
		throttling_read(&fixture->throttling, i, visit, fixture);
	assert_int_equal(fixture->throttling.nr, 2);
	assert_int_equal(fixture->throttled_ns, 0);
	throttling_read(&fixture->throttling, 2 + THROTTLING_FORGET_S, visit, fixture);
	assert_int_equal(fixture->throttling.nr, 0);
}

static void cgroups_beyond_the_limit_are_counted(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	for (uint64_t i = 0; i < THROTTLING_MAX_CGROUPS + 5; i++)
		throttling_see(&fixture->throttling, UINT64_MAX - i, 1);
	assert_int_equal(fixture->throttling.nr, THROTTLING_MAX_CGROUPS);
	assert_int_equal(fixture->throttling.nr_ignored, 5);
	throttling_read(&fixture->throttling, 1, visit, fixture);
}

int main(void)
{
#define WITH_CGROUPS(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		WITH_CGROUPS(a_limit_above_a_cgroup_holds_it_up),
		WITH_CGROUPS(an_idle_cgroup_is_not_held_up_and_is_forgotten),
		WITH_CGROUPS(cgroups_beyond_the_limit_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* CPUs that come when the right to sample them is gone. None of this machine's goes and comes:
 * the follower is made to forget one in a process that has given up its capabilities. */
#include "agent/cpu_follower.h"

#include "base/capabilities.h"
#include "base/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "capture/bpf/capture_bpf.h"

#define RING_BYTES 65536
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return __LINE__;                                                           \
	} while (0)

/* Everything is held by this process alone, which ends with it. */
struct fixture {
	struct sample_source *source;
	struct sideband *sideband;
	struct cpu_follower follower;
};

static int set_up(struct fixture *fixture)
{
	const struct capture_opts opts = { .frequency_hz = 19, .poll_interval_ns = NSEC_PER_SEC };
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);

	CHECK(capture_bpf_open(&opts, &message, &fixture->source) == 0);
	CHECK(sideband_open(RING_BYTES, &fixture->sideband) == 0);
	fixture->follower = (struct cpu_follower){ .source = fixture->source,
						   .sideband = fixture->sideband };
	return 0;
}

static void forget_first(struct fixture *fixture)
{
	sideband_remove_cpu(fixture->sideband, 0);
	fixture->follower.followed.words[0] &= ~UINT64_C(1);
}

/* stderr is the pipe that the test reads. */
static int follow_without_permission(void)
{
	struct fixture fixture;
	struct capture_stats stats;

	CHECK(set_up(&fixture) == 0);
	CHECK(cpu_follower_follow(&fixture.follower) == 0);
	forget_first(&fixture);
	CHECK(cpu_follower_follow(&fixture.follower) == 0);
	CHECK(cpu_set_has(&fixture.follower.followed, 0));

	CHECK(capabilities_keep(CAPABILITY(BPF)) == 0);
	forget_first(&fixture);
	for (int i = 0; i < 3; i++)
		CHECK(cpu_follower_follow(&fixture.follower) == 0);
	CHECK(!cpu_set_has(&fixture.follower.followed, 0));

	sample_source_stop(fixture.source);
	CHECK(cpu_follower_follow(&fixture.follower) == -EACCES);
	sample_source_get_stats(fixture.source, &stats);
	CHECK(stats.nr_cpus_refused > 0);
	CHECK(sample_source_cpu_refusal(fixture.source) == -EACCES);
	return 0;
}

static void a_cpu_that_may_not_be_sampled_is_told_of_once_and_counted(void **state)
{
	char log[4096] = "";
	int ends[2], status = 0;
	(void)state;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDERR_FILENO);
		_exit(follow_without_permission() & 0xff);
	}
	close(ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	ssize_t n = read(ends[0], log, sizeof(log) - 1);
	close(ends[0]);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_true(n > 0);
	assert_non_null(strstr(log, "cannot sample all CPUs; retrying every second: "
				    "perf_event_open: Permission denied: CAP_PERFMON is missing"));
	assert_int_equal(strcspn(log, "\n"), strlen(log) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cpu_that_may_not_be_sampled_is_told_of_once_and_counted),
	};

	if (geteuid() != 0) {
		puts("SKIP: needs root");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

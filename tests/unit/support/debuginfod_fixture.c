/* SPDX-License-Identifier: Apache-2.0 */
#include "debuginfod_fixture.h"

#include "base/clock.h"
#include "remove_tree.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#define STEP_NS (5 * NSEC_PER_MSEC)

int debuginfod_fixture_setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	snprintf(fixture->dir, sizeof(fixture->dir), "/tmp/test_debuginfod.XXXXXX");
	assert_non_null(mkdtemp(fixture->dir));
	snprintf(fixture->cache_dir, sizeof(fixture->cache_dir), "%s/cache", fixture->dir);
	debuginfod_standin_start(&fixture->standin);
	fixture->opts = (struct debuginfod_opts){
		.program = FLAMELET_PROGRAM,
		.urls = fixture->standin.url,
		.cache_dir = fixture->cache_dir,
		.max_cache_bytes = MAX_CACHE_BYTES,
		.max_file_bytes = MAX_FILE_BYTES,
		.timeout_ns = TIMEOUT_NS,
	};
	*state = fixture;
	return 0;
}

int debuginfod_fixture_teardown(void **state)
{
	struct fixture *fixture = *state;

	debuginfod_free(fixture->debuginfod);
	debuginfod_standin_stop(&fixture->standin);
	remove_tree(fixture->dir);
	free(fixture);
	return 0;
}

void start(struct fixture *fixture)
{
	assert_int_equal(debuginfod_new(&fixture->opts, &fixture->debuginfod), 0);
}

void ask(const struct fixture *fixture, const char *build_id, uint64_t cookie)
{
	assert_int_equal(debuginfod_ask(fixture->debuginfod, build_id, cookie), 0);
}

struct debuginfod_stats stats_of(const struct fixture *fixture)
{
	return debuginfod_get_stats(fixture->debuginfod);
}

int next(struct fixture *fixture, uint64_t *ret_cookie, int *ret_fd)
{
	uint64_t start_ns = clock_mono_ns();
	int r = debuginfod_next(fixture->debuginfod, ret_cookie, ret_fd);
	uint64_t took_ns = clock_mono_ns() - start_ns;

	if (took_ns > fixture->longest_ns)
		fixture->longest_ns = took_ns;
	return r;
}

void sleep_a_step(void)
{
	const struct timespec step = clock_timespec(STEP_NS);

	nanosleep(&step, NULL);
}

int wait_for_file(struct fixture *fixture, uint64_t *ret_cookie)
{
	uint64_t deadline_ns = clock_mono_ns() + PATIENCE_NS;
	int fd = -1;

	while (next(fixture, ret_cookie, &fd) == 0 && stats_of(fixture).nr_waiting > 0) {
		assert_true(clock_mono_ns() < deadline_ns);
		sleep_a_step();
	}
	return fd;
}

void expect_file(struct fixture *fixture, uint64_t expected_cookie)
{
	uint64_t cookie = 0;
	struct stat st;
	int fd = wait_for_file(fixture, &cookie);

	assert_true(fd >= 0);
	assert_int_equal(cookie, expected_cookie);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, STANDIN_FILE_BYTES);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
}

void expect_nothing(struct fixture *fixture)
{
	uint64_t cookie = 0;

	assert_int_equal(wait_for_file(fixture, &cookie), -1);
	assert_int_equal(stats_of(fixture).nr_waiting, 0);
}

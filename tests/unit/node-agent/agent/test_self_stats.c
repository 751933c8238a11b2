/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/self_stats.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <fcntl.h>

#include "unit.h"

static void it_tells_what_this_process_takes(void **state)
{
	struct self_stats before = self_stats_read();
	(void)state;

	assert_in_range(before.cpu_ns, 1, 60 * NSEC_PER_SEC);
	assert_in_range(before.resident_bytes, 64 << 10, UINT64_C(4) << 30);
	assert_in_range(before.nr_open_fds, 1, before.max_fds);
	_cleanup_close_ int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(self_stats_read().nr_open_fds, before.nr_open_fds + 1);
}

static void it_started_a_moment_ago(void **state)
{
	uint64_t start_ns = 0;
	uint64_t now_ns = clock_real_ns();
	(void)state;

	assert_int_equal(self_stats_start_ns(&start_ns), 0);
	assert_in_range(start_ns, now_ns - 60 * NSEC_PER_SEC, now_ns + NSEC_PER_SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_tells_what_this_process_takes),
		cmocka_unit_test(it_started_a_moment_ago),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

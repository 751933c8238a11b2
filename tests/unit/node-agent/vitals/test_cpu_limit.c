/* SPDX-License-Identifier: Apache-2.0 */
#include "vitals/cpu_limit.h"

#include "base/cleanup.h"
#include "remove_tree.h"
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];
static int dir_fd;

static void make(const char *path)
{
	assert_int_equal(mkdirat(dir_fd, path, 0700), 0);
}

static void put(const char *path, const char *text)
{
	int fd = openat(dir_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/test_cpu_limit.XXXXXX");
	assert_non_null(mkdtemp(dir));
	dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return dir_fd < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	(void)state;
	close(dir_fd);
	remove_tree(dir);
	return 0;
}

static struct cpu_throttling parse(const char *text)
{
	struct cpu_throttling throttling = { 99, 99 };

	cpu_limit_parse_stat(text, strlen(text), &throttling);
	return throttling;
}

static void both_versions_of_cgroups_are_read_in_ns(void **state)
{
	(void)state;

	struct cpu_throttling throttling = parse(
		"usage_usec 500\nuser_usec 1\nsystem_usec 2\n"
		"nr_periods 9\nnr_throttled 3\nthrottled_usec 25\n");
	assert_int_equal(throttling.nr_throttled, 3);
	assert_int_equal(throttling.throttled_ns, 25000);
	throttling = parse("nr_periods 9\nnr_throttled 4\nthrottled_time 77\n");
	assert_int_equal(throttling.nr_throttled, 4);
	assert_int_equal(throttling.throttled_ns, 77);
}

static void what_is_no_counter_is_0(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		"nr_throttled",
		"nr_throttled \nthrottled_usec -1\n",
		"nr_throttled x\nthrottled_time\n",
		"xnr_throttled 3\n throttled_usec 4\n",
		"throttled_usec 18446744073709551615\n",
		"nr_throttled 99999999999999999999\n",
	};
	(void)state;

	for (size_t i = 0; i < array_len(texts); i++) {
		struct cpu_throttling throttling = parse(texts[i]);

		assert_int_equal(throttling.nr_throttled, 0);
		assert_int_equal(throttling.throttled_ns, 0);
	}
}

static void a_limit_is_told_from_none(void **state)
{
	static const struct {
		const char *text;
		bool is_set;
	} cases[] = {
		{ "50000 100000\n", true }, { "50000\n", true }, { "max 100000\n", false },
		{ "-1\n", false },	    { "", false },	 { "x", false },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++)
		assert_int_equal(cpu_limit_is_set(cases[i].text, strlen(cases[i].text)),
				 cases[i].is_set);
}

static void the_nearest_limit_is_found(void **state)
{
	struct cpu_limit limit, other;
	struct cpu_throttling throttling;
	(void)state;

	make("pods");
	make("pods/pod");
	make("pods/pod/container");
	make("pods/pod/container/init");
	put("pods/cpu.max", "max 100000\n");
	put("pods/pod/cpu.max", "90000 100000\n");
	put("pods/pod/cpu.stat", "nr_throttled 1\n");
	put("pods/pod/container/cpu.max", "50000 100000\n");
	put("pods/pod/container/cpu.stat", "nr_throttled 2\nthrottled_usec 5\n");
	put("pods/pod/container/init/cpu.max", "max 100000\n");
	assert_int_equal(cpu_limit_find(dir_fd, "/pods/pod/container/init", &limit), 0);
	assert_int_equal(cpu_limit_read(&limit, &throttling), 0);
	assert_int_equal(throttling.nr_throttled, 2);
	assert_int_equal(throttling.throttled_ns, 5000);
	assert_int_equal(cpu_limit_find(dir_fd, "/pods/pod", &other), 0);
	assert_true(other.stat_fd >= 0 && other.inode != limit.inode);
	cpu_limit_close(&other);
	cpu_limit_close(&limit);
}

static void a_cgroup_without_a_limit_has_none(void **state)
{
	struct cpu_limit limit = { .stat_fd = 0 };
	(void)state;

	make("free");
	put("free/cpu.max", "max 100000\n");
	assert_int_equal(cpu_limit_find(dir_fd, "/free", &limit), 0);
	assert_true(limit.stat_fd < 0);
}

static void what_has_no_limits_is_not_found(void **state)
{
	struct cpu_limit limit = { .stat_fd = -EBADF };
	(void)state;

	make("other");
	assert_int_equal(cpu_limit_find(dir_fd, "/other", &limit), -ENOENT);
	assert_int_equal(cpu_limit_find(dir_fd, "/none/at/all", &limit), -ENOENT);
	assert_int_equal(cpu_limit_find(dir_fd, "/", &limit), -ENOENT);
	assert_int_equal(cpu_limit_find(-EBADF, "/other", &limit), -EBADF);
}

int main(void)
{
#define WITH_DIR(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_versions_of_cgroups_are_read_in_ns),
		cmocka_unit_test(what_is_no_counter_is_0),
		cmocka_unit_test(a_limit_is_told_from_none),
		WITH_DIR(the_nearest_limit_is_found),
		WITH_DIR(a_cgroup_without_a_limit_has_none),
		WITH_DIR(what_has_no_limits_is_not_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

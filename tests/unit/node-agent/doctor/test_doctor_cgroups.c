/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/fileio.h"
#include "cgroup_fixture.h"
#include "doctor/doctor.h"
#include "remove_tree.h"

#include <string.h>
#include <sys/stat.h>

#include "unit.h"

#define ID "5c94e29f6bdc7f1d72bf99a0292c9026e17303b53b83b01285ff6a87aadce0d2"
#define POD "/kubepods/pod585f9714-eb2f-48e0-1997-c21e901f3bee"
#define MEGABYTE ((uint64_t)1 << 20)
#define PATH_BYTES 512

static char root_dir[] = "/tmp/flamelet-doctor-cgroups-XXXXXX";
static struct cgroup_fixture fixture;
static struct options options;
static const struct doctor_host host = { .proc_dir = root_dir,
					 .sys_dir = root_dir,
					 .options = &options };

static const char *in_root(const char *name)
{
	static char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", root_dir, name);
	return path;
}

static void write_file(const char *name, const char *text)
{
	assert_int_equal(file_write_atomic(in_root(name), text, strlen(text)), 0);
}

static int set_up(void **state)
{
	static const char *const dirs[] = { "self",
					    "fs",
					    "fs/cgroup",
					    "fs/cgroup/pod",
					    "fs/cgroup/pod/ctr",
					    "fs/cgroup/memory",
					    "fs/cgroup/memory/pod" };

	(void)state;
	cgroup_fixture_init(&fixture);
	if (!mkdtemp(root_dir))
		return -1;
	for (size_t i = 0; i < array_len(dirs); i++)
		if (mkdir(in_root(dirs[i]), 0755) < 0)
			return -1;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	cgroup_fixture_done(&fixture);
	remove_tree(root_dir);
	return 0;
}

static void expect_limit(enum finding_level level, const char *detail)
{
	_cleanup_(doctor_report_done) struct doctor_report report = { 0 };

	check_memory(&host, &report);
	assert_int_equal(report.nr_findings, 1);
	assert_int_equal(report.findings[0].level, level);
	assert_non_null(strstr(report.findings[0].detail, detail));
}

static void the_least_limit_above_us_counts(void **state)
{
	struct destination destination = { .endpoint = (char[]){ "http://collector" } };
	(void)state;

	options = (struct options){ .cgroup_root = (char[]){ "/nonexistent" },
				    .symbol_memory_max = 96 * MEGABYTE,
				    .tables_memory_max = 112 * MEGABYTE,
				    .destinations = &destination,
				    .nr_destinations = 1,
				    .queue_dir = (char[]){ "/queue" } };
	write_file("self/cgroup", "0::/pod/ctr\n");
	expect_limit(FINDING_OK, "no limit found");
	write_file("fs/cgroup/pod/ctr/memory.max", "max\n");
	expect_limit(FINDING_OK, "no limit found");
	write_file("fs/cgroup/pod/ctr/memory.max", "1073741824\n");
	expect_limit(FINDING_OK,
		     "limited to 1024 MB; the agent and its workers use at most 384 MB");
	write_file("fs/cgroup/pod/memory.max", "402653184\n");
	expect_limit(FINDING_OK, "limited to 384 MB");
	write_file("fs/cgroup/memory.max", "134217728\n");
	expect_limit(FINDING_WARN, "limited to 128 MB");

	/* a namespace of our own shows our cgroup as the root */
	write_file("self/cgroup", "0::/\n");
	expect_limit(FINDING_WARN, "limited to 128 MB");
	remove(in_root("fs/cgroup/memory.max"));
	expect_limit(FINDING_OK, "no limit found");
	write_file("self/cgroup", "");
	expect_limit(FINDING_OK, "no limit found");
	remove(in_root("self/cgroup"));
	expect_limit(FINDING_OK, "no limit found");
}

static void a_limit_of_v1_counts_too(void **state)
{
	(void)state;
	options = (struct options){ .cgroup_root = (char[]){ "/nonexistent" },
				    .tables_memory_max = 112 * MEGABYTE,
				    .debuginfod_urls = (char[]){ "http://debuginfod" },
				    .nr_destinations = 1 };
	write_file("self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/pod\n0::/elsewhere\n");
	write_file("fs/cgroup/memory/pod/memory.limit_in_bytes", "9223372036854771712\n");
	expect_limit(FINDING_OK, "no limit found");
	write_file("fs/cgroup/memory/pod/memory.limit_in_bytes", "134217728\n");
	expect_limit(FINDING_WARN,
		     "limited to 128 MB, but the agent and its workers may use 632 MB");
	write_file("fs/cgroup/memory/pod/memory.limit_in_bytes", "much\n");
	expect_limit(FINDING_OK, "no limit found");
	write_file("self/cgroup", "4:memory:");
	expect_limit(FINDING_OK, "no limit found");
}

static void a_cgroup_root_that_is_none_fails(void **state)
{
	_cleanup_(doctor_report_done) struct doctor_report report = { 0 };

	(void)state;
	options = (struct options){ .cgroup_root = (char[]){ "/nonexistent" } };
	check_cgroups(&host, &report);
	assert_int_equal(report.nr_findings, 1);
	assert_int_equal(report.findings[0].level, FINDING_FAIL);
	assert_non_null(strstr(report.findings[0].detail, "/nonexistent"));
	assert_non_null(strstr(report.findings[0].remedy, "--cgroup-root"));
}

static void a_part_of_the_hosts_cgroups_is_a_warning(void **state)
{
	_cleanup_(doctor_report_done) struct doctor_report report = { 0 };

	(void)state;
	cgroup_fixture_require(&fixture);
	cgroup_fixture_make(&fixture, POD "/" ID);
	options = (struct options){ .cgroup_root = fixture.root };
	check_cgroups(&host, &report);
	assert_int_equal(report.nr_findings, 2);
	assert_int_equal(report.findings[0].level, FINDING_OK);
	assert_int_equal(report.findings[1].level, FINDING_WARN);
	assert_non_null(strstr(report.findings[1].detail, "only a part of the host's cgroups"));
}

static void ids_of_the_hosts_cgroups_lead_to_containers(void **state)
{
	_cleanup_(doctor_report_done) struct doctor_report report = { 0 };

	(void)state;
	cgroup_fixture_require(&fixture);
	cgroup_fixture_make(&fixture, POD "/" ID);
	options = (struct options){ 0 };
	check_cgroups(&host, &report);
	assert_int_equal(report.nr_findings, 2);
	if (report.findings[1].level != FINDING_OK)
		skip(); /* without CAP_DAC_READ_SEARCH, or in a container */
	assert_non_null(strstr(report.findings[1].detail, "lookup works for "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_least_limit_above_us_counts),
		cmocka_unit_test(a_limit_of_v1_counts_too),
		cmocka_unit_test(a_cgroup_root_that_is_none_fails),
		cmocka_unit_test(a_part_of_the_hosts_cgroups_is_a_warning),
		cmocka_unit_test(ids_of_the_hosts_cgroups_lead_to_containers),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The doctor's finding about language runtimes. The runtime is a stand-in (runtime_standin.h): the
 * C library, in processes whose memory is that of this one. */
#include "base/clock.h"
#include "doctor/doctor.h"
#include "proc_fixture.h"
#include "runtime_standin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "unit.h"

struct fixture {
	struct proc_fixture proc;
	struct runtime_standin standin;
	char library[64]; /* a link to the C library that is open */
	struct stat st; /* of the C library */
	int fd;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->fd = runtime_standin_open_file();
	if (fixture->fd < 0)
		return -1;
	assert_int_equal(fstat(fixture->fd, &fixture->st), 0);
	snprintf(fixture->library, sizeof(fixture->library), "/proc/%d/fd/%d", getpid(),
		 fixture->fd);
	proc_fixture_init(&fixture->proc, 8);
	fixture->standin.state = RUNTIME_READY;
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	proc_fixture_done(&fixture->proc);
	close(fixture->fd);
	free(fixture);
	return 0;
}

static void link_in(const struct fixture *fixture, uint32_t pid, const char *name,
		    const char *target)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%" PRIu32 "/%s", fixture->proc.dir, pid, name);
	assert_int_equal(symlink(target, path), 0);
}

/* Makes a process that maps the C library at an address of this process. */
static void put_process(const struct fixture *fixture, uint32_t pid, const void *address)
{
	uint64_t start = (uint64_t)(uintptr_t)address;
	char text[160], name[80];

	snprintf(text, sizeof(text),
		 "%" PRIx64 "-%" PRIx64 " r-xp 00000000 %02x:%02x %" PRIu64 " /lib/libc.so.6\n",
		 start, start + 1, major(fixture->st.st_dev), minor(fixture->st.st_dev),
		 (uint64_t)fixture->st.st_ino);
	proc_fixture_put(&fixture->proc, pid, NSEC_PER_SEC, text);
	snprintf(text, sizeof(text), "%s/%" PRIu32 "/map_files", fixture->proc.dir, pid);
	assert_int_equal(mkdir(text, 0700), 0);
	snprintf(name, sizeof(name), "map_files/%" PRIx64 "-%" PRIx64, start, start + 1);
	link_in(fixture, pid, name, fixture->library);
	snprintf(text, sizeof(text), "/proc/%d/mem", getpid());
	link_in(fixture, pid, "mem", text);
	link_in(fixture, pid, "mountinfo", "/proc/self/mountinfo");
}

static void expect(const struct fixture *fixture, unsigned int runtimes, enum finding_level level,
		   const char *detail)
{
	_cleanup_(doctor_report_done) struct doctor_report report = { 0 };
	const struct options options = { .runtimes = runtimes };
	const struct doctor_host host = { .proc_dir = fixture->proc.dir, .options = &options };

	check_runtimes(&host, &report);
	assert_int_equal(report.error, 0);
	assert_int_equal(report.nr_findings, 1);
	assert_string_equal(report.findings[0].name, "language runtimes");
	assert_string_equal(report.findings[0].detail, detail);
	assert_int_equal(report.findings[0].level, level);
	assert_int_equal(report.findings[0].remedy[0] != '\0', level == FINDING_WARN);
}

static void runtimes_are_counted_by_version(void **state)
{
	struct fixture *fixture = *state;

	put_process(fixture, 7, &fixture->standin);
	expect(fixture, 1, FINDING_OK, "frames by name: CPython 3.15.0 in 1 process");
	put_process(fixture, 8, &fixture->standin);
	expect(fixture, 1, FINDING_OK, "frames by name: CPython 3.15.0 in 2 processes");
}

static void a_runtime_that_cannot_be_read_is_a_warning(void **state)
{
	struct fixture *fixture = *state;

	fixture->standin.state = RUNTIME_UNSUPPORTED;
	put_process(fixture, 7, &fixture->standin);
	expect(fixture, 1, FINDING_WARN, "only native frames: CPython 3.15.0 in 1 process");
}

static void a_runtime_that_is_starting_is_not(void **state)
{
	struct fixture *fixture = *state;

	fixture->standin.state = RUNTIME_PENDING;
	put_process(fixture, 7, &fixture->standin);
	expect(fixture, 1, FINDING_OK, "not started yet: CPython 3.15.0 in 1 process");
}

static void without_runtimes_there_is_nothing_to_say(void **state)
{
	struct fixture *fixture = *state;

	proc_fixture_put(&fixture->proc, 7, NSEC_PER_SEC,
			 "1000-2000 r-xp 00000000 fe:01 1 /bin/gone\n");
	expect(fixture, 1, FINDING_OK, "no process has one at present");
	put_process(fixture, 8, &fixture->standin);
	expect(fixture, 0, FINDING_OK, "not looked for (--runtimes none)");
	expect(fixture, 2, FINDING_OK, "no process has one at present");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(runtimes_are_counted_by_version),
		TEST(a_runtime_that_cannot_be_read_is_a_warning),
		TEST(a_runtime_that_is_starting_is_not),
		TEST(without_runtimes_there_is_nothing_to_say),
	};

	if (is_runtime_worker(argc, argv))
		return runtime_standin_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

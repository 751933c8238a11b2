/* SPDX-License-Identifier: Apache-2.0 */
/* The finder with the real worker, flamelet probe-worker. */
#include "probes/probe_finder.h"

#include "base/clock.h"
#include "unit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define WAIT_NS (60 * NSEC_PER_SEC)

struct fixture {
	int proc_fd;
	struct probe_finder *finder;
	size_t nr_found;
};

static void take(int fd, const struct heap_probes *probes, void *data)
{
	struct fixture *fixture = data;

	assert_true(fcntl(fd, F_GETFD) >= 0);
	assert_true(probes->nr > 0);
	fixture->nr_found++;
}

static int set_up(void **state)
{
	static struct fixture fixture;

	fixture = (struct fixture){ .proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC) };
	const struct probe_finder_opts opts = {
		.proc_fd = fixture.proc_fd,
		.program = FLAMELET_PROGRAM,
		.found = take,
		.data = &fixture,
	};
	*state = &fixture;
	return probe_finder_new(&opts, &fixture.finder);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	probe_finder_free(fixture->finder);
	close(fixture->proc_fd);
	return 0;
}

static void wait_for(struct fixture *fixture)
{
	probe_finder_wait(fixture->finder, clock_mono_ns() + WAIT_NS);
}

static void a_library_that_is_added_is_found(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(
		probe_finder_add(fixture->finder, open(HEAP_LIBRARY, O_RDONLY | O_CLOEXEC)), 0);
	wait_for(fixture);
	assert_int_equal(fixture->nr_found, 1);
}

/* As a process has it; opening it takes root, or the same user. */
static void what_a_process_maps_is_looked_into_once(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_close_ int fd = open(HEAP_LIBRARY, O_RDONLY | O_CLOEXEC);
	void *mapped = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	assert_true(mapped != MAP_FAILED);
	probe_finder_scan(fixture->finder, (uint32_t)getpid());
	wait_for(fixture);
	assert_int_equal(fixture->nr_found, 1);
	probe_finder_scan(fixture->finder, (uint32_t)getpid());
	wait_for(fixture);
	assert_int_equal(fixture->nr_found, 1);
	munmap(mapped, 4096);
}

static void events_lead_to_files(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_close_ int fd = open(HEAP_LIBRARY, O_RDONLY | O_CLOEXEC);
	void *mapped = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	struct stat status;

	assert_int_equal(fstat(fd, &status), 0);
	struct proc_event event = {
		.kind = PROC_MMAP,
		.pid = (uint32_t)getpid(),
		.start = (uintptr_t)mapped,
		.len = 4096,
		.inode = status.st_ino,
		.dev_major = major(status.st_dev),
		.dev_minor = minor(status.st_dev),
		.path = HEAP_LIBRARY,
	};
	event.kind = PROC_EXEC; /* not this one */
	probe_finder_handle(fixture->finder, &event);
	event.kind = PROC_MMAP;
	event.inode = 0; /* nor memory without a file */
	probe_finder_handle(fixture->finder, &event);
	wait_for(fixture);
	assert_int_equal(fixture->nr_found, 0);
	event.inode = status.st_ino;
	probe_finder_handle(fixture->finder, &event);
	wait_for(fixture);
	assert_int_equal(fixture->nr_found, 1);
	munmap(mapped, 4096);
}

static void files_of_processes_that_are_gone_are_counted(void **state)
{
	struct fixture *fixture = *state;
	const struct proc_event event = {
		.kind = PROC_MMAP,
		.pid = 0x7fffffff,
		.start = 4096,
		.len = 4096,
		.inode = 1,
		.path = "/nonexistent",
	};

	probe_finder_handle(fixture->finder, &event);
	probe_finder_scan(fixture->finder, 0x7fffffff);
	wait_for(fixture);
	assert_int_equal(probe_finder_get_stats(fixture->finder).nr_failed, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_library_that_is_added_is_found, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_a_process_maps_is_looked_into_once, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(events_lead_to_files, set_up, tear_down),
		cmocka_unit_test_setup_teardown(files_of_processes_that_are_gone_are_counted,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

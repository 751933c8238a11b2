/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which layouts and descriptors the unwinder gets. The runtime is a stand-in
 * (runtime_standin.h): the library poses as a runtime, and this process as the one that maps it. */
#include "pipeline/runtime_binder.h"

#include "arena_fixture.h"
#include "binder_fixture.h"
#include "runtime_standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"

#define PID 7
#define WAIT_NS (60 * NSEC_PER_SEC)
#define RUNTIME_ADDRESS (LIBRARY - 0x3000) /* of the byte 0 of the library */
#define PAGE_BYTES 4096

struct fixture {
	struct binder_fixture *binder;
	struct runtimes *runtimes;
	struct runtime_standin *standin; /* at RUNTIME_ADDRESS */
};

static void start_runtimes(struct fixture *fixture)
{
	const struct runtimes_opts opts = {
		.proc_fd = fixture->binder->proc.proc_fd,
		.kinds = 1 << RUNTIME_CPYTHON,
		.max_bytes = 1 << 20,
	};

	assert_int_equal(runtimes_new(&opts, &fixture->runtimes), 0);
	binder_use_runtimes(&fixture->binder->binder, fixture->runtimes);
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	void *page = mmap((void *)(uintptr_t)RUNTIME_ADDRESS, PAGE_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	void *binder;

	assert_int_equal((uintptr_t)page, RUNTIME_ADDRESS);
	fixture->standin = page;
	*fixture->standin = (struct runtime_standin){ .state = RUNTIME_READY, .place = 5 };
	assert_int_equal(binder_fixture_set_up(&binder), 0);
	fixture->binder = binder;
	binder_fixture_start(fixture->binder, 0);
	start_runtimes(fixture);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	void *binder = fixture->binder;

	assert_int_equal(binder_fixture_tear_down(&binder), 0);
	runtimes_free(fixture->runtimes);
	munmap(fixture->standin, PAGE_BYTES);
	free(fixture);
	return 0;
}

static struct mapped_file *library_of(const struct fixture *fixture, uint32_t pid)
{
	const struct process *process = binder_fixture_find(fixture->binder, pid);
	const struct mapping *mapping = mapping_list_find(process->mappings, LIBRARY);

	assert_non_null(mapping);
	return mapping->file;
}

/* Binds the process. Its library gets the answer that the C library gets. */
static void bind_with_runtime(struct fixture *fixture)
{
	char memory[64];

	snprintf(memory, sizeof(memory), "/proc/%d/mem", getpid());
	binder_fixture_put_usual(fixture->binder, PID);
	binder_fixture_link(fixture->binder, PID, "mem", memory);
	binder_fixture_bind(fixture->binder, PID);
	int fd = runtime_standin_open_file();
	if (fd < 0)
		skip();
	struct mapped_file *library = library_of(fixture, PID);
	runtimes_remove_file(fixture->runtimes, library->runtime);
	library->runtime = runtimes_add_file(fixture->runtimes, &fd, 0);
	assert_int_not_equal(library->runtime, 0);
	binder_fixture_bind(fixture->binder, PID);
}

static uint32_t unit_of_layout(const struct fixture *fixture)
{
	const struct slots_fixture *slots = fixture->binder->slots;

	return slots->maps.memory->tables[library_of(fixture, PID)->slot].runtime;
}

static size_t nr_descriptors(const struct fixture *fixture)
{
	return binder_fixture_find(fixture->binder, PID)->mappings->nr_runtimes;
}

/* Flushes until no answer is missing. */
static void settle(struct fixture *fixture)
{
	uint64_t until_ns = clock_mono_ns() + WAIT_NS;

	while (binder_fixture_find(fixture->binder, PID)->waits_for_runtime) {
		assert_true(clock_mono_ns() < until_ns);
		usleep(1000);
		binder_fixture_flush(fixture->binder);
	}
}

static void a_layout_for_all_processes_goes_to_the_slot_of_the_file(void **state)
{
	struct fixture *fixture = *state;

	fixture->standin->is_shared = 1;
	bind_with_runtime(fixture);
	settle(fixture);
	assert_int_not_equal(unit_of_layout(fixture), 0);
	assert_int_equal(nr_descriptors(fixture), 0);
}

static void what_is_particular_to_a_process_goes_into_its_mapping_table(void **state)
{
	struct fixture *fixture = *state;

	fixture->standin->has_process = 1;
	bind_with_runtime(fixture);
	uint64_t binding = binder_fixture_binding(fixture->binder, PID);
	settle(fixture);
	assert_int_equal(unit_of_layout(fixture), 0);
	assert_int_equal(nr_descriptors(fixture), 1);
	const struct runtime_descriptor *descriptor =
		binder_fixture_find(fixture->binder, PID)->mappings->runtimes;
	assert_int_equal(descriptor->layout.cpython.place[0], 5);
	assert_int_equal(descriptor->process.words[0], RUNTIME_ADDRESS);
	assert_int_not_equal(binder_fixture_binding(fixture->binder, PID), binding);
}

static void a_runtime_that_is_starting_is_bound_when_it_has_started(void **state)
{
	struct fixture *fixture = *state;

	fixture->standin->state = RUNTIME_PENDING;
	bind_with_runtime(fixture);
	for (unsigned int i = 0; i < 50; i++) {
		usleep(1000);
		binder_fixture_flush(fixture->binder);
	}
	assert_true(binder_fixture_find(fixture->binder, PID)->waits_for_runtime);
	assert_int_equal(nr_descriptors(fixture), 0);
	__atomic_store_n(&fixture->standin->state, RUNTIME_READY, __ATOMIC_RELEASE);
	settle(fixture);
	assert_int_equal(nr_descriptors(fixture), 1);
}

/* The unwinder says so in the stacks. */
static void an_unsupported_one_may_have_a_descriptor(void **state)
{
	struct fixture *fixture = *state;

	fixture->standin->state = RUNTIME_UNSUPPORTED;
	fixture->standin->has_process = 1;
	fixture->standin->is_marked = 1;
	bind_with_runtime(fixture);
	settle(fixture);
	assert_int_equal(nr_descriptors(fixture), 1);
}

static void a_process_without_runtimes_waits_for_its_files_only(void **state)
{
	struct fixture *fixture = *state;

	binder_fixture_put_usual(fixture->binder, PID);
	binder_fixture_bind(fixture->binder, PID);
	settle(fixture);
	assert_int_equal(runtimes_get_stats(fixture->runtimes).nr_processes, 0);
	assert_int_equal(fixture->binder->binder.runtimes.nr_pids, 0);
	assert_int_equal(runtime_binder_next_ns(&fixture->binder->binder.runtimes, NOW),
			 UINT64_MAX);
}

static void a_forked_process_keeps_what_its_parent_has(void **state)
{
	struct fixture *fixture = *state;

	fixture->standin->has_process = 1;
	bind_with_runtime(fixture);
	settle(fixture);
	binder_fixture_fork(fixture->binder, PID, PID + 1);
	binder_fixture_see(fixture->binder, PID + 1, UNWIND_NEW_PROCESS);
	binder_fixture_flush(fixture->binder);
	const struct process *child = binder_fixture_find(fixture->binder, PID + 1);
	assert_int_equal(child->mappings->nr_runtimes, 1);
	/* Its own memory cannot be opened. */
	uint64_t until_ns = clock_mono_ns() + WAIT_NS;
	while (child->waits_for_runtime) {
		assert_true(clock_mono_ns() < until_ns);
		usleep(1000);
		binder_fixture_flush(fixture->binder);
	}
	assert_int_equal(child->mappings->nr_runtimes, 1);
}

static void a_process_of_a_sample_is_found_again(void **state)
{
	struct fixture *fixture = *state;
	struct runtime_binder *binder = &fixture->binder->binder.runtimes;

	bind_with_runtime(fixture);
	settle(fixture);
	const struct process *process = binder_fixture_find(fixture->binder, PID);
	uint32_t id = runtime_binder_process(binder, process, NOW);
	assert_int_not_equal(id, 0);
	assert_int_equal(runtime_binder_process(binder, process, NOW), id);
	binder_use_runtimes(&fixture->binder->binder, NULL);
	assert_int_equal(runtime_binder_process(binder, process, NOW), 0);
	binder_use_runtimes(&fixture->binder->binder, fixture->runtimes);
}

static void files_are_forgotten_with_their_last_process(void **state)
{
	struct fixture *fixture = *state;

	bind_with_runtime(fixture);
	settle(fixture);
	uint32_t file = library_of(fixture, PID)->runtime;
	assert_int_equal(runtimes_file_state(fixture->runtimes, file), RUNTIME_FILE_RUNTIME);
	binder_fixture_end(fixture->binder, PID);
	assert_int_equal(runtimes_file_state(fixture->runtimes, file), RUNTIME_FILE_NONE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(a_layout_for_all_processes_goes_to_the_slot_of_the_file),
		TEST(what_is_particular_to_a_process_goes_into_its_mapping_table),
		TEST(a_runtime_that_is_starting_is_bound_when_it_has_started),
		TEST(an_unsupported_one_may_have_a_descriptor),
		TEST(a_process_without_runtimes_waits_for_its_files_only),
		TEST(a_forked_process_keeps_what_its_parent_has),
		TEST(a_process_of_a_sample_is_found_again),
		TEST(files_are_forgotten_with_their_last_process),
	};

	if (is_runtime_worker(argc, argv))
		return runtime_standin_main();
	if (!arena_fixture_is_possible())
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

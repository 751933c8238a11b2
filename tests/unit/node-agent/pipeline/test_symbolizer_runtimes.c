/* SPDX-License-Identifier: Apache-2.0 */
/* Names of frames of language runtimes in windows. The runtime is a stand-in (runtime_standin.h),
 * whose process is this one. */
#include "pipeline/symbolizer.h"

#include "base/clock.h"
#include "bpf/shared/frames.h"
#include "code_fixture.h"
#include "runtime_standin.h"
#include "symbol_worker_main.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit.h"

#define WAIT_NS (60 * NSEC_PER_SEC)

struct fixture {
	struct code_fixture code;
	struct runtimes *runtimes;
	struct runtime_standin standin;
	int proc_fd;
	uint32_t processes[2];
};

static uint32_t see_process(struct fixture *fixture, uint32_t file, uint64_t number)
{
	const struct runtime_sampled sampled = {
		.pid = (uint32_t)getpid(),
		.number = number,
		.now_ns = clock_mono_ns(),
	};
	const struct runtimes_mapped mapped = {
		.file = file,
		.start = (uint64_t)(uintptr_t)&fixture->standin,
	};

	return runtimes_see_process(fixture->runtimes, &sampled, &mapped, 1);
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	int fd = runtime_standin_open_file();

	if (fd < 0)
		return -1;
	code_fixture_init(&fixture->code);
	fixture->standin = (struct runtime_standin){ .state = RUNTIME_READY, .is_shared = 1 };
	fixture->proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct runtimes_opts opts = {
		.proc_fd = fixture->proc_fd,
		.kinds = 1 << RUNTIME_CPYTHON,
		.max_bytes = 1 << 20,
	};
	assert_int_equal(runtimes_new(&opts, &fixture->runtimes), 0);
	uint32_t file = runtimes_add_file(fixture->runtimes, &fd, 0);
	runtimes_wait(fixture->runtimes, clock_mono_ns() + WAIT_NS);
	for (size_t i = 0; i < array_len(fixture->processes); i++)
		fixture->processes[i] = see_process(fixture, file, i + 1);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	code_fixture_done(&fixture->code);
	runtimes_free(fixture->runtimes);
	close(fixture->proc_fd);
	free(fixture);
	return 0;
}

/* Adds a location as the reader does. */
static uint32_t put_frame(struct fixture *fixture, size_t process, const char *name)
{
	struct profile_location location = { .kind = FRAME_CPYTHON };
	uint64_t words[2];
	uint32_t id;

	runtime_standin_frame(name, 5, words);
	location.address = runtimes_frame(fixture->runtimes, fixture->processes[process], words,
					  clock_mono_ns());
	assert_int_not_equal(location.address, 0);
	assert_int_equal(window_add_mapping(fixture->code.window,
					    (struct window_code){ CODE_RUNTIME, RUNTIME_CPYTHON },
					    "[python]", 0, &location.mapping),
			 0);
	assert_int_equal(builder_add_location(fixture->code.window->builder, &location, &id), 0);
	return id;
}

static void name_all(struct fixture *fixture, struct runtimes *runtimes)
{
	struct symbolizer symbolizer = { .elfs = fixture->code.elfs,
					 .jits = fixture->code.jits,
					 .runtimes = runtimes };

	assert_int_equal(symbolizer_name_window(&symbolizer, fixture->code.window, UINT64_MAX), 0);
}

static const struct profile_location *location(const struct fixture *fixture, uint32_t id)
{
	return &builder_peek(fixture->code.window->builder)->locations[id];
}

/* Asserts the name of a location that has one line. */
static void assert_name(const struct fixture *fixture, uint32_t id, const char *name,
			const char *filename)
{
	const struct profile *profile = builder_peek(fixture->code.window->builder);
	const struct profile_line *line = &profile->lines[location(fixture, id)->first_line];
	const struct profile_function *function = &profile->functions[line->function];

	assert_int_equal(location(fixture, id)->nr_lines, 1);
	assert_string_equal(profile_string(profile, function->name), name);
	assert_string_equal(profile_string(profile, function->filename), filename);
}

static void equal_functions_of_two_processes_are_one_place(void **state)
{
	struct fixture *fixture = *state;
	uint32_t first = put_frame(fixture, 0, "work"), second = put_frame(fixture, 1, "work");

	assert_int_not_equal(first, second);
	name_all(fixture, fixture->runtimes);
	assert_name(fixture, first, "work", RUNTIME_STANDIN_FILE);
	assert_name(fixture, second, "work", RUNTIME_STANDIN_FILE);
	assert_int_equal(location(fixture, first)->kind, FRAME_CPYTHON);
	assert_int_equal(location(fixture, first)->address, 0);
	assert_int_equal(location(fixture, second)->address, 0);
	assert_int_equal(location(fixture, first)->mapping, location(fixture, second)->mapping);
	assert_int_equal(location(fixture, first)->first_line,
			 location(fixture, second)->first_line);
}

static void a_frame_that_cannot_be_read_is_named_by_its_runtime(void **state)
{
	struct fixture *fixture = *state;
	uint32_t id = put_frame(fixture, 0, "");

	name_all(fixture, fixture->runtimes);
	assert_name(fixture, id, "[python]", "");
	assert_int_equal(location(fixture, id)->kind, FRAME_CPYTHON);
	assert_int_equal(location(fixture, id)->address, 0);
}

static void without_runtimes_frames_are_named_by_theirs(void **state)
{
	struct fixture *fixture = *state;
	uint32_t id = put_frame(fixture, 0, "work");

	name_all(fixture, NULL);
	assert_name(fixture, id, "[python]", "");
}

static void marks_have_their_words(void **state)
{
	static const char *const words[RUNTIME_NR_MARKS] = {
#define X(NAME, text) [RUNTIME_MARK_##NAME] = "[" text "]",
		RUNTIME_MARKS(X)
#undef X
	};
	struct fixture *fixture = *state;
	uint32_t ids[RUNTIME_NR_MARKS];

	for (uint64_t mark = 0; mark < RUNTIME_NR_MARKS; mark++) {
		const struct profile_location stop = { .kind = FRAME_STOP,
						       .address = UNWIND_NR_RESULTS + mark };

		assert_int_equal(
			builder_add_location(fixture->code.window->builder, &stop, &ids[mark]), 0);
	}
	name_all(fixture, fixture->runtimes);
	for (size_t mark = 0; mark < RUNTIME_NR_MARKS; mark++)
		assert_name(fixture, ids[mark], words[mark], "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(equal_functions_of_two_processes_are_one_place),
		TEST(a_frame_that_cannot_be_read_is_named_by_its_runtime),
		TEST(without_runtimes_frames_are_named_by_theirs),
		TEST(marks_have_their_words),
	};

	if (is_runtime_worker(argc, argv))
		return runtime_standin_main();
	if (is_symbol_worker(argc, argv))
		return symbol_worker_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Files, processes and frames as the reader and the symbolizer ask for them. The runtime is a
 * stand-in (runtime_standin.h), its process this one, and the worker this program again. */
#include "runtime/client/runtimes.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "runtime_standin.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

#define WAIT_NS (60 * NSEC_PER_SEC)
#define MAX_BYTES ((size_t)4 << 20)

struct fixture {
	struct runtimes *runtimes;
	int proc_fd;
	struct runtime_standin standin; /* the runtime of this process */
	uint32_t file;
};

static int start(struct fixture *fixture, size_t max_bytes)
{
	const struct runtimes_opts opts = {
		.proc_fd = fixture->proc_fd,
		.kinds = 1 << RUNTIME_CPYTHON,
		.max_bytes = max_bytes,
	};
	int fd = runtime_standin_open_file();

	if (fd < 0)
		return -1;
	assert_int_equal(runtimes_new(&opts, &fixture->runtimes), 0);
	fixture->file = runtimes_add_file(fixture->runtimes, &fd, 0);
	assert_int_not_equal(fixture->file, 0);
	return 0;
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	fixture->standin = (struct runtime_standin){ .state = RUNTIME_READY, .is_shared = 1 };
	*state = fixture;
	return start(fixture, MAX_BYTES);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	runtimes_free(fixture->runtimes);
	close(fixture->proc_fd);
	free(fixture);
	return 0;
}

static enum runtime_file_state await_file(struct fixture *fixture, uint32_t file)
{
	uint64_t until_ns = clock_mono_ns() + WAIT_NS;
	enum runtime_file_state state;

	while ((state = runtimes_file_state(fixture->runtimes, file)) == RUNTIME_FILE_UNKNOWN) {
		assert_true(clock_mono_ns() < until_ns);
		usleep(1000);
	}
	return state;
}

static struct runtime_sampled self(uint64_t number)
{
	return (struct runtime_sampled){
		.pid = (uint32_t)getpid(),
		.number = number,
		.cgroup_id = number,
		.now_ns = clock_mono_ns(),
	};
}

static uint32_t see_in(struct fixture *fixture, uint64_t number, uint64_t cgroup_id)
{
	struct runtime_sampled sampled = self(number);
	const struct runtimes_mapped mapped = {
		.file = fixture->file,
		.start = (uint64_t)(uintptr_t)&fixture->standin,
	};

	sampled.cgroup_id = cgroup_id;
	assert_int_equal(await_file(fixture, fixture->file), RUNTIME_FILE_RUNTIME);
	uint32_t id = runtimes_see_process(fixture->runtimes, &sampled, &mapped, 1);
	assert_int_not_equal(id, 0);
	return id;
}

static uint32_t see(struct fixture *fixture, uint64_t number)
{
	return see_in(fixture, number, number);
}

static struct runtimes_result await_result(struct fixture *fixture, uint32_t process,
					   enum runtime_state state)
{
	struct runtimes_result results[RUNTIME_MAX_OF_PROCESS];
	uint64_t until_ns = clock_mono_ns() + WAIT_NS;

	for (;;) {
		assert_int_equal(runtimes_get_results(fixture->runtimes, process, results), 1);
		if (results[0].state == state)
			return results[0];
		assert_true(clock_mono_ns() < until_ns);
		usleep(1000);
	}
}

static uint64_t put_frame(struct fixture *fixture, uint32_t process, const char *name,
			  uint32_t line)
{
	uint64_t words[2];

	runtime_standin_frame(name, line, words);
	uint64_t frame = runtimes_frame(fixture->runtimes, process, words, clock_mono_ns());
	runtimes_flush(fixture->runtimes, clock_mono_ns());
	return frame;
}

/* Waits until a frame has a name; there must be one. */
static void assert_name(struct fixture *fixture, uint64_t frame, const char *name, uint32_t line)
{
	uint64_t until_ns = clock_mono_ns() + WAIT_NS;
	struct symbol_frames frames;

	while (runtimes_symbolize(fixture->runtimes, frame, &frames) < 0) {
		assert_true(clock_mono_ns() < until_ns);
		usleep(1000);
	}
	assert_int_equal(frames.nr_lines, 1);
	assert_string_equal(frames.lines[0].name, name);
	assert_string_equal(frames.lines[0].filename, RUNTIME_STANDIN_FILE);
	assert_int_equal(frames.lines[0].line, line);
	assert_int_equal(frames.language, LANGUAGE_CPYTHON);
}

static void assert_nameless(struct fixture *fixture, uint64_t frame)
{
	struct symbol_frames frames;

	assert_int_equal(runtimes_symbolize(fixture->runtimes, frame, &frames), -ENOENT);
}

static void other_files_are_no_runtimes(void **state)
{
	struct fixture *fixture = *state;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	uint64_t generation = runtimes_generation(fixture->runtimes);
	uint32_t file = runtimes_add_file(fixture->runtimes, &fd, 0);
	assert_int_equal(await_file(fixture, file), RUNTIME_FILE_NONE);
	assert_true(runtimes_generation(fixture->runtimes) > generation);
	runtimes_remove_file(fixture->runtimes, file);
	assert_int_equal(runtimes_file_state(fixture->runtimes, file), RUNTIME_FILE_NONE);
}

static void a_process_says_what_the_unwinder_needs(void **state)
{
	struct fixture *fixture = *state;

	fixture->standin.is_shared = 0;
	fixture->standin.has_process = 1;
	fixture->standin.place = 5;
	struct runtimes_result result = await_result(fixture, see(fixture, 1), RUNTIME_READY);
	assert_int_equal(result.file, fixture->file);
	assert_false(result.is_shared);
	assert_true(result.has_process);
	assert_int_equal(result.layout.cpython.place[0], 5);
	assert_int_equal(result.process.words[0], (uint64_t)(uintptr_t)&fixture->standin);
}

static void a_runtime_that_is_starting_is_asked_again(void **state)
{
	struct fixture *fixture = *state;

	fixture->standin.state = RUNTIME_PENDING;
	uint32_t process = see(fixture, 1);
	uint64_t frame = put_frame(fixture, process, "early", 1);
	await_result(fixture, process, RUNTIME_PENDING);
	assert_nameless(fixture, frame);
	__atomic_store_n(&fixture->standin.state, RUNTIME_READY, __ATOMIC_RELEASE);
	await_result(fixture, process, RUNTIME_READY);
	assert_name(fixture, frame, "early", 1);
}

/* Waits until the result of the process cannot change any more. */
static struct runtimes_result await_final(struct fixture *fixture, uint32_t process)
{
	struct runtimes_result results[RUNTIME_MAX_OF_PROCESS];
	uint64_t until_ns = clock_mono_ns() + WAIT_NS;

	do {
		assert_true(clock_mono_ns() < until_ns);
		usleep(1000);
		assert_int_equal(runtimes_get_results(fixture->runtimes, process, results), 1);
	} while (!results[0].is_final);
	return results[0];
}

static void what_is_shared_is_asked_once_in_a_cgroup(void **state)
{
	struct fixture *fixture = *state;

	await_result(fixture, see_in(fixture, 1, 9), RUNTIME_READY);
	fixture->standin.state = RUNTIME_UNSUPPORTED; /* nobody looks */
	uint32_t second = see_in(fixture, 2, 9);
	struct runtimes_result results[RUNTIME_MAX_OF_PROCESS];
	assert_int_equal(runtimes_get_results(fixture->runtimes, second, results), 1);
	assert_int_equal(results[0].state, RUNTIME_READY);
	assert_true(results[0].is_final && results[0].is_shared);
	assert_name(fixture, put_frame(fixture, second, "quick", 3), "quick", 3);
}

static void another_cgroup_need_not_believe_what_is_shared(void **state)
{
	struct fixture *fixture = *state;

	fixture->standin.place = 5; /* a lie */
	await_result(fixture, see_in(fixture, 1, 9), RUNTIME_READY);
	fixture->standin.place = 6;
	struct runtimes_result result = await_final(fixture, see_in(fixture, 2, 10));
	assert_int_equal(result.state, RUNTIME_READY);
	assert_false(result.is_shared);
	assert_int_equal(result.layout.cpython.place[0], 6);
	fixture->standin.place = 5;
	result = await_final(fixture, see_in(fixture, 3, 11));
	assert_true(result.is_shared);
}

static void what_is_only_likely_is_asked_in_each_process(void **state)
{
	struct fixture *fixture = *state;
	struct runtimes_result result;

	fixture->standin.is_likely = 1;
	fixture->standin.place = 5;
	await_result(fixture, see_in(fixture, 1, 9), RUNTIME_READY);
	fixture->standin.place = 6;
	uint32_t second = see_in(fixture, 2, 9);
	result = await_result(fixture, second, RUNTIME_READY);
	assert_true(result.layout.cpython.place[0] == 5 || result.is_final);
	result = await_final(fixture, second);
	assert_false(result.is_shared);
	assert_int_equal(result.layout.cpython.place[0], 6);
	fixture->standin.place = 5;
	assert_true(await_final(fixture, see_in(fixture, 3, 9)).is_shared);
}

static void what_is_particular_to_a_process_is_not_shared(void **state)
{
	struct fixture *fixture = *state;

	fixture->standin.has_process = 1;
	fixture->standin.place = 5;
	await_result(fixture, see(fixture, 1), RUNTIME_READY);
	fixture->standin.place = 6;
	struct runtimes_result result = await_result(fixture, see(fixture, 2), RUNTIME_READY);
	assert_int_equal(result.layout.cpython.place[0], 6);
}

static void a_process_without_that_memory_is_given_up(void **state)
{
	struct fixture *fixture = *state;
	const struct runtime_sampled sampled = self(1);
	const struct runtimes_mapped mapped = { .file = fixture->file, .start = 8 };

	await_file(fixture, fixture->file);
	uint32_t id = runtimes_see_process(fixture->runtimes, &sampled, &mapped, 1);
	await_result(fixture, id, RUNTIME_UNSUPPORTED);
}

/* The dynamic linker may still be at work. */
static void what_is_unsupported_at_first_is_asked_again(void **state)
{
	struct fixture *fixture = *state;
	struct runtime_standin second = { .state = RUNTIME_READY, .has_process = 1 };
	const struct runtime_sampled sampled = self(2);
	const struct runtimes_mapped mapped = { .file = fixture->file,
						.start = (uint64_t)(uintptr_t)&second };

	fixture->standin.state = RUNTIME_UNSUPPORTED;
	uint32_t id = see(fixture, 1);
	/* The second process is inspected after the first one. */
	await_result(fixture, runtimes_see_process(fixture->runtimes, &sampled, &mapped, 1),
		     RUNTIME_READY);
	fixture->standin.state = RUNTIME_READY;
	assert_int_equal(await_final(fixture, id).state, RUNTIME_READY);
}

static void what_stays_unsupported_is_given_up(void **state)
{
	struct fixture *fixture = *state;

	fixture->standin.state = RUNTIME_UNSUPPORTED;
	assert_int_equal(await_final(fixture, see(fixture, 1)).state, RUNTIME_UNSUPPORTED);
}

static void another_process_with_the_pid_is_not_read(void **state)
{
	struct fixture *fixture = *state;
	struct runtime_sampled sampled = self(1);
	const struct runtimes_mapped mapped = {
		.file = fixture->file,
		.start = (uint64_t)(uintptr_t)&fixture->standin,
	};

	sampled.start_ns = 1;
	await_file(fixture, fixture->file);
	uint32_t id = runtimes_see_process(fixture->runtimes, &sampled, &mapped, 1);
	await_result(fixture, id, RUNTIME_UNSUPPORTED);
}

static void frames_get_their_names(void **state)
{
	struct fixture *fixture = *state;
	uint32_t process = see(fixture, 1);

	uint64_t first = put_frame(fixture, process, "first", 1);
	uint64_t second = put_frame(fixture, process, "second", 2);
	assert_int_equal(put_frame(fixture, process, "first", 1) == first, true);
	runtimes_wait(fixture->runtimes, clock_mono_ns() + WAIT_NS);
	assert_name(fixture, first, "first", 1);
	assert_name(fixture, second, "second", 2);
	assert_nameless(fixture, second + 1);
	assert_nameless(fixture, 0);
	struct runtimes_stats stats = runtimes_get_stats(fixture->runtimes);
	assert_int_equal(runtimes_stats_of(&stats, RUNTIME_CPYTHON)->nr_named, 2);
	assert_int_equal(runtimes_stats_of(&stats, RUNTIME_CPYTHON)->nr_ready, 1);
	assert_int_equal(runtimes_stats_of(&stats, RUNTIME_CPYTHON)->nr_files, 1);
}

/* A process whose memory cannot be read: it has ended, and another one has its pid. */
static uint32_t see_ended(struct fixture *fixture)
{
	struct runtime_sampled sampled = self(2);
	const struct runtimes_mapped mapped = {
		.file = fixture->file,
		.start = (uint64_t)(uintptr_t)&fixture->standin,
	};

	await_result(fixture, see_in(fixture, 1, 9), RUNTIME_READY);
	sampled.start_ns = 1;
	sampled.cgroup_id = 9;
	return runtimes_see_process(fixture->runtimes, &sampled, &mapped, 1);
}

static void put_copy(struct fixture *fixture, uint64_t start_ns, const char *code, const char *name)
{
	struct code_copy copy = {
		.start_ns = start_ns,
		.pid = (uint32_t)getpid(),
		.addresses = { (uint64_t)(uintptr_t)code },
	};

	memcpy(copy.object, name, strlen(name));
	runtimes_add_copy(fixture->runtimes, &copy, clock_mono_ns());
}

static void copied_code_of_an_ended_process_has_a_name(void **state)
{
	static const char first[] = "", second[] = "", other[] = "";
	struct fixture *fixture = *state;
	uint32_t process = see_ended(fixture);

	put_copy(fixture, 1, first, "first");
	put_copy(fixture, 1, second, "second");
	uint64_t nameless = put_frame(fixture, process, other, 1);
	runtimes_wait(fixture->runtimes, clock_mono_ns() + WAIT_NS);
	uint64_t frames[] = {
		put_frame(fixture, process, first, 1),
		put_frame(fixture, process, second, 2),
		put_frame(fixture, process, first, 3),
	};
	runtimes_wait(fixture->runtimes, clock_mono_ns() + WAIT_NS);
	assert_name(fixture, frames[0], "first", 1);
	assert_name(fixture, frames[1], "second", 2);
	assert_name(fixture, frames[2], "first", 3);
	assert_nameless(fixture, nameless);
}

/* The ring buffer is read ten times per second, and each time is followed by this. */
static void copied_code_is_read_soon(void **state)
{
	static const char code[] = "";
	struct fixture *fixture = *state;
	uint32_t process = see_ended(fixture);

	put_copy(fixture, 1, code, "name");
	uint64_t frame = put_frame(fixture, process, code, 1);
	runtimes_flush(fixture->runtimes, clock_mono_ns() + NSEC_PER_SEC);
	assert_name(fixture, frame, "name", 1);
}

static void a_copy_that_cannot_be_read_is_no_loss(void **state)
{
	static const char *const copies[] = { "", RUNTIME_STANDIN_DEADLY };
	static const char code[] = "in memory";
	struct fixture *fixture = *state;
	uint32_t process = see(fixture, 1);

	await_result(fixture, process, RUNTIME_READY);
	for (uint32_t i = 0; i < array_len(copies); i++) {
		put_copy(fixture, 0, code + i, copies[i]);
		uint64_t frame = put_frame(fixture, process, code + i, 1);
		runtimes_wait(fixture->runtimes, clock_mono_ns() + WAIT_NS);
		assert_name(fixture, frame, code + i, 1);
	}
}

static void a_frame_that_kills_the_worker_costs_its_own_name(void **state)
{
	static const char deadly[] = RUNTIME_STANDIN_DEADLY;
	struct fixture *fixture = *state;
	uint32_t process = see(fixture, 1);

	await_result(fixture, process, RUNTIME_READY);
	uint64_t first = put_frame(fixture, process, "first", 1);
	uint64_t bad = put_frame(fixture, process, deadly, 2);
	uint64_t second = put_frame(fixture, process, "second", 3);
	assert_name(fixture, first, "first", 1);
	assert_name(fixture, second, "second", 3);
	assert_nameless(fixture, bad);
}

static void a_frame_that_takes_for_ever_holds_no_other_process_up(void **state)
{
	static const char hanging[] = RUNTIME_STANDIN_HANGING;
	struct fixture *fixture = *state;
	uint32_t slow = see(fixture, 1), fast = see(fixture, 2);

	await_result(fixture, slow, RUNTIME_READY);
	uint64_t bad = put_frame(fixture, slow, hanging, 1);
	assert_name(fixture, put_frame(fixture, fast, "fast", 2), "fast", 2);
	runtimes_wait(fixture->runtimes, clock_mono_ns() + WAIT_NS);
	assert_nameless(fixture, bad);
	assert_name(fixture, put_frame(fixture, fast, "again", 3), "again", 3);
}

static void names_are_kept_under_the_limit(void **state)
{
	struct fixture *fixture = *state;
	uint64_t words[2];

	runtimes_free(fixture->runtimes);
	assert_int_equal(start(fixture, 4096), 0);
	uint32_t process = see(fixture, 1);
	for (uint32_t line = 1; line <= 1000; line++) {
		runtime_standin_frame("text", line, words);
		(void)runtimes_frame(fixture->runtimes, process, words, clock_mono_ns());
	}
	uint64_t until_ns = clock_mono_ns() + WAIT_NS;
	while (runtimes_get_stats(fixture->runtimes).nr_evicted == 0) {
		assert_true(clock_mono_ns() < until_ns);
		usleep(1000);
	}
	assert_true(runtimes_get_stats(fixture->runtimes).nr_refused > 0);
	assert_true(runtimes_get_stats(fixture->runtimes).nr_bytes <= 4096);
}

static void words_that_are_no_frame_have_no_number(void **state)
{
	struct fixture *fixture = *state;
	uint32_t process = see(fixture, 1);
	const uint64_t address[] = { 0x7f0000001000 };
	const uint64_t mark[] = { RUNTIME_TAG(RUNTIME_FRAME_MARK, 0, 0) };
	const uint64_t unknown[] = { RUNTIME_TAG(0x3f, 0, 0) };

	assert_int_equal(runtimes_frame(fixture->runtimes, process, address, 1), 0);
	assert_int_equal(runtimes_frame(fixture->runtimes, process, mark, 1), 0);
	assert_int_equal(runtimes_frame(fixture->runtimes, process, unknown, 1), 0);
	assert_int_equal(runtimes_frame(fixture->runtimes, process + 1, unknown, 1), 0);
}

static void a_process_is_found_again(void **state)
{
	struct fixture *fixture = *state;
	const struct runtime_sampled first = self(1), second = self(2);
	uint32_t process = see(fixture, 1);

	assert_int_equal(runtimes_find_process(fixture->runtimes, &first), process);
	assert_int_equal(runtimes_find_process(fixture->runtimes, &second), 0);
	runtimes_remove_file(fixture->runtimes, fixture->file);
	assert_name(fixture, put_frame(fixture, process, "kept", 1), "kept", 1);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(other_files_are_no_runtimes),
		TEST(a_process_says_what_the_unwinder_needs),
		TEST(a_runtime_that_is_starting_is_asked_again),
		TEST(what_is_shared_is_asked_once_in_a_cgroup),
		TEST(another_cgroup_need_not_believe_what_is_shared),
		TEST(what_is_only_likely_is_asked_in_each_process),
		TEST(what_is_particular_to_a_process_is_not_shared),
		TEST(a_process_without_that_memory_is_given_up),
		TEST(what_is_unsupported_at_first_is_asked_again),
		TEST(what_stays_unsupported_is_given_up),
		TEST(another_process_with_the_pid_is_not_read),
		TEST(frames_get_their_names),
		TEST(copied_code_of_an_ended_process_has_a_name),
		TEST(copied_code_is_read_soon),
		TEST(a_copy_that_cannot_be_read_is_no_loss),
		TEST(a_frame_that_kills_the_worker_costs_its_own_name),
		TEST(a_frame_that_takes_for_ever_holds_no_other_process_up),
		TEST(names_are_kept_under_the_limit),
		TEST(words_that_are_no_frame_have_no_number),
		TEST(a_process_is_found_again),
	};

	if (is_runtime_worker(argc, argv))
		return runtime_standin_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/locate.h"

#include "bpf/shared/frames.h"
#include "code_fixture.h"
#include "elf_cache_inside.h"
#include "unit.h"

#include <string.h>

#define KERNEL_ADDRESS UINT64_C(0xffffffff81000010)

/* A sample of the process with these frames; the first `nr_kernel` are the kernel's. */
static struct sample_event sample_of(uint32_t pid, const uint64_t *frames, uint16_t nr_kernel,
				     uint16_t nr_user)
{
	struct sample_event event = {
		.time_ns = CODE_NOW,
		.pid = pid,
		.nr_kernel = nr_kernel,
		.nr_user = nr_user,
		.in_user = nr_kernel == 0,
		.unwind_result = UNWIND_COMPLETE,
	};

	for (size_t i = 0; i < (size_t)nr_kernel + nr_user; i++)
		event.frames[i] = frames[i];
	return event;
}

/* The location of an address that is a stack of its own. */
static uint32_t locate_one(struct code_fixture *fixture, uint32_t pid, uint64_t address)
{
	const struct sample_event event = sample_of(pid, &address, 0, 1);

	return code_fixture_frame(fixture, code_fixture_locate(fixture, &event), 0);
}

static const struct profile_location *location(const struct code_fixture *fixture, uint32_t id)
{
	return &builder_peek(fixture->window->builder)->locations[id];
}

static const char *file_of(const struct code_fixture *fixture, uint32_t id)
{
	const struct profile *profile = builder_peek(fixture->window->builder);

	return profile_string(profile, profile->mappings[location(fixture, id)->mapping].filename);
}

static void frames_of_runtimes_have_several_words(void **state)
{
	const uint64_t words[] = {
		CODE_PROGRAM + 0x10,
		RUNTIME_TAG(RUNTIME_FRAME_CPYTHON, 3, 8),
		CODE_PROGRAM,
		RUNTIME_TAG(RUNTIME_FRAME_V8_CODE, 3, 8) | FRAME_ENTERED,
		CODE_PROGRAM,
		CODE_PROGRAM,
		RUNTIME_TAG(RUNTIME_FRAME_MARK, 0, RUNTIME_MARK_CONTINUATION),
		CODE_PROGRAM + 0x20,
	};
	static const struct {
		const char *file;
		enum frame_kind kind;
		uint64_t address;
	} expected[] = {
		{ "/opt/program", FRAME_NATIVE, 0x10 },
		{ "[python]", FRAME_CPYTHON, 0 },
		{ "[javascript]", FRAME_V8JS, 0 },
		{ "", FRAME_STOP, UNWIND_NR_RESULTS + RUNTIME_MARK_CONTINUATION },
		{ "/opt/program", FRAME_NATIVE, 0x1f },
	};
	const struct sample_event event = sample_of(CODE_PID, words, 0, array_len(words));
	uint32_t stack = code_fixture_locate(*state, &event);

	for (size_t i = 0; i < array_len(expected); i++) {
		uint32_t id = code_fixture_frame(*state, stack, i);

		assert_string_equal(file_of(*state, id), expected[i].file);
		assert_int_equal(location(*state, id)->kind, expected[i].kind);
		assert_int_equal(location(*state, id)->address, expected[i].address);
	}
}

static void words_that_are_no_frame_stand_for_themselves(void **state)
{
	static const uint64_t bad[] = {
		RUNTIME_TAG(RUNTIME_FRAME_CPYTHON, 3, 8), /* its word is missing */
		RUNTIME_TAG(RUNTIME_NR_FRAMES, 3, 8),
		RUNTIME_TAG(0x3f, 0, 0),
		RUNTIME_TAG(RUNTIME_FRAME_MARK, 0, RUNTIME_NR_MARKS),
	};

	for (size_t i = 0; i < array_len(bad); i++)
		assert_string_equal(file_of(*state, locate_one(*state, CODE_PID, bad[i])),
				    "[unknown]");
}

static void an_address_becomes_an_offset_in_what_is_mapped_there(void **state)
{
	static const struct {
		uint64_t address;
		const char *file;
		uint64_t offset;
	} cases[] = {
		{ CODE_PROGRAM + 0x1234, "/opt/program", 0x1234 },
		{ CODE_PROGRAM_END - 1, "/opt/program", CODE_PROGRAM_END - 1 - CODE_PROGRAM },
		{ CODE_MISSING + 0x10, "/opt/gone.so", 0x3010 },
		{ CODE_SOCKET + 0x10, "/dev/odd", 0x10 },
		{ CODE_MEMFD + 0x10, "/memfd:doublemapper", 0 },
		{ CODE_VDSO + 0x10, "[vdso]", 0x10 },
		{ CODE_ANON + 0x10, "[anon]", 0 },
		{ CODE_JIT + 0x10, "[anon:js/code]", 0 },
		{ CODE_DATA, "[unknown]", 0 }, /* not executable */
		{ CODE_PROGRAM - 1, "[unknown]", 0 },
		{ 0, "[unknown]", 0 },
		{ UINT64_MAX, "[unknown]", 0 },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		uint32_t id = locate_one(*state, CODE_PID, cases[i].address);

		assert_string_equal(file_of(*state, id), cases[i].file);
		assert_int_equal(location(*state, id)->address, cases[i].offset);
		assert_int_equal(location(*state, id)->kind, FRAME_NATIVE);
		assert_int_equal(location(*state, id)->nr_lines, 0);
	}
}

static void only_a_file_that_was_opened_has_a_size(void **state)
{
	struct code_fixture *fixture = *state;
	uint32_t program = locate_one(fixture, CODE_PID, CODE_PROGRAM);
	uint32_t missing = locate_one(fixture, CODE_PID, CODE_MISSING);
	const struct profile *profile = builder_peek(fixture->window->builder);

	assert_true(profile->mappings[location(fixture, program)->mapping].limit > 4096);
	assert_int_equal(profile->mappings[location(fixture, missing)->mapping].limit, 0);
}

static void processes_that_map_a_file_share_its_locations(void **state)
{
	uint32_t id = locate_one(*state, CODE_PID, CODE_PROGRAM + 0x1234);

	assert_int_equal(locate_one(*state, CODE_FORKED_PID, CODE_PROGRAM_FORKED + 0x1234), id);
}

static void return_addresses_are_moved_into_the_call_and_exact_ones_are_not(void **state)
{
	const uint64_t frames[] = { CODE_PROGRAM + 0x100, CODE_PROGRAM + 0x200,
				    CODE_PROGRAM + 0x300 };
	const struct sample_event event = sample_of(CODE_PID, frames, 0, 3);
	uint32_t stack = code_fixture_locate(*state, &event);

	static const uint64_t expected[] = { 0x100, 0x1ff, 0x2ff };
	for (size_t i = 0; i < array_len(expected); i++)
		assert_int_equal(location(*state, code_fixture_frame(*state, stack, i))->address,
				 expected[i]);
}

static void where_a_signal_came_is_no_call(void **state)
{
	const uint64_t frames[] = { CODE_PROGRAM + 0x100, CODE_PROGRAM + 0x200,
				    CODE_PROGRAM + 0x280,
				    (CODE_PROGRAM + 0x300) | FRAME_INTERRUPTED,
				    CODE_PROGRAM + 0x400 };
	/* Nor is the one before, which the kernel has the handler return to. */
	static const uint64_t expected[] = { 0x100, 0x1ff, 0x280, 0x300, 0x3ff };
	const struct sample_event event = sample_of(CODE_PID, frames, 0, array_len(frames));
	uint32_t stack = code_fixture_locate(*state, &event);

	for (size_t i = 0; i < array_len(expected); i++)
		assert_int_equal(location(*state, code_fixture_frame(*state, stack, i))->address,
				 expected[i]);
}

static void a_function_that_nobody_called_is_where_it_begins(void **state)
{
	const uint64_t frames[] = { CODE_PROGRAM + 0x100, CODE_PROGRAM + 0x200,
				    (CODE_PROGRAM + 0x300) | FRAME_ENTERED };
	static const uint64_t expected[] = { 0x100, 0x1ff, 0x300 };
	const struct sample_event event = sample_of(CODE_PID, frames, 0, array_len(frames));
	uint32_t stack = code_fixture_locate(*state, &event);

	for (size_t i = 0; i < array_len(expected); i++)
		assert_int_equal(location(*state, code_fixture_frame(*state, stack, i))->address,
				 expected[i]);
}

static void a_call_that_ends_a_mapping_belongs_to_it(void **state)
{
	const uint64_t frames[] = { CODE_PROGRAM, CODE_PROGRAM_END };
	const struct sample_event event = sample_of(CODE_PID, frames, 0, 2);
	uint32_t id = code_fixture_frame(*state, code_fixture_locate(*state, &event), 1);

	assert_string_equal(file_of(*state, id), "/opt/program");
}

/* Where a process entered the kernel is no call either. */
static void kernel_frames_come_first_and_both_stacks_have_an_exact_leaf(void **state)
{
	const uint64_t frames[] = { KERNEL_ADDRESS, KERNEL_ADDRESS + 0x100, CODE_PROGRAM + 0x100,
				    CODE_PROGRAM + 0x200 };
	static const struct {
		const char *file;
		uint64_t address;
		enum frame_kind kind;
	} expected[] = {
		{ "[kernel.kallsyms]", KERNEL_ADDRESS, FRAME_KERNEL },
		{ "[kernel.kallsyms]", KERNEL_ADDRESS + 0xff, FRAME_KERNEL },
		{ "/opt/program", 0x100, FRAME_NATIVE },
		{ "/opt/program", 0x1ff, FRAME_NATIVE },
	};
	const struct sample_event event = sample_of(CODE_PID, frames, 2, 2);
	uint32_t stack = code_fixture_locate(*state, &event);

	for (size_t i = 0; i < array_len(expected); i++) {
		uint32_t id = code_fixture_frame(*state, stack, i);

		assert_string_equal(file_of(*state, id), expected[i].file);
		assert_int_equal(location(*state, id)->address, expected[i].address);
		assert_int_equal(location(*state, id)->kind, expected[i].kind);
	}
}

static void a_stack_that_stops_says_why_in_its_last_frame(void **state)
{
	struct code_fixture *fixture = *state;

	for (int result = 0; result < UNWIND_NR_RESULTS; result++) {
		const uint64_t address = CODE_PROGRAM + 0x100;
		struct sample_event event = sample_of(CODE_PID, &address, 0, 1);
		bool has_stop = result != UNWIND_COMPLETE && result != UNWIND_KERNEL_THREAD &&
				result != UNWIND_NO_STACK;

		event.unwind_result = (uint8_t)result;
		uint32_t stack = code_fixture_locate(fixture, &event);
		const struct profile *profile = builder_peek(fixture->window->builder);
		assert_int_equal(profile->stacks[stack].nr, 1 + has_stop);
		if (!has_stop)
			continue;
		uint32_t id = code_fixture_frame(fixture, stack, 1);
		assert_int_equal(location(fixture, id)->kind, FRAME_STOP);
		assert_int_equal(location(fixture, id)->address, result);
		assert_int_equal(location(fixture, id)->mapping, 0);
	}
}

static void the_deepest_stack_fits(void **state)
{
	struct code_fixture *fixture = *state;
	struct sample_event event = sample_of(CODE_PID, NULL, 0, 0);

	event.nr_kernel = MAX_KERNEL_FRAMES;
	event.nr_user = MAX_USER_WORDS;
	event.unwind_result = UNWIND_TOO_DEEP;
	for (size_t i = 0; i < MAX_FRAMES; i++)
		event.frames[i] = i < MAX_KERNEL_FRAMES ? KERNEL_ADDRESS : CODE_PROGRAM + 8;
	uint32_t stack = code_fixture_locate(fixture, &event);
	assert_int_equal(builder_peek(fixture->window->builder)->stacks[stack].nr,
			 LOCATE_MAX_FRAMES);
}

static void a_process_that_is_gone_has_unknown_code(void **state)
{
	uint32_t id = locate_one(*state, 4711, CODE_PROGRAM);

	assert_string_equal(file_of(*state, id), "[unknown]");
}

static void kernel_threads_and_idle_cpus_cost_no_look_into_proc(void **state)
{
	struct code_fixture *fixture = *state;
	const uint64_t address = KERNEL_ADDRESS;
	struct sample_event event = sample_of(0, &address, 1, 0);

	event.unwind_result = UNWIND_KERNEL_THREAD;
	code_fixture_locate(fixture, &event);
	event.pid = CODE_PID;
	code_fixture_locate(fixture, &event);
	assert_int_equal(process_table_get_stats(fixture->proc.table).nr_maps_reads, 0);
	assert_int_equal(process_table_get_stats(fixture->proc.table).nr_processes, 0);
}

static uint64_t nr_open_failures(const struct code_fixture *fixture)
{
	return elf_cache_get_stats(fixture->elfs).files.nr_open_failures;
}

static void what_is_no_regular_file_is_never_opened_again(void **state)
{
	struct code_fixture *fixture = *state;

	for (int i = 0; i < 3; i++) {
		locate_one(fixture, CODE_PID, CODE_SOCKET + (uint64_t)i);
		code_fixture_next_window(fixture);
	}
	assert_int_equal(nr_open_failures(fixture), 1);
}

static void a_file_that_is_not_there_is_tried_once_a_window(void **state)
{
	struct code_fixture *fixture = *state;

	for (uint64_t i = 0; i < 3; i++) {
		locate_one(fixture, CODE_PID, CODE_MISSING + 3 * i);
		locate_one(fixture, CODE_PID, CODE_MISSING + 3 * i + 1);
		assert_int_equal(nr_open_failures(fixture), i + 1);
		code_fixture_next_window(fixture);
	}
}

/* The first process to map it may be gone, and its file with it. */
static void a_file_that_one_process_cannot_show_is_asked_of_the_next(void **state)
{
	struct code_fixture *fixture = *state;
	uint32_t unopened = locate_one(fixture, CODE_FORKED_PID, CODE_PROGRAM_FORKED);
	uint32_t opened = locate_one(fixture, CODE_PID, CODE_PROGRAM);

	assert_int_equal(nr_open_failures(fixture), 1);
	assert_int_not_equal(location(fixture, unopened)->mapping,
			     location(fixture, opened)->mapping);
	assert_int_equal(locate_one(fixture, CODE_FORKED_PID, CODE_PROGRAM_FORKED), opened);
}

static void forget(const struct code_fixture *fixture, uint32_t id)
{
	struct known_file *file = file_index_get(inside_files(inside_registry(fixture->elfs)), id);

	assert_non_null(file);
	opened_file_close(&file->opened);
	inside_empty_waiting(inside_registry(fixture->elfs));
	file->identity.inode++; /* is not found by it */
	file->id += FILE_INDEX_MAX;
}

/* It has another id then; for each frame of a window that would take long. */
static void a_forgotten_file_is_opened_again_once_a_window(void **state)
{
	struct code_fixture *fixture = *state;
	uint32_t id = locate_one(fixture, CODE_PID, CODE_PROGRAM);
	struct window_code code = window_code_of(fixture->window, location(fixture, id)->mapping);

	assert_int_equal(code.kind, CODE_ELF);
	forget(fixture, code.id);
	code_fixture_next_window(fixture);
	id = locate_one(fixture, CODE_PID, CODE_PROGRAM);
	uint64_t open_ns = fixture->window->open_ns;
	assert_true(open_ns > 0);
	struct window_code again = window_code_of(fixture->window, location(fixture, id)->mapping);
	assert_int_equal(again.kind, CODE_ELF);
	assert_int_not_equal(again.id, code.id);
	assert_true(elf_cache_size(fixture->elfs, again.id) > 0);
	for (uint64_t i = 1; i < 10; i++)
		locate_one(fixture, CODE_PID, CODE_PROGRAM + i);
	assert_int_equal(fixture->window->open_ns, open_ns);
	assert_int_equal(elf_cache_get_stats(fixture->elfs).files.nr_open_failures, 0);
}

static void a_full_window_refuses_the_stack(void **state)
{
	struct code_fixture *fixture = *state;
	const uint64_t address = CODE_ANON;
	const struct sample_event event = sample_of(CODE_PID, &address, 0, 1);
	uint32_t id;

	for (uint32_t n = 1; n <= WINDOW_MAX_MAPPINGS; n++)
		assert_int_equal(window_add_mapping(fixture->window,
						    (struct window_code){ CODE_ELF, n }, "/x", 0,
						    &id),
				 0);
	id = 77;
	assert_int_equal(locate_stack(&fixture->locator, &event, &id), -ENOSPC);
	assert_int_equal(id, 77);
}

#define LOCATE_TEST(name)                                                                          \
	cmocka_unit_test_setup_teardown(name, code_fixture_set_up, code_fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOCATE_TEST(an_address_becomes_an_offset_in_what_is_mapped_there),
		LOCATE_TEST(frames_of_runtimes_have_several_words),
		LOCATE_TEST(words_that_are_no_frame_stand_for_themselves),
		LOCATE_TEST(only_a_file_that_was_opened_has_a_size),
		LOCATE_TEST(processes_that_map_a_file_share_its_locations),
		LOCATE_TEST(return_addresses_are_moved_into_the_call_and_exact_ones_are_not),
		LOCATE_TEST(where_a_signal_came_is_no_call),
		LOCATE_TEST(a_function_that_nobody_called_is_where_it_begins),
		LOCATE_TEST(a_call_that_ends_a_mapping_belongs_to_it),
		LOCATE_TEST(kernel_frames_come_first_and_both_stacks_have_an_exact_leaf),
		LOCATE_TEST(a_stack_that_stops_says_why_in_its_last_frame),
		LOCATE_TEST(the_deepest_stack_fits),
		LOCATE_TEST(a_process_that_is_gone_has_unknown_code),
		LOCATE_TEST(kernel_threads_and_idle_cpus_cost_no_look_into_proc),
		LOCATE_TEST(what_is_no_regular_file_is_never_opened_again),
		LOCATE_TEST(a_file_that_is_not_there_is_tried_once_a_window),
		LOCATE_TEST(a_file_that_one_process_cannot_show_is_asked_of_the_next),
		LOCATE_TEST(a_forgotten_file_is_opened_again_once_a_window),
		LOCATE_TEST(a_full_window_refuses_the_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/symbolizer.h"

#include "base/fileio.h"
#include "bpf/shared/frames.h"
#include "code_fixture.h"
#include "symbol_worker_main.h"
#include "torture.h"
#include "unit.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#define KERNEL_ADDRESS UINT64_C(0xffffffff81000010)
#define BUILD_ID_MAX_BYTES 64

static const char kallsyms_text[] = "ffffffff81000000 T do_the_work\n"
				    "ffffffff81000040 T do_the_rest\n";

void named_code(void);

void named_code(void)
{
	assert_true(true);
}

static struct symbolizer symbolizer_of(const struct code_fixture *fixture)
{
	return (struct symbolizer){ .elfs = fixture->elfs, .jits = fixture->jits };
}

/* The location of a user address, or of a kernel address. */
static uint32_t locate(struct code_fixture *fixture, uint64_t address, bool is_kernel)
{
	struct sample_event event = { .time_ns = CODE_NOW,
				      .pid = CODE_PID,
				      .nr_kernel = is_kernel,
				      .nr_user = !is_kernel,
				      .frames = { address } };

	return code_fixture_frame(fixture, code_fixture_locate(fixture, &event), 0);
}

static const char *name_of(const struct code_fixture *fixture, uint32_t location)
{
	return profile_location_name(builder_peek(fixture->window->builder), location);
}

static const char *system_name_of(const struct code_fixture *fixture, uint32_t location)
{
	const struct profile *profile = builder_peek(fixture->window->builder);
	const struct profile_line *line = &profile->lines[profile->locations[location].first_line];

	return profile_string(profile, profile->functions[line->function].system_name);
}

static void code_of_a_program_has_its_functions_name(void **state)
{
	struct code_fixture *fixture = *state;
	uint64_t address = CODE_PROGRAM + code_fixture_offset(named_code);
	struct symbolizer symbolizer = symbolizer_of(fixture);
	uint32_t first = locate(fixture, address, false);
	uint32_t second = locate(fixture, address + 1, false);

	assert_int_equal(symbolizer_name_window(&symbolizer, fixture->window, UINT64_MAX), 0);
	assert_string_equal(name_of(fixture, first), "named_code");
	assert_string_equal(name_of(fixture, second), "named_code");
	assert_string_equal(system_name_of(fixture, first), "named_code");
	assert_int_equal(symbolizer.nr_named, 2);
	assert_int_equal(symbolizer.nr_unnamed, 0);
}

/* Of a file that was not read yet nothing is known; of the kernel there is nothing more to come. */
static void what_may_be_known_later_is_left_without_a_name(void **state)
{
	struct code_fixture *fixture = *state;
	uint64_t address = CODE_PROGRAM + code_fixture_offset(named_code);
	struct symbolizer symbolizer = symbolizer_of(fixture);
	uint32_t program = locate(fixture, address, false);
	uint32_t kernel = locate(fixture, KERNEL_ADDRESS, true);
	const struct profile *profile = builder_peek(fixture->window->builder);
	size_t nr_left = 0;

	assert_int_equal(symbolizer_name_window_partly(&symbolizer, fixture->window, 0, &nr_left),
			 0);
	assert_int_equal(nr_left, 1);
	assert_int_equal(profile->locations[program].nr_lines, 0);
	assert_string_equal(name_of(fixture, kernel), "[kernel.kallsyms]+0xffffffff81000010");
	assert_int_equal(symbolizer_ask(&symbolizer, fixture->window), 1);

	while (symbolizer_ask(&symbolizer, fixture->window) > 0)
		assert_true(elf_cache_wait(fixture->elfs, UINT64_MAX));
	assert_int_equal(symbolizer_name_window_rest(&symbolizer, fixture->window), 0);
	assert_string_equal(name_of(fixture, program), "named_code");
	assert_string_equal(name_of(fixture, kernel), "[kernel.kallsyms]+0xffffffff81000010");
	assert_int_equal(symbolizer_ask(&symbolizer, fixture->window), 0);
	assert_int_equal(symbolizer.nr_named, 1);
	assert_int_equal(symbolizer.nr_unnamed, 1);
}

static void nothing_is_left_where_all_is_known(void **state)
{
	struct code_fixture *fixture = *state;
	uint64_t address = CODE_PROGRAM + code_fixture_offset(named_code);
	struct symbolizer symbolizer = symbolizer_of(fixture);
	uint32_t program = locate(fixture, address, false);
	size_t nr_left = 1;

	assert_int_equal(
		symbolizer_name_window_partly(&symbolizer, fixture->window, UINT64_MAX, &nr_left),
		0);
	assert_int_equal(nr_left, 0);
	assert_string_equal(name_of(fixture, program), "named_code");
}

static void code_without_a_symbol_is_named_by_file_and_address(void **state)
{
	static const struct {
		uint64_t address;
		const char *name;
	} cases[] = {
		{ CODE_PROGRAM + 0x10, "program+0x10" }, /* the ELF header */
		{ CODE_MISSING + 0x10, "gone.so+0x3010" },
		{ CODE_SOCKET + 0xabc, "odd+0xabc" },
		{ CODE_MEMFD + 0x10, "memfd:doublemapper" },
		{ CODE_VDSO + 0x10, "[vdso]+0x10" },
		{ CODE_ANON + 0x10, "[anon]" },
		{ CODE_JIT + 0x10, "[anon:js/code]" },
		{ 0x10, "[unknown]" },
	};
	struct code_fixture *fixture = *state;
	struct symbolizer symbolizer = symbolizer_of(fixture);
	uint32_t locations[array_len(cases)];

	for (size_t i = 0; i < array_len(cases); i++)
		locations[i] = locate(fixture, cases[i].address, false);
	assert_int_equal(symbolizer_name_window(&symbolizer, fixture->window, UINT64_MAX), 0);
	for (size_t i = 0; i < array_len(cases); i++) {
		assert_string_equal(name_of(fixture, locations[i]), cases[i].name);
		assert_string_equal(system_name_of(fixture, locations[i]), "");
	}
	assert_int_equal(symbolizer.nr_named, 0);
	assert_int_equal(symbolizer.nr_unnamed, array_len(cases));
}

static void kernel_code_has_the_kernels_names(void **state)
{
	_cleanup_(kernel_symbols_freep) struct kernel_symbols *kernel = NULL;
	struct code_fixture *fixture = *state;
	uint32_t known = locate(fixture, KERNEL_ADDRESS, true);
	uint32_t nowhere = locate(fixture, 0xffff800000000000, true);
	char path[96];
	int error = 0;

	snprintf(path, sizeof(path), "%s/kallsyms", fixture->proc.dir);
	assert_int_equal(file_write_atomic(path, kallsyms_text, strlen(kallsyms_text)), 0);
	assert_int_equal(kernel_symbols_new(fixture->proc.proc_fd, 0, &error, &kernel), 0);
	assert_int_equal(error, 0);
	struct symbolizer symbolizer = symbolizer_of(fixture);
	symbolizer.kernel = kernel;
	assert_int_equal(symbolizer_name_window(&symbolizer, fixture->window, UINT64_MAX), 0);
	assert_string_equal(name_of(fixture, known), "do_the_work");
	assert_string_equal(system_name_of(fixture, known), "do_the_work");
	assert_string_equal(name_of(fixture, nowhere), "[kernel.kallsyms]+0xffff800000000000");
	assert_int_equal(symbolizer.nr_named, 1);
	assert_int_equal(symbolizer.nr_unnamed, 1);
}

static void without_kallsyms_kernel_code_is_named_by_address(void **state)
{
	struct code_fixture *fixture = *state;
	struct symbolizer symbolizer = symbolizer_of(fixture);
	uint32_t id = locate(fixture, KERNEL_ADDRESS, true);

	assert_int_equal(symbolizer_name_window(&symbolizer, fixture->window, UINT64_MAX), 0);
	assert_string_equal(name_of(fixture, id), "[kernel.kallsyms]+0xffffffff81000010");
}

static void a_stop_is_named_by_its_reason(void **state)
{
	static const char *const names[UNWIND_NR_RESULTS] = {
		[UNWIND_NO_REGISTERS] = "[no user registers]",
		[UNWIND_COMPAT] = "[32-bit process]",
		[UNWIND_NEW_PROCESS] = "[process not known yet]",
		[UNWIND_NOT_LOADED] = "[unwind table not loaded yet]",
		[UNWIND_BAD_FRAME_POINTER] = "[no frame pointer]",
		[UNWIND_UNREADABLE_STACK] = "[stack unreadable]",
		[UNWIND_BAD_RETURN_ADDRESS] = "[bad return address]",
		[UNWIND_NOT_ASCENDING] = "[stack does not ascend]",
		[UNWIND_LOST_REGISTER] = "[register not recoverable]",
		[UNWIND_UNSUPPORTED_RULE] = "[unwind rule not supported]",
		[UNWIND_BAD_TABLE] = "[damaged unwind table]",
		[UNWIND_TOO_DEEP] = "[too deep]",
		[UNWIND_TRUNCATED] = "[stack copy too short]",
		[UNWIND_INTERRUPTED] = "[unwinder interrupted]",
	};
	struct code_fixture *fixture = *state;
	struct symbolizer symbolizer = symbolizer_of(fixture);
	uint32_t locations[UNWIND_NR_RESULTS];

	for (int result = UNWIND_NO_REGISTERS; result < UNWIND_NR_RESULTS; result++) {
		const struct sample_event event = { .pid = CODE_PID,
						    .unwind_result = (uint8_t)result };
		uint32_t stack = code_fixture_locate(fixture, &event);

		locations[result] = code_fixture_frame(fixture, stack, 0);
	}
	assert_int_equal(symbolizer_name_window(&symbolizer, fixture->window, UINT64_MAX), 0);
	for (int result = UNWIND_NO_REGISTERS; result < UNWIND_NR_RESULTS; result++)
		assert_string_equal(name_of(fixture, locations[result]), names[result]);
	assert_int_equal(symbolizer.nr_named + symbolizer.nr_unnamed, 0);
}

/* The build id of the test program as its own notes have it. */
static int find_build_id(struct dl_phdr_info *info, size_t size, void *data)
{
	char *hex = data;
	(void)size;

	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		/* NOLINTNEXTLINE(performance-no-int-to-ptr): that is how the symbolizer gives it */
		const char *note = (const char *)info->dlpi_addr + segment->p_vaddr;
		const char *end = note + segment->p_memsz;

		while (segment->p_type == PT_NOTE && end - note > (ptrdiff_t)sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *header = (const void *)note;
			const char *name = note + sizeof(*header);
			const char *id = name + (header->n_namesz + 3) / 4 * 4;

			if (header->n_type == NT_GNU_BUILD_ID && strcmp(name, "GNU") == 0)
				for (uint32_t k = 0; k < header->n_descsz; k++)
					snprintf(hex + 2 * (size_t)k, 3, "%02x", id[k] & 0xff);
			note = id + (header->n_descsz + 3) / 4 * 4;
		}
	}
	return 1; /* the program is the first; no libraries */
}

static void mappings_of_elf_files_get_their_build_ids(void **state)
{
	struct code_fixture *fixture = *state;
	struct symbolizer symbolizer = symbolizer_of(fixture);
	char expected[2 * BUILD_ID_MAX_BYTES + 1] = "";

	dl_iterate_phdr(find_build_id, expected);
	locate(fixture, CODE_MISSING, false);
	locate(fixture, CODE_PROGRAM + code_fixture_offset(named_code), false);
	assert_int_equal(symbolizer_name_window(&symbolizer, fixture->window, UINT64_MAX), 0);
	const struct profile *profile = builder_peek(fixture->window->builder);
	assert_string_equal(profile_string(profile, profile->mappings[1].build_id), "");
	assert_string_equal(profile_string(profile, profile->mappings[2].build_id), expected);
}

static void an_empty_window_needs_no_names(void **state)
{
	struct code_fixture *fixture = *state;
	struct symbolizer symbolizer = symbolizer_of(fixture);

	assert_int_equal(symbolizer_name_window(&symbolizer, fixture->window, UINT64_MAX), 0);
	assert_int_equal(builder_peek(fixture->window->builder)->nr_functions, 1);
}

/* More kernel code than there is room to name it by its address. */
static void locate_too_much(struct code_fixture *fixture)
{
	enum { NR_FRAMES = MAX_KERNEL_FRAMES, NR_STACKS = 1000 };
	struct sample_event event = { .nr_kernel = NR_FRAMES };

	for (uint64_t i = 0; i < NR_STACKS; i++) {
		for (uint64_t k = 0; k < NR_FRAMES; k++)
			event.frames[k] = KERNEL_ADDRESS + 16 * (i * NR_FRAMES + k);
		code_fixture_locate(fixture, &event);
	}
}

static void assert_some_left_out(const struct code_fixture *fixture,
				 const struct symbolizer *symbolizer)
{
	const struct profile *profile = builder_peek(fixture->window->builder);
	size_t nr_left_out = 0;

	for (uint32_t id = 1; id < profile->nr_locations; id++) {
		assert_int_equal(profile->locations[id].nr_lines, 1);
		nr_left_out += strcmp(name_of(fixture, id), SYMBOLIZER_NO_ROOM) == 0;
	}
	assert_true(nr_left_out > 0 && nr_left_out < profile->nr_locations / 2);
	assert_int_equal(symbolizer->nr_unnamed, profile->nr_locations - 1);
}

static void names_without_room_are_shortened_or_left_out(void **state)
{
	struct code_fixture *fixture = *state;
	struct symbolizer symbolizer = symbolizer_of(fixture);

	locate_too_much(fixture);
	assert_int_equal(symbolizer_name_window(&symbolizer, fixture->window, UINT64_MAX), 0);
	assert_some_left_out(fixture, &symbolizer);
}

static void what_cannot_wait_is_not_left_for_want_of_room(void **state)
{
	struct code_fixture *fixture = *state;
	struct symbolizer symbolizer = symbolizer_of(fixture);
	size_t nr_left = 1;

	locate_too_much(fixture);
	assert_int_equal(
		symbolizer_name_window_partly(&symbolizer, fixture->window, UINT64_MAX, &nr_left),
		0);
	assert_int_equal(nr_left, 0);
	assert_some_left_out(fixture, &symbolizer);
}

/* Leaves room for one string more. */
static void fill_strings(struct builder *builder)
{
	struct intern *strings = &((struct profile *)builder_peek(builder))->strings;
	char text[24];
	uint32_t id;

	while (strings->nr_strings + 1 < strings->cap_strings) {
		snprintf(text, sizeof(text), "filler %zu", strings->nr_strings);
		assert_int_equal(builder_add_string(builder, text, &id), 0);
	}
	strings->max_strings = strings->cap_strings;
}

/* Of the program's two build ids the first is the last string for which there is room. */
static void a_build_id_without_room_does_not_cost_the_others(void **state)
{
	struct code_fixture *fixture = *state;
	struct symbolizer symbolizer = symbolizer_of(fixture);
	struct builder *builder = fixture->window->builder;
	char expected[2 * BUILD_ID_MAX_BYTES + 1] = "";
	uint32_t id;

	dl_iterate_phdr(find_build_id, expected);
	locate(fixture, CODE_PROGRAM + code_fixture_offset(named_code), false);
	assert_int_equal(builder_add_string(builder, "named_code", &id), 0);
	fill_strings(builder);
	assert_int_equal(symbolizer_name_window(&symbolizer, fixture->window, UINT64_MAX), 0);
	const struct profile *profile = builder_peek(builder);
	assert_string_equal(profile_string(profile, profile->mappings[1].build_id), expected);
	assert_string_equal(profile_string(profile, profile->mappings[1].htlhash), "");
}

static void locate_all_kinds(struct code_fixture *fixture)
{
	locate(fixture, CODE_PROGRAM + code_fixture_offset(named_code), false);
	locate(fixture, CODE_MISSING, false);
	locate(fixture, CODE_ANON, false);
	locate(fixture, KERNEL_ADDRESS, true);
}

static void assert_all_named(const struct code_fixture *fixture)
{
	size_t nr_locations = builder_peek(fixture->window->builder)->nr_locations;

	for (uint32_t id = 1; id < nr_locations; id++)
		assert_string_not_equal(name_of(fixture, id), "");
}

/* A file whose symbols cannot be read for want of memory costs names, not the window. */
static void a_failed_allocation_is_an_error_or_costs_names_alone(void **state)
{
	bool has_failed = true;
	(void)state;

	for (unsigned int n = 1; has_failed; n++) {
		struct code_fixture fixture;

		code_fixture_init(&fixture);
		locate_all_kinds(&fixture);
		struct symbolizer symbolizer = symbolizer_of(&fixture);
		torture_begin(n);
		int r = symbolizer_name_window(&symbolizer, fixture.window, UINT64_MAX);
		has_failed = torture_end();
		assert_true(r == 0 || (r == -ENOMEM && has_failed));
		if (r == 0)
			assert_all_named(&fixture);
		code_fixture_done(&fixture);
	}
}

#define SYMBOLIZER_TEST(name)                                                                      \
	cmocka_unit_test_setup_teardown(name, code_fixture_set_up, code_fixture_tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		SYMBOLIZER_TEST(code_of_a_program_has_its_functions_name),
		SYMBOLIZER_TEST(what_may_be_known_later_is_left_without_a_name),
		SYMBOLIZER_TEST(nothing_is_left_where_all_is_known),
		SYMBOLIZER_TEST(code_without_a_symbol_is_named_by_file_and_address),
		SYMBOLIZER_TEST(kernel_code_has_the_kernels_names),
		SYMBOLIZER_TEST(without_kallsyms_kernel_code_is_named_by_address),
		SYMBOLIZER_TEST(a_stop_is_named_by_its_reason),
		SYMBOLIZER_TEST(mappings_of_elf_files_get_their_build_ids),
		SYMBOLIZER_TEST(an_empty_window_needs_no_names),
		SYMBOLIZER_TEST(names_without_room_are_shortened_or_left_out),
		SYMBOLIZER_TEST(what_cannot_wait_is_not_left_for_want_of_room),
		SYMBOLIZER_TEST(a_build_id_without_room_does_not_cost_the_others),
		cmocka_unit_test(a_failed_allocation_is_an_error_or_costs_names_alone),
	};

	if (is_symbol_worker(argc, argv))
		return symbol_worker_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

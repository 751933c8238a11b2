/* SPDX-License-Identifier: Apache-2.0 */
/* This program is linked to begin at 0x100000, so that addresses and offsets in its file differ. */
#include "pipeline/placing.h"

#include "code_fixture.h"
#include "pipeline/symbolizer.h"
#include "symbol_worker_main.h"
#include "torture.h"
#include "unit.h"

#include <link.h>

void placed_code(void);

void placed_code(void)
{
	assert_true(true);
}

static int find_bias(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	*(uint64_t *)data = info->dlpi_addr;
	return 1; /* the program is the first */
}

static uint64_t linked_address(void)
{
	uint64_t bias = 0;

	dl_iterate_phdr(find_bias, &bias);
	return (uintptr_t)placed_code - bias;
}

static uint32_t locate(struct code_fixture *fixture, uint32_t pid, uint64_t address)
{
	const struct sample_event event = {
		.time_ns = CODE_NOW,
		.pid = pid,
		.nr_user = 1,
		.frames = { address },
	};

	return code_fixture_frame(fixture, code_fixture_locate(fixture, &event), 0);
}

static uint32_t locate_program(struct code_fixture *fixture)
{
	return locate(fixture, CODE_PID, CODE_PROGRAM + code_fixture_offset(placed_code));
}

static void name(struct code_fixture *fixture)
{
	struct symbolizer symbolizer = { .elfs = fixture->elfs, .jits = fixture->jits };

	assert_int_equal(symbolizer_name_window(&symbolizer, fixture->window, UINT64_MAX), 0);
}

static const struct profile_location *location_at(const struct code_fixture *fixture,
						  uint32_t number)
{
	return &builder_peek(fixture->window->builder)->locations[number];
}

static const struct profile_mapping *mapping_of(const struct code_fixture *fixture, uint32_t number)
{
	const struct profile *profile = builder_peek(fixture->window->builder);

	return &profile->mappings[profile->locations[number].mapping];
}

static void code_of_a_file_lies_where_the_file_was_linked_to(void **state)
{
	struct code_fixture *fixture = *state;
	uint64_t offset = code_fixture_offset(placed_code);
	uint32_t number = locate_program(fixture);

	assert_int_not_equal(offset, linked_address());
	assert_int_equal(location_at(fixture, number)->address, offset);
	name(fixture);
	assert_int_equal(location_at(fixture, number)->address, linked_address());
}

static void a_mapping_is_a_segment_of_the_file(void **state)
{
	struct code_fixture *fixture = *state;
	uint64_t offset = code_fixture_offset(placed_code);
	uint32_t number = locate_program(fixture);
	const char *file = "/opt/program";

	name(fixture);
	const struct profile *profile = builder_peek(fixture->window->builder);
	const struct profile_mapping *mapping = mapping_of(fixture, number);

	assert_true(mapping->start <= linked_address() && linked_address() < mapping->limit);
	assert_int_equal(linked_address() - mapping->start + mapping->offset, offset);
	assert_string_equal(profile_string(profile, mapping->filename), file);
	assert_int_not_equal(mapping->build_id, 0);
}

static void processes_share_the_mapping_of_a_file(void **state)
{
	struct code_fixture *fixture = *state;
	uint64_t offset = code_fixture_offset(placed_code);
	uint32_t first = locate_program(fixture);
	uint32_t second = locate(fixture, CODE_FORKED_PID, CODE_PROGRAM_FORKED + offset + 1);

	assert_int_not_equal(first, second);
	name(fixture);
	assert_ptr_equal(mapping_of(fixture, first), mapping_of(fixture, second));
	assert_int_equal(location_at(fixture, second)->address, linked_address() + 1);
}

static void code_outside_of_segments_keeps_its_offset(void **state)
{
	struct code_fixture *fixture = *state;
	uint32_t header = locate(fixture, CODE_PID, CODE_PROGRAM);
	uint32_t number = locate_program(fixture);

	name(fixture);
	assert_int_equal(location_at(fixture, header)->address, 0);
	assert_int_equal(mapping_of(fixture, header)->start, 0);
	assert_int_equal(mapping_of(fixture, header)->offset, 0);
	assert_true(mapping_of(fixture, header)->limit > mapping_of(fixture, number)->offset);
}

static void code_without_a_file_stays_where_it_is(void **state)
{
	static const struct {
		uint64_t address;
		uint64_t expected;
	} cases[] = {
		{ CODE_MISSING + 0x10, 0x3010 }, /* the file is gone: its offset is what is known */
		{ CODE_ANON + 0x10, 0 },
		{ CODE_JIT + 0x10, 0 },
	};
	struct code_fixture *fixture = *state;
	uint32_t numbers[array_len(cases)];

	for (size_t i = 0; i < array_len(cases); i++)
		numbers[i] = locate(fixture, CODE_PID, cases[i].address);
	name(fixture);
	for (size_t i = 0; i < array_len(cases); i++) {
		assert_int_equal(location_at(fixture, numbers[i])->address, cases[i].expected);
		assert_int_equal(mapping_of(fixture, numbers[i])->start, 0);
		assert_int_equal(mapping_of(fixture, numbers[i])->offset, 0);
	}
}

static void a_failed_allocation_leaves_offsets(void **state)
{
	bool has_failed = true;
	(void)state;

	for (unsigned int n = 1; has_failed; n++) {
		struct code_fixture fixture;

		code_fixture_init(&fixture);
		uint64_t offset = code_fixture_offset(placed_code);
		uint32_t number = locate_program(&fixture);
		elf_cache_ask(fixture.elfs, window_code_of(fixture.window, 1).id, offset);
		assert_true(elf_cache_wait(fixture.elfs, UINT64_MAX));
		torture_begin(n);
		int r = place_window(fixture.elfs, fixture.window);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
		assert_int_equal(location_at(&fixture, number)->address,
				 has_failed ? offset : linked_address());
		code_fixture_done(&fixture);
	}
}

#define PLACING_TEST(name)                                                                         \
	cmocka_unit_test_setup_teardown(name, code_fixture_set_up, code_fixture_tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		PLACING_TEST(code_of_a_file_lies_where_the_file_was_linked_to),
		PLACING_TEST(a_mapping_is_a_segment_of_the_file),
		PLACING_TEST(processes_share_the_mapping_of_a_file),
		PLACING_TEST(code_outside_of_segments_keeps_its_offset),
		PLACING_TEST(code_without_a_file_stays_where_it_is),
		cmocka_unit_test(a_failed_allocation_leaves_offsets),
	};

	if (is_symbol_worker(argc, argv))
		return symbol_worker_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Which files a binder opens, and when. */
#include "pipeline/binder.h"

#include "base/clock.h"
#include "binder_fixture.h"
#include "bpf/shared/frames.h"
#include "process/process_set.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

static void a_file_has_one_slot_however_many_processes_map_it(void **state)
{
	struct binder_fixture *fixture = *state;

	binder_fixture_start(fixture, 0);
	for (uint32_t pid = 7; pid < 10; pid++) {
		binder_fixture_put_usual(fixture, pid);
		binder_fixture_bind(fixture, pid);
		assert_int_equal(binder_fixture_slot(fixture, pid, PROGRAM),
				 binder_fixture_slot(fixture, 7, PROGRAM));
	}
	assert_int_equal(binder_fixture_nr_slots(fixture), 2 + 2);
	assert_int_equal(binder_fixture_mapping_stats(fixture).nr_tables, 3);
}

static void what_is_no_file_with_cfi_has_its_slot_too(void **state)
{
	struct binder_fixture *fixture = *state;
	uint32_t without_cfi, vdso;

	binder_fixture_start(fixture, 0);
	without_cfi = table_slots_without_cfi(fixture->tables.slots);
	vdso = table_slots_vdso(fixture->tables.slots);
	binder_fixture_put_process(fixture, 7,
				   "10000-11000 r-xp 00000000 fe:01 1 /bin/program\n"
				   "20000-21000 r-xp 00000000 fe:01 2 /dev/odd\n"
				   "30000-31000 r-xp 00000000 fe:01 3 /lib/gone.so\n"
				   "40000-41000 r-xp 00000000 00:00 0 \n"
				   "50000-51000 r-xp 00000000 00:00 0 [anon:js/code]\n"
				   "60000-61000 r-xp 00000000 00:00 0 [vdso]\n");
	binder_fixture_put_file(fixture, 7, PROGRAM,
				(struct plan){ .key = 1, .build_error = -ENODATA });
	binder_fixture_link(fixture, 7, "map_files/20000-21000", "/dev/null");
	binder_fixture_bind(fixture, 7);
	slots_fixture_settle(fixture->slots);
	assert_int_equal(
		slots_fixture_unit(fixture->slots, binder_fixture_slot(fixture, 7, PROGRAM)),
		TABLE_WITHOUT_CFI);
	assert_int_equal(binder_fixture_slot(fixture, 7, 0x20000), without_cfi);
	assert_int_equal(binder_fixture_slot(fixture, 7, 0x30000), 0);
	assert_int_equal(binder_fixture_slot(fixture, 7, 0x40000), 0);
	assert_int_equal(binder_fixture_slot(fixture, 7, 0x50000), 0);
	assert_int_equal(binder_fixture_slot(fixture, 7, 0x60000), vdso);
	assert_int_equal(binder_fixture_nr_slots(fixture), 3);
	/* The shared slots stay when their file goes. */
	binder_fixture_end(fixture, 7);
	assert_int_equal(slots_fixture_unit(fixture->slots, without_cfi), TABLE_WITHOUT_CFI);
	assert_true(slots_fixture_unit(fixture->slots, vdso) > TABLE_WITHOUT_CFI);
}

/* Its own process could not open it any more. */
static void a_file_that_another_process_opens_is_everybodys(void **state)
{
	struct binder_fixture *fixture = *state;

	binder_fixture_start(fixture, 0);
	binder_fixture_put_process(fixture, 7, PROGRAM_LINE);
	binder_fixture_bind(fixture, 7);
	assert_int_equal(binder_fixture_slot(fixture, 7, PROGRAM), 0);
	binder_fixture_put_usual(fixture, 8);
	binder_fixture_bind(fixture, 8);
	binder_fixture_bind(fixture, 7);
	assert_int_not_equal(binder_fixture_slot(fixture, 7, PROGRAM), 0);
	assert_int_equal(binder_fixture_slot(fixture, 7, PROGRAM),
			 binder_fixture_slot(fixture, 8, PROGRAM));
}

static void files_that_samples_want_are_read_first(void **state)
{
	static const uint64_t expected[] = { VDSO_KEY, 3, 2, 1 };
	struct binder_fixture *fixture = *state;
	uint64_t keys[MAX_ORDER];

	binder_fixture_start(fixture, 0);
	rows_standin_shut(true);
	slots_fixture_add(fixture->slots, binder_plugin);
	rows_standin_wait_until_inside();
	binder_fixture_put_usual(fixture, 7);
	binder_fixture_bind(fixture, 7);
	binder_fixture_see_stack(fixture, 7, UNWIND_NOT_LOADED, 1, LIBRARY);
	rows_standin_shut(false);
	slots_fixture_settle(fixture->slots);
	assert_int_equal(rows_standin_order(keys), array_len(expected));
	assert_memory_equal(keys, expected, sizeof(expected));
}

/* The program's table was pushed out by another one; nobody needs that any more. */
static void evict_program(struct binder_fixture *fixture)
{
	binder_fixture_start(fixture, SIZE + 4096);
	binder_fixture_put_process(fixture, 8, LIBRARY_LINE);
	binder_fixture_put_file(fixture, 8, LIBRARY, binder_library);
	binder_fixture_put_process(fixture, 9, PROGRAM_LINE);
	binder_fixture_put_file(fixture, 9, PROGRAM, binder_program);
	binder_fixture_bind(fixture, 9);
	slots_fixture_settle(fixture->slots);
	slots_fixture_turn_clock(fixture->slots, 5);
	rows_standin_shut(true);
	binder_fixture_bind(fixture, 8);
	slots_fixture_use(fixture->slots, binder_fixture_slot(fixture, 8, LIBRARY));
	rows_standin_shut(false);
	slots_fixture_settle(fixture->slots);
	slots_fixture_expect(fixture->slots, binder_fixture_slot(fixture, 8, LIBRARY),
			     binder_library);
	assert_int_equal(
		slots_fixture_unit(fixture->slots, binder_fixture_slot(fixture, 9, PROGRAM)),
		TABLE_NOT_LOADED);
	slots_fixture_turn_clock(fixture->slots, 5);
	slots_fixture_use(fixture->slots, binder_fixture_slot(fixture, 9, PROGRAM));
	usleep(RETRY_NS / 1000);
}

static bool program_comes_back(struct binder_fixture *fixture)
{
	return binder_fixture_is_loaded(fixture, 9, PROGRAM);
}

static void an_evicted_file_comes_back_when_a_sample_needs_it(void **state)
{
	struct binder_fixture *fixture = *state;

	evict_program(fixture);
	uint64_t binding = binder_fixture_binding(fixture, 9);
	binder_fixture_see_stack(fixture, 9, UNWIND_COMPLETE, 1, PROGRAM);
	assert_false(program_comes_back(fixture));
	binder_fixture_see_stack(fixture, 9, UNWIND_NOT_LOADED, 1, PROGRAM);
	assert_true(program_comes_back(fixture));
	binder_fixture_flush(fixture);
	assert_int_equal(binder_fixture_binding(fixture, 9), binding);
}

struct end_case {
	uint16_t nr_frames;
	uint64_t address;
	bool is_program;
};

static void a_return_address_belongs_to_the_code_before_it(void **state)
{
	static const struct end_case cases[] = {
		{ 1, PROGRAM + 0x1000, false },
		{ 2, PROGRAM, false },
		{ 2, FRAME_INTERRUPTED | (PROGRAM + 0x1000), false },
		{ 2, NOWHERE, false },
		{ 2, PROGRAM + 0x1000, true },
	};
	struct binder_fixture *fixture = *state;

	evict_program(fixture);
	for (size_t i = 0; i < array_len(cases); i++) {
		binder_fixture_see_stack(fixture, 9, UNWIND_NOT_LOADED, cases[i].nr_frames,
					 cases[i].address);
		assert_int_equal(program_comes_back(fixture), cases[i].is_program);
	}
}

static void a_signal_may_come_at_the_first_byte_of_code(void **state)
{
	struct binder_fixture *fixture = *state;

	evict_program(fixture);
	binder_fixture_see_stack(fixture, 9, UNWIND_NOT_LOADED, 2, FRAME_INTERRUPTED | PROGRAM);
	assert_true(program_comes_back(fixture));
}

/* From now on there is no time to open files, until a second later. */
static void spend_time(struct binder_fixture *fixture)
{
	fixture->binder.budget_end_ns = NOW + NSEC_PER_SEC;
	fixture->binder.open_ns = NSEC_PER_SEC;
}

static void an_evicted_file_waits_for_time_to_open_it(void **state)
{
	struct binder_fixture *fixture = *state;

	evict_program(fixture);
	spend_time(fixture);
	binder_fixture_see_stack(fixture, 9, UNWIND_NOT_LOADED, 1, PROGRAM);
	assert_false(program_comes_back(fixture));
	fixture->binder.open_ns = 0;
	binder_fixture_see_stack(fixture, 9, UNWIND_NOT_LOADED, 1, PROGRAM);
	assert_true(program_comes_back(fixture));
}

static void without_time_to_open_files_a_process_is_bound_in_part(void **state)
{
	struct binder_fixture *fixture = *state;

	binder_fixture_start(fixture, 0);
	binder_fixture_put_usual(fixture, 7);
	spend_time(fixture);
	binder_fixture_bind(fixture, 7);
	assert_int_equal(binder_fixture_slot(fixture, 7, PROGRAM), 0);
	assert_true(binder_fixture_range(fixture, 7, PROGRAM).is_postponed);
	assert_true(binder_fixture_find(fixture, 7)->is_bound);

	/* Nothing new: nothing is written. */
	binder_fixture_see(fixture, 7, UNWIND_BAD_FRAME_POINTER);
	binder_fixture_flush(fixture);
	assert_int_equal(binder_fixture_mapping_stats(fixture).nr_published, 1);

	binder_fixture_see(fixture, 7, UNWIND_BAD_FRAME_POINTER);
	binder_flush(&fixture->binder, NOW + NSEC_PER_SEC);
	assert_int_equal(binder_fixture_mapping_stats(fixture).nr_published, 2);
	assert_false(binder_fixture_range(fixture, 7, PROGRAM).is_postponed);
	slots_fixture_settle(fixture->slots);
	slots_fixture_expect(fixture->slots, binder_fixture_slot(fixture, 7, PROGRAM),
			     binder_program);
	slots_fixture_expect(fixture->slots, binder_fixture_slot(fixture, 7, LIBRARY),
			     binder_library);
	binder_fixture_see(fixture, 7, UNWIND_COMPLETE);
	assert_false(binder_fixture_find(fixture, 7)->is_noted);
}

/* Its process has no such file: what was waited for does not come. */
static void a_postponed_file_that_cannot_be_opened_is_left_to_frame_pointers(void **state)
{
	struct binder_fixture *fixture = *state;

	binder_fixture_start(fixture, 0);
	binder_fixture_put_process(fixture, 7, PROGRAM_LINE);
	spend_time(fixture);
	binder_fixture_bind(fixture, 7);
	assert_true(binder_fixture_range(fixture, 7, PROGRAM).is_postponed);
	binder_fixture_see(fixture, 7, UNWIND_NOT_LOADED);
	binder_flush(&fixture->binder, NOW + NSEC_PER_SEC);
	assert_int_equal(binder_fixture_slot(fixture, 7, PROGRAM), 0);
	assert_false(binder_fixture_range(fixture, 7, PROGRAM).is_postponed);
}

static void files_that_find_the_queue_full_are_handed_in_later(void **state)
{
	struct binder_fixture *fixture = *state;

	binder_fixture_start(fixture, 0);
	rows_standin_shut(true);
	slots_fixture_add(fixture->slots, binder_plugin);
	rows_standin_wait_until_inside();
	for (size_t i = 0; i < TABLE_QUEUE_MAX - 1; i++)
		slots_fixture_add(fixture->slots, binder_plugin);
	binder_fixture_put_usual(fixture, 7);
	binder_fixture_bind(fixture, 7);
	assert_int_not_equal(binder_fixture_slot(fixture, 7, PROGRAM), 0);
	assert_int_equal(binder_fixture_slot(fixture, 7, LIBRARY), 0);
	assert_true(binder_fixture_range(fixture, 7, LIBRARY).is_postponed);
	rows_standin_shut(false);
	slots_fixture_settle(fixture->slots);
	binder_fixture_see(fixture, 7, UNWIND_BAD_FRAME_POINTER);
	binder_fixture_flush(fixture);
	slots_fixture_settle(fixture->slots);
	slots_fixture_expect(fixture->slots, binder_fixture_slot(fixture, 7, LIBRARY),
			     binder_library);
}

#define BINDER_TEST(name)                                                                          \
	cmocka_unit_test_setup_teardown(name, binder_fixture_set_up, binder_fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BINDER_TEST(a_file_has_one_slot_however_many_processes_map_it),
		BINDER_TEST(what_is_no_file_with_cfi_has_its_slot_too),
		BINDER_TEST(a_file_that_another_process_opens_is_everybodys),
		BINDER_TEST(files_that_samples_want_are_read_first),
		BINDER_TEST(an_evicted_file_comes_back_when_a_sample_needs_it),
		BINDER_TEST(a_return_address_belongs_to_the_code_before_it),
		BINDER_TEST(a_signal_may_come_at_the_first_byte_of_code),
		BINDER_TEST(an_evicted_file_waits_for_time_to_open_it),
		BINDER_TEST(without_time_to_open_files_a_process_is_bound_in_part),
		BINDER_TEST(a_postponed_file_that_cannot_be_opened_is_left_to_frame_pointers),
		BINDER_TEST(files_that_find_the_queue_full_are_handed_in_later),
	};

	if (!arena_fixture_is_possible())
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/binder.h"

#include "base/clock.h"
#include "binder_fixture.h"
#include "bpf/shared/frames.h"
#include "process/process_set.h"
#include "torture.h"

#include <bpf/bpf.h>
#include <stdio.h>
#include <unistd.h>

#include "unit.h"

static void the_first_sample_of_a_process_binds_it(void **state)
{
	struct binder_fixture *fixture = *state;

	binder_fixture_start(fixture, 0);
	binder_fixture_put_usual(fixture, 7);
	binder_fixture_see(fixture, 7, UNWIND_NEW_PROCESS);
	assert_int_equal(binder_fixture_slot(fixture, 7, PROGRAM), UNBOUND);
	binder_fixture_flush(fixture);
	assert_true(binder_fixture_find(fixture, 7)->is_bound);
	assert_int_equal(binder_fixture_slot(fixture, 7, NOWHERE), HOLE);
	slots_fixture_settle(fixture->slots);
	slots_fixture_expect(fixture->slots, binder_fixture_slot(fixture, 7, PROGRAM),
			     binder_program);
	slots_fixture_expect(fixture->slots, binder_fixture_slot(fixture, 7, LIBRARY + 0xfff),
			     binder_library);
	assert_int_equal(binder_fixture_range(fixture, 7, LIBRARY).bias, LIBRARY - 0x3000);
}

static void a_process_that_is_known_from_events_alone_is_not_bound(void **state)
{
	struct binder_fixture *fixture = *state;

	binder_fixture_start(fixture, 0);
	binder_fixture_tell_kind(fixture, PROC_EXEC, 7);
	binder_fixture_tell_mmap(fixture, 7);
	binder_fixture_flush(fixture);
	assert_false(binder_fixture_find(fixture, 7)->is_bound);
	assert_int_equal(binder_fixture_slot(fixture, 7, PLUGIN), UNBOUND);
	assert_int_equal(binder_fixture_nr_slots(fixture), 2);
}

static void a_sample_of_the_kernel_alone_binds_nothing(void **state)
{
	struct binder_fixture *fixture = *state;

	binder_fixture_start(fixture, 0);
	binder_fixture_put_usual(fixture, 7);
	binder_fixture_see_stack(fixture, 7, UNWIND_KERNEL_THREAD, 0, 0);
	binder_fixture_flush(fixture);
	assert_int_equal(binder_fixture_slot(fixture, 7, PROGRAM), UNBOUND);
}

static void a_process_that_was_gone_at_its_first_sample_is_not_bound(void **state)
{
	struct binder_fixture *fixture = *state;

	binder_fixture_start(fixture, 0);
	binder_fixture_bind(fixture, 7);
	assert_false(binder_fixture_find(fixture, 7)->is_bound);
	assert_int_equal(binder_fixture_slot(fixture, 7, PROGRAM), UNBOUND);
}

static void a_bound_process_that_maps_something_is_bound_anew(void **state)
{
	struct binder_fixture *fixture = *state;

	binder_fixture_start(fixture, 0);
	binder_fixture_put_usual(fixture, 7);
	binder_fixture_bind(fixture, 7);
	uint64_t before = binder_fixture_binding(fixture, 7);
	binder_fixture_tell_mmap(fixture, 7);
	assert_int_equal(binder_fixture_binding(fixture, 7), before);
	binder_fixture_flush(fixture);
	assert_int_not_equal(binder_fixture_binding(fixture, 7), before);
	slots_fixture_settle(fixture->slots);
	slots_fixture_expect(fixture->slots, binder_fixture_slot(fixture, 7, PLUGIN),
			     binder_plugin);
	slots_fixture_expect(fixture->slots, binder_fixture_slot(fixture, 7, PROGRAM),
			     binder_program);
	assert_int_equal(binder_fixture_mapping_stats(fixture).nr_tables, 1);
	assert_int_equal(binder_fixture_mapping_stats(fixture).nr_published, 2);
}

static void what_has_not_changed_is_not_bound_again(void **state)
{
	struct binder_fixture *fixture = *state;

	binder_fixture_start(fixture, 0);
	binder_fixture_put_usual(fixture, 7);
	binder_fixture_bind(fixture, 7);
	binder_fixture_see(fixture, 7, UNWIND_COMPLETE);
	binder_fixture_see(fixture, 7, UNWIND_BAD_FRAME_POINTER);
	assert_false(binder_fixture_find(fixture, 7)->is_noted);
	binder_fixture_bind(fixture, 7);
	assert_int_equal(binder_fixture_mapping_stats(fixture).nr_published, 1);
}

static void exec_ends_a_binding_until_the_next_sample(void **state)
{
	struct binder_fixture *fixture = *state;

	binder_fixture_start(fixture, 0);
	binder_fixture_put_usual(fixture, 7);
	binder_fixture_bind(fixture, 7);
	binder_fixture_tell_kind(fixture, PROC_EXEC, 7);
	assert_false(binder_fixture_find(fixture, 7)->is_bound);
	assert_int_equal(binder_fixture_slot(fixture, 7, PROGRAM), UNBOUND);
	binder_fixture_tell_mmap(fixture, 7);
	binder_fixture_flush(fixture);
	assert_int_equal(binder_fixture_slot(fixture, 7, PLUGIN), UNBOUND);
	binder_fixture_bind(fixture, 7);
	assert_int_equal(binder_fixture_slot(fixture, 7, PROGRAM), HOLE);
	slots_fixture_settle(fixture->slots);
	slots_fixture_expect(fixture->slots, binder_fixture_slot(fixture, 7, PLUGIN),
			     binder_plugin);
}

static void a_child_shares_its_parents_list_until_it_maps_something(void **state)
{
	struct binder_fixture *fixture = *state;

	binder_fixture_start(fixture, 0);
	binder_fixture_put_usual(fixture, 7);
	binder_fixture_bind(fixture, 7);
	binder_fixture_fork(fixture, 7, 8);
	binder_fixture_flush(fixture);
	assert_true(binder_fixture_find(fixture, 8)->is_bound);
	assert_int_equal(binder_fixture_mapping_stats(fixture).nr_tables, 1);

	binder_fixture_tell_mmap(fixture, 8);
	binder_fixture_flush(fixture);
	assert_int_equal(binder_fixture_mapping_stats(fixture).nr_tables, 2);
	assert_int_equal(binder_fixture_slot(fixture, 7, PLUGIN), HOLE);
	assert_int_not_equal(binder_fixture_slot(fixture, 8, PLUGIN), HOLE);
	assert_int_equal(binder_fixture_slot(fixture, 8, PROGRAM),
			 binder_fixture_slot(fixture, 7, PROGRAM));
}

static void a_child_keeps_the_list_that_its_parent_gave_up(void **state)
{
	struct binder_fixture *fixture = *state;

	binder_fixture_start(fixture, 0);
	binder_fixture_put_usual(fixture, 7);
	binder_fixture_bind(fixture, 7);
	binder_fixture_fork(fixture, 7, 8);
	binder_fixture_tell_mmap(fixture, 7);
	binder_fixture_flush(fixture);
	assert_int_not_equal(binder_fixture_slot(fixture, 7, PLUGIN), HOLE);
	assert_int_equal(binder_fixture_slot(fixture, 8, PLUGIN), HOLE);
	binder_fixture_end(fixture, 7);
	slots_fixture_settle(fixture->slots);
	slots_fixture_expect(fixture->slots, binder_fixture_slot(fixture, 8, PROGRAM),
			     binder_program);
}

/* Forked between the parent's mmap and the flush: the kernel side gave it what is void by now. */
static void a_child_with_a_void_binding_is_bound_at_its_first_sample(void **state)
{
	struct binder_fixture *fixture = *state;

	binder_fixture_start(fixture, 0);
	binder_fixture_put_usual(fixture, 7);
	binder_fixture_bind(fixture, 7);
	binder_fixture_tell_mmap(fixture, 7);
	binder_fixture_fork(fixture, 7, 8);
	binder_fixture_flush(fixture);
	assert_int_equal(binder_fixture_slot(fixture, 8, PROGRAM), UNBOUND);
	binder_fixture_bind(fixture, 8);
	assert_int_equal(binder_fixture_binding(fixture, 8), binder_fixture_binding(fixture, 7));
	assert_int_equal(binder_fixture_mapping_stats(fixture).nr_tables, 1);
}

static void what_nobody_maps_any_more_is_given_back(void **state)
{
	struct binder_fixture *fixture = *state;

	binder_fixture_start(fixture, 0);
	binder_fixture_put_usual(fixture, 7);
	binder_fixture_put_process(fixture, 8, LIBRARY_LINE);
	binder_fixture_put_file(fixture, 8, LIBRARY, binder_library);
	binder_fixture_bind(fixture, 7);
	binder_fixture_bind(fixture, 8);
	slots_fixture_settle(fixture->slots);
	uint32_t slot = binder_fixture_slot(fixture, 7, PROGRAM);
	uint64_t used = unwind_arena_get_stats(fixture->tables.arena).nr_bytes_used;
	binder_fixture_tell_kind(fixture, PROC_EXIT, 7);
	assert_int_equal(binder_fixture_slot(fixture, 7, PROGRAM), slot);
	process_table_sweep(fixture->proc.table, NOW + PROCESS_LINGER_NS);
	assert_int_equal(binder_fixture_slot(fixture, 7, PROGRAM), UNBOUND);
	assert_int_equal(slots_fixture_unit(fixture->slots, slot), TABLE_NOT_LOADED);
	assert_int_equal(binder_fixture_mapping_stats(fixture).nr_tables, 1);
	assert_true(unwind_arena_get_stats(fixture->tables.arena).nr_bytes_used < used);
	slots_fixture_expect(fixture->slots, binder_fixture_slot(fixture, 8, LIBRARY),
			     binder_library);
}

static void a_process_that_ended_before_its_turn_is_not_bound(void **state)
{
	struct binder_fixture *fixture = *state;

	binder_fixture_start(fixture, 0);
	binder_fixture_put_usual(fixture, 7);
	binder_fixture_put_usual(fixture, 8);
	binder_fixture_see(fixture, 7, UNWIND_NEW_PROCESS);
	binder_fixture_see(fixture, 8, UNWIND_NEW_PROCESS);
	binder_fixture_tell_kind(fixture, PROC_EXIT, 7);
	binder_fixture_tell_kind(fixture, PROC_EXIT, 8);
	process_table_sweep(fixture->proc.table, NOW);
	binder_fixture_flush(fixture);
	assert_int_equal(binder_fixture_slot(fixture, 7, PROGRAM), UNBOUND);
	assert_int_equal(binder_fixture_mapping_stats(fixture).nr_tables, 0);
}

static void the_next_user_of_a_pid_is_not_bound_for_the_last_one(void **state)
{
	struct binder_fixture *fixture = *state;

	binder_fixture_start(fixture, 0);
	binder_fixture_put_usual(fixture, 7);
	binder_fixture_see(fixture, 7, UNWIND_NEW_PROCESS);
	binder_fixture_tell_kind(fixture, PROC_EXIT, 7);
	binder_fixture_tell_kind(fixture, PROC_EXEC, 7);
	binder_fixture_tell_mmap(fixture, 7);
	binder_fixture_flush(fixture);
	assert_int_equal(binder_fixture_slot(fixture, 7, PLUGIN), UNBOUND);
}

/* The maps were read again, for an address that was in none of them: what is there now is another
 * list. */
static void a_list_that_was_read_again_is_bound(void **state)
{
	struct binder_fixture *fixture = *state;

	binder_fixture_start(fixture, 0);
	binder_fixture_put_usual(fixture, 7);
	binder_fixture_bind(fixture, 7);
	binder_fixture_put_process(fixture, 7, PROGRAM_LINE LIBRARY_LINE PLUGIN_LINE);
	binder_fixture_put_file(fixture, 7, PLUGIN, binder_plugin);
	assert_non_null(process_find_mapping(fixture->proc.table, binder_fixture_find(fixture, 7),
					     PLUGIN, NOW + 2 * NSEC_PER_SEC));
	assert_int_equal(binder_fixture_slot(fixture, 7, PROGRAM), UNBOUND);
	binder_fixture_see(fixture, 7, UNWIND_BAD_RETURN_ADDRESS);
	binder_fixture_flush(fixture);
	assert_int_not_equal(binder_fixture_slot(fixture, 7, PLUGIN), HOLE);
	assert_int_equal(binder_fixture_mapping_stats(fixture).nr_tables, 1);
}

/* Its tables are there, so that the thread has nothing to do meanwhile. */
static void without_memory_the_next_sample_tries_again(void **state)
{
	struct binder_fixture *fixture = *state;
	bool has_failed = true;

	binder_fixture_start(fixture, 0);
	binder_fixture_put_usual(fixture, 7);
	binder_fixture_put_usual(fixture, 8);
	binder_fixture_bind(fixture, 7);
	slots_fixture_settle(fixture->slots);
	for (unsigned int n = 1; has_failed; n++) {
		assert_false(process_table_get(fixture->proc.table, 8, 0, NOW)->is_bound);
		torture_begin(n);
		binder_fixture_bind(fixture, 8);
		has_failed = torture_end();
		assert_int_equal(binder_fixture_find(fixture, 8)->is_bound, !has_failed);
	}
	assert_int_equal(binder_fixture_slot(fixture, 8, LIBRARY),
			 binder_fixture_slot(fixture, 7, LIBRARY));
}

#define BINDER_TEST(name)                                                                          \
	cmocka_unit_test_setup_teardown(name, binder_fixture_set_up, binder_fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BINDER_TEST(the_first_sample_of_a_process_binds_it),
		BINDER_TEST(a_process_that_is_known_from_events_alone_is_not_bound),
		BINDER_TEST(a_sample_of_the_kernel_alone_binds_nothing),
		BINDER_TEST(a_process_that_was_gone_at_its_first_sample_is_not_bound),
		BINDER_TEST(a_bound_process_that_maps_something_is_bound_anew),
		BINDER_TEST(what_has_not_changed_is_not_bound_again),
		BINDER_TEST(exec_ends_a_binding_until_the_next_sample),
		BINDER_TEST(a_child_shares_its_parents_list_until_it_maps_something),
		BINDER_TEST(a_child_keeps_the_list_that_its_parent_gave_up),
		BINDER_TEST(a_child_with_a_void_binding_is_bound_at_its_first_sample),
		BINDER_TEST(what_nobody_maps_any_more_is_given_back),
		BINDER_TEST(a_process_that_ended_before_its_turn_is_not_bound),
		BINDER_TEST(the_next_user_of_a_pid_is_not_bound_for_the_last_one),
		BINDER_TEST(a_list_that_was_read_again_is_bound),
		BINDER_TEST(without_memory_the_next_sample_tries_again),
	};

	if (!arena_fixture_is_possible())
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

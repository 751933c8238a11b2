/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/tables/bound_processes.h"

#include "base/cleanup.h"
#include "torture.h"

#include "unit.h"

static uint64_t binding_of(struct bound_processes *processes, uint32_t pid)
{
	const uint64_t *binding = bound_processes_find(processes, pid);

	return binding ? *binding : UINT64_MAX;
}

static void set(struct bound_processes *processes, uint32_t pid, uint64_t binding)
{
	assert_int_equal(bound_processes_set(processes, pid, binding), 0);
	assert_int_equal(binding_of(processes, pid), binding);
}

static void what_was_set_is_found(void **state)
{
	_cleanup_(bound_processes_done) struct bound_processes processes = { 0 };
	(void)state;

	assert_int_equal(bound_processes_init(&processes, 4), 0);
	assert_null(bound_processes_find(&processes, 0));
	assert_null(bound_processes_find(&processes, 1));
	set(&processes, 1, 11);
	set(&processes, 0, 5);
	set(&processes, UINT32_MAX, UINT64_C(1) << 63);
	set(&processes, 1, 12);
	*bound_processes_find(&processes, 0) = 6;
	assert_int_equal(binding_of(&processes, 0), 6);
	assert_int_equal(binding_of(&processes, 1), 12);
	assert_null(bound_processes_find(&processes, 2));
}

static void what_was_removed_is_not_there(void **state)
{
	_cleanup_(bound_processes_done) struct bound_processes processes = { 0 };
	(void)state;

	assert_int_equal(bound_processes_init(&processes, 2), 0);
	bound_processes_remove(&processes, 1);
	for (uint32_t i = 0; i < 10; i++) {
		set(&processes, 1, i);
		set(&processes, 2, i);
		bound_processes_remove(&processes, 1);
		assert_null(bound_processes_find(&processes, 1));
		assert_int_equal(binding_of(&processes, 2), i);
		bound_processes_remove(&processes, 2);
	}
	set(&processes, 3, 3);
	set(&processes, 4, 4);
	assert_int_equal(binding_of(&processes, 3), 3);
}

static void the_one_looked_up_longest_ago_makes_room(void **state)
{
	_cleanup_(bound_processes_done) struct bound_processes processes = { 0 };
	(void)state;

	assert_int_equal(bound_processes_init(&processes, 3), 0);
	for (uint32_t pid = 1; pid <= 3; pid++)
		set(&processes, pid, pid);
	assert_int_equal(binding_of(&processes, 1), 1);
	set(&processes, 4, 4);
	assert_null(bound_processes_find(&processes, 2));
	set(&processes, 3, 30);
	set(&processes, 5, 5);
	assert_null(bound_processes_find(&processes, 1));
	assert_int_equal(binding_of(&processes, 3), 30);
	assert_int_equal(binding_of(&processes, 4), 4);
	assert_int_equal(binding_of(&processes, 5), 5);
}

static void many_come_and_go(void **state)
{
	_cleanup_(bound_processes_done) struct bound_processes processes = { 0 };
	(void)state;

	assert_int_equal(bound_processes_init(&processes, 1000), 0);
	for (uint32_t pid = 0; pid < 100000; pid++) {
		set(&processes, pid, pid);
		if (pid % 7 == 0)
			bound_processes_remove(&processes, pid / 2);
	}
	uint32_t nr_left = 0;
	for (uint32_t pid = 0; pid < 100000; pid++)
		nr_left += binding_of(&processes, pid) == pid;
	assert_int_equal(nr_left, 1000);
	assert_int_equal(processes.index.nr_used, 1000);
	bound_processes_clear(&processes);
	assert_int_equal(processes.index.nr_used, 0);
	set(&processes, 1, 1);
}

static void without_memory_nothing_is_lost(void **state)
{
	bool has_failed = true;
	(void)state;

	for (unsigned int n = 1; has_failed; n++) {
		_cleanup_(bound_processes_done) struct bound_processes processes = { 0 };

		torture_begin(n);
		int r = bound_processes_init(&processes, 64);
		for (uint32_t pid = 0; r == 0 && pid < 64; pid++) {
			r = bound_processes_set(&processes, pid, pid);
			if (r < 0)
				assert_null(bound_processes_find(&processes, pid));
		}
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_set_is_found),
		cmocka_unit_test(what_was_removed_is_not_there),
		cmocka_unit_test(the_one_looked_up_longest_ago_makes_room),
		cmocka_unit_test(many_come_and_go),
		cmocka_unit_test(without_memory_nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

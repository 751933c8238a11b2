/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/name_sets.h"

#include "unit.h"

#include <stdio.h>
#include <string.h>

static struct name_sets sets_of(const char *first, const char *second)
{
	struct name_sets sets;

	assert_int_equal(name_sets_init(&sets), 0);
	assert_int_equal(name_sets_add(&sets, first, ' '), 0);
	if (second)
		assert_int_equal(name_sets_add(&sets, second, ' '), 1);
	return sets;
}

static void a_name_is_in_a_set_if_it_is_listed(void **state)
{
	static const struct {
		const char *name;
		bool is_first, is_second;
	} cases[] = {
		{ "osq_lock", true, false },
		{ "osq_lock.isra.0", true, false },
		{ "osq_lock.constprop.0.isra.1", true, false },
		{ "osq_lock.cold", true, false },
		{ "osq_lock.llvm.123", true, false },
		{ "osq_lock.isra", false, false },
		{ "osq_lock.0", false, false },
		{ "osq_loc", false, false },
		{ "osq_locks", false, false },
		{ "", false, false },
		{ "osq_lock ", false, false },
		{ ".isra.0", false, false },
		{ "runtime.main", true, false },
		{ "runtime.gcDrain", false, true },
		{ "runtime.gcDrain.func1", false, true },
		{ "runtime.gc", false, true },
		{ "runtime.g", false, false },
		{ "mutex_lock", true, true },
	};
	struct name_sets sets = sets_of("osq_lock runtime.main mutex_lock",
					"runtime.gc* mutex_lock");
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct name_bits bits = name_sets_of(&sets, cases[i].name);

		assert_int_equal(name_bits_have(bits, 0), cases[i].is_first);
		assert_int_equal(name_bits_have(bits, 1), cases[i].is_second);
		assert_int_equal(name_bits_any(bits), cases[i].is_first || cases[i].is_second);
	}
	name_sets_done(&sets);
}

static void equal_lists_are_one_set(void **state)
{
	struct name_sets sets = sets_of("a b", "a");
	(void)state;

	assert_int_equal(name_sets_add(&sets, "a b", ' '), 0);
	assert_int_equal(name_sets_add(&sets, "a c", ' '), 2);
	name_sets_done(&sets);
}

static void a_separator_other_than_a_space_permits_spaces_in_names(void **state)
{
	struct name_sets sets;
	(void)state;

	assert_int_equal(name_sets_init(&sets), 0);
	assert_int_equal(name_sets_add(&sets, "GC Thread#*,VM Thread", ','), 0);
	assert_true(name_bits_any(name_sets_of(&sets, "GC Thread#12")));
	assert_true(name_bits_any(name_sets_of(&sets, "VM Thread")));
	assert_false(name_bits_any(name_sets_of(&sets, "GC")));
	name_sets_done(&sets);
}

static void names_of_any_length_are_looked_up(void **state)
{
	char name[10000];
	struct name_sets sets = sets_of("x* y", NULL);
	(void)state;

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_true(name_bits_any(name_sets_of(&sets, name)));
	memset(name, 'y', sizeof(name) - 1);
	assert_false(name_bits_any(name_sets_of(&sets, name)));
	name_sets_done(&sets);
}

static void there_is_a_limit_of_sets(void **state)
{
	static char lists[NAME_SETS_MAX + 1][16];
	struct name_sets sets;
	(void)state;

	assert_int_equal(name_sets_init(&sets), 0);
	for (int i = 0; i <= NAME_SETS_MAX; i++) {
		snprintf(lists[i], sizeof(lists[i]), "n%d", i);
		assert_int_equal(name_sets_add(&sets, lists[i], ' '),
				 i < NAME_SETS_MAX ? i : -ENOSPC);
	}
	assert_true(name_bits_have(name_sets_of(&sets, "n127"), 127));
	name_sets_done(&sets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_in_a_set_if_it_is_listed),
		cmocka_unit_test(equal_lists_are_one_set),
		cmocka_unit_test(a_separator_other_than_a_space_permits_spaces_in_names),
		cmocka_unit_test(names_of_any_length_are_looked_up),
		cmocka_unit_test(there_is_a_limit_of_sets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

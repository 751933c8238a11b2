/* SPDX-License-Identifier: Apache-2.0 */
#include "top/tally.h"

#include "stacks.h"
#include "torture.h"
#include "unit.h"

#include "base/cleanup.h"

static const struct stack_line lines[] = {
	{ "cart", "main;hash", 30 },
	{ "cart", "main;read;entry_[k];vfs_read_[k]", 20 },
	{ "shop", "main;hash", 5 },
	{ "cart", "main;asm_common_interrupt_[k];nvme_irq_[k]", 2 },
	{ "cart", "main;asm_common_interrupt_[k];handle_softirqs_[k]", 3 },
	{ "", "main", 1 },
};

static void samples_are_summed_by_row_and_side(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	_cleanup_(tally_done) struct tally tally = { 0 };
	(void)state;

	assert_int_equal(tally_init(&tally, profile, BY_COMM), 0);
	assert_int_equal(tally.nr_rows, 3);
	assert_int_equal(tally.total, 61);
	const struct tally_row *cart = &tally.rows[0];
	assert_string_equal(cart->name, "cart");
	assert_int_equal(cart->total, 55);
	assert_int_equal(cart->sides[CPU_APPLICATION], 30);
	assert_int_equal(cart->sides[CPU_KERNEL], 20);
	assert_int_equal(cart->sides[CPU_IRQ], 2);
	assert_int_equal(cart->sides[CPU_SOFTIRQ], 3);
	assert_int_equal(cart->nr_processes, 4); /* each line has a pid of its own */
	assert_int_equal(cart->nr_samples, 4);
	assert_string_equal(tally.rows[2].name, "[unnamed]");
	assert_true(tally_cpus(&tally, 50) > 0.499 && tally_cpus(&tally, 50) < 0.501);
}

static void the_samples_of_a_row_stand_together(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	_cleanup_(tally_done) struct tally tally = { 0 };
	(void)state;

	assert_int_equal(tally_init(&tally, profile, BY_COMM), 0);
	for (size_t row = 0; row < tally.nr_rows; row++) {
		uint64_t sum = 0;

		for (size_t i = 0; i < tally.rows[row].nr_samples; i++)
			sum += profile->samples[tally.order[tally.rows[row].first + i]].count;
		assert_int_equal(sum, tally.rows[row].total);
	}
}

static void an_empty_profile_has_no_rows(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(NULL, 0);
	_cleanup_(tally_done) struct tally tally = { 0 };
	(void)state;

	assert_int_equal(tally_init(&tally, profile, BY_APPLICATION), 0);
	assert_int_equal(tally.nr_rows, 0);
	assert_int_equal(tally.total, 0);
}

static void a_lack_of_memory_is_an_error(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	bool has_failed = true;
	(void)state;

	for (unsigned int n = 1; has_failed; n++) {
		_cleanup_(tally_done) struct tally tally = { 0 };

		torture_begin(n);
		int r = tally_init(&tally, profile, BY_COMM);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
		assert_int_equal(tally.nr_rows, has_failed ? 0 : 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_summed_by_row_and_side),
		cmocka_unit_test(the_samples_of_a_row_stand_together),
		cmocka_unit_test(an_empty_profile_has_no_rows),
		cmocka_unit_test(a_lack_of_memory_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

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

static const struct wait_line waits[] = {
	{ "db", "main;write;sync_[k]", REASON_DISK, 500000000 },
	{ "db", "main;poll", REASON_POLL, 900000000 },
	{ "idle", "main;poll", REASON_POLL, 900000000 },
	{ "cart", "main;pthread_mutex_lock", REASON_FUTEX, 250000000 },
	{ "cart", "main;next_job", REASON_FUTEX, 100000000 },
	{ "cart", "main;hash", REASON_PREEMPTED, 50000000 },
	{ "db", "main;read", REASON_DISK, 3600000000000 }, /* it began long before */
};

static void waits_are_summed_by_row_and_class(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	_cleanup_(profile_unrefp) struct profile *off = profile_of_waits(waits, array_len(waits));
	_cleanup_(tally_done) struct tally tally = { 0 };
	enum wait_reason reasons[REASON_NR];
	(void)state;

	assert_int_equal(tally_init(&tally, profile, BY_COMM), 0);
	assert_int_equal(tally_add_waits(&tally, off), 0);
	assert_int_equal(tally.nr_rows, 4); /* none of "idle" */
	const struct tally_row *cart = &tally.rows[0], *db = &tally.rows[3];
	assert_string_equal(db->name, "db");
	assert_int_equal(db->total, 0);
	assert_int_equal(db->waits[WAIT_DISK], 1500000000); /* a second of the hour */
	assert_int_equal(db->waits[WAIT_REST], 900000000);
	assert_int_equal(tally_blocked_ns(db->waits), 1500000000);
	assert_int_equal(cart->waits[WAIT_LOCK], 250000000);
	assert_int_equal(cart->waits[WAIT_CPU], 50000000);
	assert_int_equal(cart->total, 55);
	assert_int_equal(tally_row_reasons(cart, reasons), 2);
	assert_int_equal(reasons[0], REASON_FUTEX);
	assert_int_equal(cart->reasons[REASON_FUTEX], 350000000);
	assert_int_equal(tally.wait_sums[WAIT_REST], 1900000000);
	assert_true(tally_threads(&tally, 250000000) > 0.249 &&
		    tally_threads(&tally, 250000000) < 0.251);
	const struct tally_part part = tally_waits(&tally, db);
	assert_int_equal(part.nr, 3);
	assert_int_equal(part.profile->samples[part.samples[1]].reason, REASON_POLL);
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
	_cleanup_(profile_unrefp) struct profile *off = profile_of_waits(waits, array_len(waits));
	bool has_failed = true;
	(void)state;

	for (unsigned int n = 1; has_failed; n++) {
		_cleanup_(tally_done) struct tally tally = { 0 };

		torture_begin(n);
		int r = tally_init(&tally, profile, BY_COMM);
		if (r == 0)
			r = tally_add_waits(&tally, off);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_summed_by_row_and_side),
		cmocka_unit_test(the_samples_of_a_row_stand_together),
		cmocka_unit_test(waits_are_summed_by_row_and_class),
		cmocka_unit_test(an_empty_profile_has_no_rows),
		cmocka_unit_test(a_lack_of_memory_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

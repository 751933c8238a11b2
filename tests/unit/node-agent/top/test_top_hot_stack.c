/* SPDX-License-Identifier: Apache-2.0 */
#include "top/hot_stack.h"

#include "stacks.h"
#include "torture.h"
#include "unit.h"

#include "base/cleanup.h"
#include "base/strbuf.h"

#include <inttypes.h>

#define TEXT_MAX_BYTES 4096

/* "side count: leaf < caller < caller", of samples that are one row. */
static void put_hottest(const struct stack_line *lines, size_t nr, bool hides_kernel,
			struct strbuf *out)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines, nr);
	_cleanup_(tally_done) struct tally tally = { 0 };
	struct hot_stack stack;

	assert_int_equal(tally_init(&tally, profile, BY_COMM), 0);
	assert_int_equal(tally.nr_rows, 1);
	assert_int_equal(hot_stack_find(&tally, &tally.rows[0], hides_kernel, &stack), 0);
	strbuf_appendf(out, "%s %" PRIu64 ":", cpu_side_name(stack.side), stack.count);
	for (size_t i = 0; i < stack.nr_frames; i++)
		strbuf_appendf(out, "%s %s", i > 0 ? " <" : "", stack.frames[i].name);
}

static void assert_hottest(const struct stack_line *lines, size_t nr, bool hides_kernel,
			   const char *expected)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(TEXT_MAX_BYTES);

	put_hottest(lines, nr, hides_kernel, &out);
	assert_string_equal(strbuf_str(&out), expected);
}

static void the_path_is_as_deep_as_most_samples_share_it(void **state)
{
	static const struct stack_line lines[] = {
		{ "a", "main;serve;lookup;hash", 40 },
		{ "a", "main;serve;lookup;compare", 30 },
		{ "a", "main;serve;render", 26 },
		{ "a", "main;idle", 4 },
	};
	(void)state;

	assert_hottest(lines, array_len(lines), false, "application 70: lookup < serve < main");
}

static void a_leaf_with_most_samples_is_its_end(void **state)
{
	static const struct stack_line lines[] = {
		{ "a", "main;serve;hash", 60 },
		{ "a", "main;serve", 30 },
		{ "a", "main;hash", 9 },
	};
	(void)state;

	assert_hottest(lines, array_len(lines), false, "application 60: hash < serve < main");
}

static void half_of_the_samples_is_not_most(void **state)
{
	static const struct stack_line lines[] = {
		{ "a", "main;serve;one", 5 },
		{ "a", "main;serve;two", 5 },
	};
	(void)state;

	assert_hottest(lines, array_len(lines), false, "application 10: serve < main");
}

static void start_up_functions_are_no_end(void **state)
{
	static const struct stack_line lines[] = {
		{ "a", "_start;__libc_start_main_impl;main;parse;token", 40 },
		{ "a", "_start;__libc_start_main_impl;main;check", 35 },
		{ "a", "_start;__libc_start_main_impl;main;write", 25 },
	};
	static const struct stack_line bare = { "a", "_start;main", 5 };
	(void)state;

	assert_hottest(lines, array_len(lines), false,
		       "application 40: token < parse < main < __libc_start_main_impl < _start");
	assert_hottest(&bare, 1, false, "application 5: main < _start");
}

static void the_heaviest_kind_of_thread_counts(void **state)
{
	static const struct stack_line lines[] = {
		{ "a", "start_thread;collect;mark", 30 },
		{ "a", "clone;worker;job", 36 },
		{ "a", "main;poll", 34 },
	};
	(void)state;

	assert_hottest(lines, array_len(lines), false, "application 36: job < worker < clone");
}

static void a_recursion_is_one_frame(void **state)
{
	static const struct stack_line lines[] = {
		{ "a", "main;walk;walk;walk;visit", 4 },
		{ "a", "main;walk;walk;visit", 1 },
	};
	(void)state;

	assert_hottest(lines, array_len(lines), false, "application 4: visit < walk < main");
}

static void inlined_functions_are_frames(void **state)
{
	static const struct stack_line lines[] = { { "a", "main;outer;inner_[i];more_[i]", 4 } };
	(void)state;

	assert_hottest(lines, 1, false, "application 4: more < inner < outer < main");
}

static void it_is_of_the_side_where_most_of_its_time_was_spent(void **state)
{
	static const struct stack_line kernel[] = {
		{ "a", "main;load;entry_[k];read_[k]", 3 },
		{ "a", "main;load;entry_[k];stat_[k]", 3 },
		{ "a", "main;load", 1 },
	};
	static const struct stack_line softirq[] = {
		{ "a", "main;asm_common_interrupt_[k];handle_softirqs_[k];copy_[k]", 4 },
		{ "a", "main;copy", 2 },
	};
	(void)state;

	assert_hottest(kernel, array_len(kernel), false, "kernel 6: entry < load < main");
	assert_hottest(softirq, array_len(softirq), false,
		       "softirq 4: copy < handle_softirqs < asm_common_interrupt < main");
}

static void without_the_kernel_stacks_end_in_the_application(void **state)
{
	static const struct stack_line lines[] = {
		{ "a", "main;load;entry_[k];copy_[k]", 3 },
		{ "a", "main;load;asm_exc_page_fault_[k];clear_[k]", 3 },
		{ "a", "main;hash", 5 },
		{ "a", "kthread_[k];work_[k]", 50 },
	};
	(void)state;

	assert_hottest(lines, array_len(lines), true, "kernel 6: load < main");
}

static void why_a_stack_ends_early_is_no_frame(void **state)
{
	static const struct stack_line known[] = {
		{ "a", "[too deep];hash", 3 },
		{ "a", "[no frame pointer];hash", 3 },
	};
	static const struct stack_line unknown[] = { { "a", "[no frame pointer]", 3 } };
	(void)state;

	assert_hottest(known, array_len(known), false, "application 6: hash");
	assert_hottest(unknown, 1, false, "application 3: [no frame pointer]");
}

static void a_row_without_stacks_has_no_hottest(void **state)
{
	static const struct stack_line lines[] = { { "a", "", 3 } };
	static const struct stack_line kernel_only[] = { { "a", "kthread_[k]", 3 } };
	(void)state;

	assert_hottest(lines, 1, false, "application 0:");
	assert_hottest(kernel_only, 1, true, "kernel 0:");
}

static void of_a_deep_stack_the_outermost_frames_are_omitted(void **state)
{
	_cleanup_(strbuf_done) struct strbuf frames = strbuf_with_max(TEXT_MAX_BYTES);
	struct stack_line line = { .comm = "a", .count = 1 };
	_cleanup_(tally_done) struct tally tally = { 0 };
	struct hot_stack stack;
	(void)state;

	for (int i = 0; i < 100; i++)
		strbuf_appendf(&frames, "%sf%d", i > 0 ? ";" : "", i);
	line.frames = strbuf_str(&frames);
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(&line, 1);
	assert_int_equal(tally_init(&tally, profile, BY_COMM), 0);
	assert_int_equal(hot_stack_find(&tally, &tally.rows[0], false, &stack), 0);
	assert_int_equal(stack.nr_frames, HOT_FRAMES_MAX);
	assert_string_equal(stack.frames[0].name, "f99");
}

static void the_hottest_wait_is_one_of_work_that_is_blocked(void **state)
{
	static const struct wait_line waits[] = {
		{ "a", "main;poll;do_epoll_wait_[k]", REASON_POLL, 900 },
		{ "a", "main;recv;sk_wait_data_[k]", REASON_NETWORK, 800 },
		{ "a", "main;save;fsync;io_schedule_[k]", REASON_DISK, 70 },
		{ "a", "main;save;write;rwsem_[k]", REASON_KERNEL_LOCK, 30 },
		{ "b", "main;spin;irqentry_exit_[k]", REASON_PREEMPTED, 5 },
		{ "b", "main;recv;sk_wait_data_[k]", REASON_NETWORK, 800 },
		{ "c", "main;recv;sk_wait_data_[k]", REASON_NETWORK, 800 },
		{ "d", "kthread_[k];jbd2_[k]", REASON_DISK, 9 },
	};
	static const struct {
		const char *leaf;
		enum wait_reason reason;
		uint64_t count, whole;
	} expected[] = {
		{ "fsync", REASON_DISK, 70, 100 },
		{ "spin", REASON_PREEMPTED, 5, 5 },
		{ "recv", REASON_NETWORK, 800, 800 },
		{ "jbd2", REASON_DISK, 9, 9 }, /* there is nothing but the kernel */
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(NULL, 0);
	_cleanup_(profile_unrefp) struct profile *off = profile_of_waits(waits, array_len(waits));
	_cleanup_(tally_done) struct tally tally = { 0 };
	struct hot_stack stack;
	(void)state;

	assert_int_equal(tally_init(&tally, profile, BY_COMM), 0);
	assert_int_equal(tally_add_waits(&tally, off), 0);
	for (size_t i = 0; i < array_len(expected); i++) {
		assert_int_equal(hot_stack_find_wait(&tally, &tally.rows[i], &stack), 0);
		assert_string_equal(stack.frames[0].name, expected[i].leaf);
		assert_int_equal(stack.reason, expected[i].reason);
		assert_int_equal(stack.count, expected[i].count);
		assert_int_equal(stack.whole, expected[i].whole);
	}
}

static void a_lack_of_memory_is_an_error(void **state)
{
	static const struct stack_line lines[] = { { "a", "main", 1 } };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines, 1);
	_cleanup_(tally_done) struct tally tally = { 0 };
	struct hot_stack stack = { .count = 99 };
	(void)state;

	assert_int_equal(tally_init(&tally, profile, BY_COMM), 0);
	torture_begin(1);
	assert_int_equal(hot_stack_find(&tally, &tally.rows[0], false, &stack), -ENOMEM);
	assert_true(torture_end());
	assert_int_equal(stack.count, 99);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_path_is_as_deep_as_most_samples_share_it),
		cmocka_unit_test(a_leaf_with_most_samples_is_its_end),
		cmocka_unit_test(half_of_the_samples_is_not_most),
		cmocka_unit_test(start_up_functions_are_no_end),
		cmocka_unit_test(the_heaviest_kind_of_thread_counts),
		cmocka_unit_test(a_recursion_is_one_frame),
		cmocka_unit_test(inlined_functions_are_frames),
		cmocka_unit_test(it_is_of_the_side_where_most_of_its_time_was_spent),
		cmocka_unit_test(without_the_kernel_stacks_end_in_the_application),
		cmocka_unit_test(why_a_stack_ends_early_is_no_frame),
		cmocka_unit_test(a_row_without_stacks_has_no_hottest),
		cmocka_unit_test(of_a_deep_stack_the_outermost_frames_are_omitted),
		cmocka_unit_test(the_hottest_wait_is_one_of_work_that_is_blocked),
		cmocka_unit_test(a_lack_of_memory_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

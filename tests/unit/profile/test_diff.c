/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/diff.h"

#include "stacks.h"
#include "torture.h"
#include "unit.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strbuf.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define PLENTY 1000
#define TOLERANCE 1e-9

static void assert_near(double value, double expected)
{
	if (fabs(value - expected) > TOLERANCE)
		fail_msg("%g instead of %g", value, expected);
}

/* Two profiles and their diff. */
struct pair {
	struct profile *before, *after; /* owned */
	struct diff diff;
};

static struct pair pair_of(const struct stack_line *before, size_t nr_before,
			   const struct stack_line *after, size_t nr_after)
{
	return (struct pair){ .before = profile_of_stacks(before, nr_before),
			      .after = profile_of_stacks(after, nr_after) };
}

static void pair_done(struct pair *pair)
{
	diff_done(&pair->diff);
	profile_unref(pair->before);
	profile_unref(pair->after);
}

static void pair_compare(struct pair *pair, bool is_absolute)
{
	diff_done(&pair->diff);
	assert_int_equal(diff_init(&pair->diff, pair->before, pair->after, is_absolute, PLENTY), 0);
}

/* One function with that many samples, of all of the profile's. */
static struct stack_line *part(const char *name, uint32_t count, uint32_t total,
			       struct stack_line lines[static 2])
{
	lines[0] = (struct stack_line){ "sh", name, count };
	lines[1] = (struct stack_line){ "sh", "rest", total - count };
	return lines;
}

/* The tree as text: "name before>after" a node, children in brackets. */
static void put_tree(struct strbuf *out, const struct flame_tree *tree, uint32_t node)
{
	const struct flame_node *n = &tree->nodes[node];
	uint64_t start = n->start;

	strbuf_appendf(out, "%s %" PRIu64 ">%" PRIu64, n->name, n->before, n->count);
	if (!n->first_child)
		return;
	strbuf_append_char(out, '(');
	for (uint32_t i = n->first_child; i; i = tree->nodes[i].next_sibling) {
		assert_int_equal(tree->nodes[i].parent, node);
		assert_int_equal(tree->nodes[i].depth, n->depth + 1);
		assert_int_equal(tree->nodes[i].start, start);
		start += tree->nodes[i].count;
		put_tree(out, tree, i);
		strbuf_append_str(out, tree->nodes[i].next_sibling ? ", " : "");
	}
	strbuf_append_char(out, ')');
}

static void assert_tree(struct pair pair, const char *expected)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(4096);

	pair_compare(&pair, false);
	put_tree(&out, &pair.diff.tree, 0);
	assert_string_equal(strbuf_str(&out), expected);
	assert_int_equal(flame_tree_count(&pair.diff.tree, 0), pair.diff.tree.nr_nodes);
	pair_done(&pair);
}

static void equal_stacks_share_nodes_and_others_stand_side_by_side(void **state)
{
	(void)state;
	const struct stack_line before[] = { { "a", "main;parse", 20 },
					     { "a", "main;zlib", 10 },
					     { "gone", "x", 3 } };
	const struct stack_line after[] = { { "a", "main;brotli", 70 },
					    { "a", "main;parse", 20 },
					    { "new", "y", 4 } };

	assert_tree(pair_of(before, 3, after, 3),
		    "all 33>94(a 30>90(main 30>90(brotli 0>70, parse 20>20, zlib 10>0)), "
		    "gone 3>0(x 3>0), new 0>4(y 0>4))");
}

/* The strings of the two profiles have different numbers. */
static void names_are_compared_not_their_numbers(void **state)
{
	(void)state;
	const struct stack_line before[] = { { "a", "x;y", 1 } };
	const struct stack_line after[] = { { "a", "y;x", 2 }, { "a", "x;y", 4 } };

	assert_tree(pair_of(before, 1, after, 2), "all 1>6(a 1>6(x 1>4(y 1>4), y 0>2(x 0>2)))");
}

static void kinds_and_inlined_functions_are_apart(void **state)
{
	(void)state;
	const struct stack_line before[] = { { "a", "main;f_[k]", 1 }, { "a", "main;f_[i]", 2 } };
	const struct stack_line after[] = { { "a", "main;f", 4 }, { "a", "main;f_[i]", 8 } };

	assert_tree(pair_of(before, 2, after, 2),
		    "all 3>12(a 3>12(main 3>12(f 0>4, f 2>8, f 1>0)))");
}

static void an_empty_side_is_all_new_or_all_gone(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "a", "x", 5 } };

	assert_tree(pair_of(NULL, 0, lines, 1), "all 0>5(a 0>5(x 0>5))");
	assert_tree(pair_of(lines, 1, NULL, 0), "all 5>0(a 5>0(x 5>0))");
	assert_tree(pair_of(NULL, 0, NULL, 0), "all 0>0");
}

static void an_empty_side_gives_no_odd_numbers(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "a", "x", 5 } };
	struct pair pairs[] = { pair_of(NULL, 0, lines, 1), pair_of(lines, 1, NULL, 0),
				pair_of(NULL, 0, NULL, 0) };

	for (size_t i = 0; i < array_len(pairs); i++) {
		pair_compare(&pairs[i], i == 1);
		for (uint32_t node = 0; node < pairs[i].diff.tree.nr_nodes; node++) {
			struct diff_pair counts = diff_node(&pairs[i].diff, node);

			assert_true(isfinite(diff_change(&pairs[i].diff, counts)));
			assert_true(isfinite(diff_noise(&pairs[i].diff, counts)));
			assert_true(isfinite(diff_relative(&pairs[i].diff, counts)));
			assert_true(isfinite(diff_points(&pairs[i].diff, counts)));
		}
		pair_done(&pairs[i]);
	}
}

/* Shares of nothing are no measure: all of the other side would be unchanged. */
static void an_empty_side_is_compared_by_amounts(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "a", "x", 50 } };
	struct pair pairs[] = { pair_of(NULL, 0, lines, 1), pair_of(lines, 1, NULL, 0) };
	static const double relative[] = { 1, -1 };

	for (size_t i = 0; i < array_len(pairs); i++) {
		pair_compare(&pairs[i], false);
		struct diff_pair totals = diff_totals(&pairs[i].diff);

		assert_int_not_equal(pairs[i].diff.measure, DIFF_SHARES);
		assert_near(diff_relative(&pairs[i].diff, totals), relative[i]);
		assert_false(diff_is_noise(&pairs[i].diff, totals));
		pair_done(&pairs[i]);
	}
}

/* Ten times as long, and nothing has changed. */
static void shares_do_not_depend_on_the_number_of_samples(void **state)
{
	(void)state;
	struct stack_line before[2], after[2];
	struct pair pair = pair_of(part("f", 300, 1000, before), 2, part("f", 30, 100, after), 2);

	pair_compare(&pair, false);
	assert_int_equal(pair.diff.measure, DIFF_SHARES);
	assert_near(diff_change(&pair.diff, (struct diff_pair){ 300, 30 }), 0);
	assert_near(diff_points(&pair.diff, (struct diff_pair){ 300, 60 }), 30);
	assert_near(diff_relative(&pair.diff, (struct diff_pair){ 300, 60 }), 0.5);
	assert_near(diff_relative(&pair.diff, (struct diff_pair){ 300, 15 }), -0.5);
	pair_done(&pair);
}

/* 100 Hz for 10 s, then 50 Hz for 2 s. */
static void rates_depend_on_time_and_frequency(void **state)
{
	(void)state;
	const struct stack_line before[] = { { "a", "x", 1000 } }, after[] = { { "a", "x", 200 } };
	struct pair pair = pair_of(before, 1, after, 1);

	pair.before->duration_ns = 10 * NSEC_PER_SEC;
	pair.before->period = NSEC_PER_SEC / 100;
	pair.after->duration_ns = 2 * NSEC_PER_SEC;
	pair.after->period = NSEC_PER_SEC / 50;
	pair_compare(&pair, true);
	assert_int_equal(pair.diff.measure, DIFF_RATES);
	/* 1 CPU before, 2 after */
	assert_near(diff_change(&pair.diff, diff_totals(&pair.diff)), 100);
	assert_near(diff_cpus_per_count(pair.before) * 1000, 1);
	assert_near(diff_cpus_per_count(pair.after) * 200, 2);
	pair_done(&pair);
}

static void without_a_duration_sums_are_compared(void **state)
{
	(void)state;
	static const struct {
		uint64_t period_before, period_after;
		double scale;
	} cases[] = { { 10, 20, 0.5 }, { 0, 20, 1 }, { 10, 0, 1 }, { 0, 0, 1 } };
	const struct stack_line line = { "a", "x", 100 };

	for (size_t i = 0; i < array_len(cases); i++) {
		struct pair pair = pair_of(&line, 1, &line, 1);

		pair.before->duration_ns = 0;
		pair.before->period = cases[i].period_before;
		pair.after->period = cases[i].period_after;
		pair_compare(&pair, true);
		assert_int_equal(pair.diff.measure, DIFF_SUMS);
		assert_near(pair.diff.scale, cases[i].scale);
		assert_near(diff_cpus_per_count(pair.before), 0);
		pair_done(&pair);
	}
}

/* Whether n samples of the same number of all are more than chance. */
static void few_samples_are_noise_and_many_are_not(void **state)
{
	(void)state;
	static const struct {
		uint32_t before, after, total;
		bool is_noise;
	} cases[] = {
		{ 0, 0, 1000, true },	    { 0, 1, 1000, true },	{ 1, 3, 1000, true },
		{ 0, 3, 1000, true },	    { 0, 6, 1000, false },	{ 6, 0, 1000, false },
		{ 500, 520, 1000, true },   { 500, 580, 1000, false },	{ 480, 520, 10000, true },
		{ 400, 520, 10000, false }, { 1000, 1000, 1000, true },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		struct stack_line before[2], after[2];
		struct pair pair = pair_of(part("f", cases[i].before, cases[i].total, before), 2,
					   part("f", cases[i].after, cases[i].total, after), 2);

		pair_compare(&pair, false);
		assert_int_equal(diff_is_noise(&pair.diff, (struct diff_pair){ cases[i].before,
									       cases[i].after }),
				 cases[i].is_noise);
		pair_done(&pair);
	}
}

/* Two seconds of 100 samples against a minute: one sample of the minute was to be expected there
 * thirty times less. */
static void the_noise_is_that_of_the_smaller_side(void **state)
{
	(void)state;
	struct stack_line before[2], after[2];
	struct pair pair = pair_of(part("f", 30, 3000, before), 2, part("f", 0, 100, after), 2);

	pair_compare(&pair, false);
	assert_true(diff_is_noise(&pair.diff, (struct diff_pair){ 30, 0 }));
	assert_true(diff_is_noise(&pair.diff, (struct diff_pair){ 30, 3 }));
	assert_false(diff_is_noise(&pair.diff, (struct diff_pair){ 30, 10 }));
	pair_done(&pair);
}

/* The worst second has a twelfth of the samples of what was before it, or fewer. */
static void one_or_two_samples_are_noise_on_sides_of_any_length(void **state)
{
	(void)state;
	static const uint32_t totals[][2] = {
		{ 1000, 1000 }, { 1458, 121 }, { 121, 1458 }, { 2246, 187 }, { 100000, 100 },
	};

	for (size_t i = 0; i < array_len(totals); i++) {
		struct stack_line before[2], after[2];
		struct pair pair = pair_of(part("f", 2, totals[i][0], before), 2,
					   part("f", 2, totals[i][1], after), 2);

		pair_compare(&pair, false);
		for (uint64_t n = 1; n <= 2; n++) {
			assert_true(diff_is_noise(&pair.diff, (struct diff_pair){ 0, n }));
			assert_true(diff_is_noise(&pair.diff, (struct diff_pair){ n, 0 }));
		}
		pair_done(&pair);
	}
}

/* From 1 to 5 %. */
static void a_real_change_is_seen_in_two_hundred_samples(void **state)
{
	(void)state;
	static const uint32_t totals[][2] = { { 200, 200 }, { 2400, 200 }, { 200, 2400 } };

	for (size_t i = 0; i < array_len(totals); i++) {
		uint32_t few = totals[i][0] / 100, many = totals[i][1] / 20;
		struct stack_line before[2], after[2];
		struct pair pair = pair_of(part("f", few, totals[i][0], before), 2,
					   part("f", many, totals[i][1], after), 2);

		pair_compare(&pair, false);
		assert_false(diff_is_noise(&pair.diff, (struct diff_pair){ few, many }));
		pair_done(&pair);
	}
}

/* Returns the probability that chance alone makes a change of n samples. Each of them is on the
 * side of after with the same probability. */
static double false_changes(const struct diff *diff, unsigned int n)
{
	double log_after = log(diff->scale / (1 + diff->scale));
	double log_before = log(1 / (1 + diff->scale)), sum = 0;

	for (unsigned int k = 0; k <= n; k++) {
		double ways = lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0);

		if (!diff_is_noise(diff, (struct diff_pair){ n - k, k }))
			sum += exp(ways + k * log_after + (n - k) * log_before);
	}
	return sum;
}

static void at_most_one_in_twenty_changes_by_chance(void **state)
{
	(void)state;
	static const uint32_t totals[][2] = {
		{ 1000000, 1000000 },
		{ 1200000, 100000 },
		{ 100000, 1200000 },
		{ 2000000, 20000 },
	};

	for (size_t i = 0; i < array_len(totals); i++) {
		struct stack_line before[2], after[2];
		struct pair pair = pair_of(part("f", 1, totals[i][0], before), 2,
					   part("f", 1, totals[i][1], after), 2);

		pair_compare(&pair, false);
		for (unsigned int n = 1; n <= 500; n++)
			if (false_changes(&pair.diff, n) > 0.05)
				fail_msg("%g of %u samples", false_changes(&pair.diff, n), n);
		pair_done(&pair);
	}
}

/* 1. / 49 * 49 is not 1. */
static void the_totals_of_equal_shares_do_not_change_by_rounding(void **state)
{
	(void)state;
	const struct stack_line before = { "a", "x", 49 }, after = { "a", "x", 1 };
	struct pair pair = pair_of(&before, 1, &after, 1);

	pair.before->type = PROFILE_INUSE_SPACE;
	pair.after->type = PROFILE_INUSE_SPACE;
	pair_compare(&pair, false);
	assert_true(diff_is_noise(&pair.diff, diff_totals(&pair.diff)));
	assert_near(diff_relative(&pair.diff, diff_totals(&pair.diff)), 0);
	pair_done(&pair);
}

static void bytes_have_no_noise(void **state)
{
	(void)state;
	struct stack_line before[2], after[2];
	struct pair pair = pair_of(part("f", 1, 1000, before), 2, part("f", 2, 1000, after), 2);

	pair.before->type = PROFILE_INUSE_SPACE;
	pair.after->type = PROFILE_INUSE_SPACE;
	pair_compare(&pair, false);
	assert_false(diff_is_noise(&pair.diff, (struct diff_pair){ 1, 2 }));
	pair_done(&pair);
}

/* A file of the same program may lack its language. */
static void languages_are_not_compared(void **state)
{
	(void)state;
	const struct stack_line before[] = { { "a", "main;f_[g];g_[j]", 1 } };
	const struct stack_line after[] = { { "a", "main_[r];f;g_[p]", 2 } };

	assert_tree(pair_of(before, 1, after, 1), "all 1>2(a 1>2(main 1>2(f 1>2(g 1>2))))");
}

/* A stack that the limit truncates is still counted where it ends. */
static void totals_stay_exact_beyond_the_limit(void **state)
{
	(void)state;
	const struct stack_line before[] = { { "a", "f;g;h", 5 } }, after[] = { { "a", "f;x", 7 } };
	struct pair pair = pair_of(before, 1, after, 1);

	assert_int_equal(diff_init(&pair.diff, pair.before, pair.after, false, 3), 0);
	assert_int_equal(diff_totals(&pair.diff).before, 5);
	assert_int_equal(diff_totals(&pair.diff).after, 7);
	assert_int_equal(pair.diff.tree.nr_cut, 12);
	pair_done(&pair);
}

static void a_node_knows_whose_function_it_has(void **state)
{
	(void)state;
	const struct stack_line before[] = { { "a", "gone", 5 }, { "a", "kept", 1 } };
	const struct stack_line after[] = { { "a", "kept", 7 } };
	struct pair pair = pair_of(before, 2, after, 1);

	pair_compare(&pair, false);
	for (uint32_t i = 0; i < pair.diff.tree.nr_nodes; i++)
		assert_ptr_equal(diff_profile_of(&pair.diff, i),
				 strcmp(pair.diff.tree.nodes[i].name, "gone") == 0 ? pair.before
										   : pair.after);
	pair_done(&pair);
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	const struct stack_line before[] = { { "a", "f;g;h", 5 } }, after[] = { { "a", "f;x", 7 } };
	struct pair pair = pair_of(before, 1, after, 1);
	bool has_failed = true;

	for (unsigned int n = 1; has_failed; n++) {
		torture_begin(n);
		int r = diff_init(&pair.diff, pair.before, pair.after, false, PLENTY);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
	}
	pair_done(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks_share_nodes_and_others_stand_side_by_side),
		cmocka_unit_test(names_are_compared_not_their_numbers),
		cmocka_unit_test(kinds_and_inlined_functions_are_apart),
		cmocka_unit_test(an_empty_side_is_all_new_or_all_gone),
		cmocka_unit_test(an_empty_side_gives_no_odd_numbers),
		cmocka_unit_test(an_empty_side_is_compared_by_amounts),
		cmocka_unit_test(shares_do_not_depend_on_the_number_of_samples),
		cmocka_unit_test(rates_depend_on_time_and_frequency),
		cmocka_unit_test(without_a_duration_sums_are_compared),
		cmocka_unit_test(few_samples_are_noise_and_many_are_not),
		cmocka_unit_test(the_noise_is_that_of_the_smaller_side),
		cmocka_unit_test(one_or_two_samples_are_noise_on_sides_of_any_length),
		cmocka_unit_test(a_real_change_is_seen_in_two_hundred_samples),
		cmocka_unit_test(at_most_one_in_twenty_changes_by_chance),
		cmocka_unit_test(the_totals_of_equal_shares_do_not_change_by_rounding),
		cmocka_unit_test(bytes_have_no_noise),
		cmocka_unit_test(languages_are_not_compared),
		cmocka_unit_test(totals_stay_exact_beyond_the_limit),
		cmocka_unit_test(a_node_knows_whose_function_it_has),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/flame_tree.h"

#include "stacks.h"
#include "torture.h"
#include "unit.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "profile/builder.h"

#include <inttypes.h>
#include <string.h>

#define PLENTY 1000
#define PLENTY_BYTES (1 << 20)

/* The tree as text: "name start+count" a node, children in brackets. */
static void put_tree(struct strbuf *out, const struct flame_tree *tree, uint32_t node)
{
	const struct flame_node *n = &tree->nodes[node];

	strbuf_appendf(out, "%s %" PRIu64 "+%" PRIu64, n->name, n->start, n->count);
	if (!n->first_child)
		return;
	strbuf_append_char(out, '(');
	for (uint32_t i = n->first_child; i; i = tree->nodes[i].next_sibling) {
		assert_int_equal(tree->nodes[i].parent, node);
		assert_int_equal(tree->nodes[i].depth, n->depth + 1);
		put_tree(out, tree, i);
		strbuf_append_str(out, tree->nodes[i].next_sibling ? ", " : "");
	}
	strbuf_append_char(out, ')');
}

static void assert_tree(const struct stack_line *lines, size_t nr, const char *expected)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines, nr);
	_cleanup_(flame_tree_done) struct flame_tree tree = { 0 };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(4096);

	assert_int_equal(flame_tree_init(&tree, profile, PLENTY), 0);
	put_tree(&out, &tree, 0);
	assert_string_equal(strbuf_str(&out), expected);
	assert_int_equal(tree.nr_cut, 0);
}

static void an_empty_profile_is_a_root(void **state)
{
	(void)state;
	assert_tree(NULL, 0, "all 0+0");
}

static void equal_beginnings_share_nodes(void **state)
{
	(void)state;
	const struct stack_line lines[] = {
		{ "sh", "main;run", 3 },
		{ "sh", "main;run;read", 4 },
		{ "sh", "main;exit", 1 },
	};

	assert_tree(lines, array_len(lines),
		    "all 0+8(sh 0+8(main 0+8(exit 0+1, run 1+7(read 1+4))))");
}

static void processes_and_children_are_sorted_by_name(void **state)
{
	(void)state;
	const struct stack_line lines[] = {
		{ "b", "z", 1 },
		{ "a", "m", 2 },
		{ "b", "c", 3 },
		{ "b", "d", 4 },
	};

	assert_tree(lines, array_len(lines), "all 0+10(a 0+2(m 0+2), b 2+8(c 2+3, d 5+4, z 9+1))");
}

static void a_kernel_function_is_not_the_user_s_of_that_name(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "sh", "read_[k]", 1 }, { "sh", "read", 2 } };

	assert_tree(lines, array_len(lines), "all 0+3(sh 0+3(read 0+2, read 2+1))");
}

static void a_function_of_one_language_is_not_another_one_s(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "sh", "main_[r]", 1 },
					    { "sh", "main_[g]", 2 },
					    { "sh", "main_[g]", 4 } };

	assert_tree(lines, array_len(lines), "all 0+7(sh 0+7(main 0+6, main 6+1))");
}

static void inlined_functions_are_nodes_apart_from_those_called(void **state)
{
	(void)state;
	const struct stack_line lines[] = {
		{ "sh", "main;fill_[i];push_[i]", 1 },
		{ "sh", "main;fill_[i]", 2 },
		{ "sh", "main;fill", 4 },
		{ "sh", "main;fill;grow", 8 },
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	_cleanup_(flame_tree_done) struct flame_tree tree = { 0 };

	assert_tree(lines, array_len(lines),
		    "all 0+15(sh 0+15(main 0+15(fill 0+12(grow 0+8), fill 12+3(push 12+1))))");
	assert_int_equal(flame_tree_init(&tree, profile, PLENTY), 0);
	for (size_t i = 0; i < tree.nr_nodes; i++)
		assert_int_equal(tree.nodes[i].is_inlined,
				 strcmp(tree.nodes[i].name, "push") == 0 ||
					 (strcmp(tree.nodes[i].name, "fill") == 0 &&
					  tree.nodes[i].count == 3));
}

/* A sample of a function main, with or without its source. */
static void add_main(struct builder *builder, uint32_t filename, uint32_t pid)
{
	struct profile_function function = { .filename = filename };
	struct profile_sample sample = { .pid = pid, .count = 1 };
	const struct profile_location location = { .address = pid };
	struct profile_line line = { 0 };
	uint32_t id;

	assert_int_equal(builder_add_string(builder, "main", &function.name), 0);
	assert_int_equal(builder_add_function(builder, &function, &line.function), 0);
	assert_int_equal(builder_add_named_location(builder, &location, &line, 1, &id), 0);
	assert_int_equal(builder_add_stack(builder, &id, 1, &sample.stack), 0);
	assert_int_equal(builder_add_sample(builder, &sample), 0);
}

/* In an earlier window it was not there. */
static void a_node_knows_its_source_if_one_of_its_functions_does(void **state)
{
	(void)state;
	for (uint32_t known = 0; known < 2; known++) {
		_cleanup_(flame_tree_done) struct flame_tree tree = { 0 };
		struct builder *builder = NULL;
		uint32_t filename;

		assert_int_equal(builder_new(PLENTY_BYTES, &builder), 0);
		assert_int_equal(builder_add_string(builder, "main.c", &filename), 0);
		for (uint32_t i = 0; i < 2; i++)
			add_main(builder, i == known ? filename : 0, i);

		_cleanup_(profile_unrefp) struct profile *profile = builder_seal(builder);
		assert_int_equal(flame_tree_init(&tree, profile, PLENTY), 0);
		assert_int_equal(tree.nr_nodes, 3);
		assert_int_equal(profile->functions[tree.nodes[2].function].filename, filename);
	}
}

static void recursion_goes_deeper(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "sh", "f;f;f", 1 } };

	assert_tree(lines, array_len(lines), "all 0+1(sh 0+1(f 0+1(f 0+1(f 0+1))))");
}

static void nameless_things_get_a_name(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "", ";main", 1 } };

	assert_tree(lines, array_len(lines), "all 0+1([unnamed] 0+1([unnamed] 0+1(main 0+1)))");
}

static void stacks_beyond_the_limit_are_cut_and_counted(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "sh", "a;b;c", 1 }, { "sh", "a;x", 2 } };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines, 2);
	static const struct {
		size_t max_nodes;
		uint64_t nr_cut;
		const char *expected;
	} cases[] = {
		{ 0, 3, "all 0+3" },
		{ 1, 3, "all 0+3" },
		{ 4, 3, "all 0+3(sh 0+3(a 0+3(b 0+1)))" },
		{ 5, 2, "all 0+3(sh 0+3(a 0+3(b 0+1(c 0+1))))" },
		{ 6, 0, "all 0+3(sh 0+3(a 0+3(b 0+1(c 0+1), x 1+2)))" },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(flame_tree_done) struct flame_tree tree = { 0 };
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(4096);

		assert_int_equal(flame_tree_init(&tree, profile, cases[i].max_nodes), 0);
		put_tree(&out, &tree, 0);
		assert_string_equal(strbuf_str(&out), cases[i].expected);
		assert_int_equal(tree.nr_cut, cases[i].nr_cut);
	}
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "sh", "a;b;c", 1 }, { "sh", "a;x", 2 } };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines, 2);

	for (unsigned int n = 1;; n++) {
		_cleanup_(flame_tree_done) struct flame_tree tree = { 0 };

		torture_begin(n);
		int r = flame_tree_init(&tree, profile, PLENTY);
		bool has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
		if (!has_failed)
			return;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_profile_is_a_root),
		cmocka_unit_test(equal_beginnings_share_nodes),
		cmocka_unit_test(processes_and_children_are_sorted_by_name),
		cmocka_unit_test(a_kernel_function_is_not_the_user_s_of_that_name),
		cmocka_unit_test(a_function_of_one_language_is_not_another_one_s),
		cmocka_unit_test(inlined_functions_are_nodes_apart_from_those_called),
		cmocka_unit_test(a_node_knows_its_source_if_one_of_its_functions_does),
		cmocka_unit_test(recursion_goes_deeper),
		cmocka_unit_test(nameless_things_get_a_name),
		cmocka_unit_test(stacks_beyond_the_limit_are_cut_and_counted),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

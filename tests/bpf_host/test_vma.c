/* SPDX-License-Identifier: Apache-2.0 */
/* bpf/vma.bpf.c: from an address to a mapping, through the kernel's trees. */
#include "fake_bpf.h"
#include "fake_mm.h"

#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define NODE_A 0xffff888100000100ULL
#define NODE_B 0xffff888100000200ULL
#define VMA_A 0xffff888200000000ULL
#define VMA_B 0xffff888200000100ULL
#define VMA_C 0xffff888200000200ULL

#define FIRST_SLOT_OF_LEAF 16
#define FIRST_SLOT_OF_ARANGE 10

static const struct fake_vma code = { 0x400000, 0x402000, FAKE_EXEC, 3, 77 };
static const struct fake_vma data = { 0x402000, 0x403000, 1, 5, 77 };
static const struct fake_vma jit = { 0x500000, 0x510000, FAKE_EXEC, 0x500, 0 };

static int begin(void **state)
{
	(void)state;
	fake_bpf_reset();
	fake_mm_set_times(FAKE_CTIME_SEC);
	return 0;
}

static int look_up(uint64_t address)
{
	fake_walk(VMA_FOR_SAMPLE)->address = address;
	return find_vma(VMA_FOR_SAMPLE, false);
}

/* A leaf: pairs of the last address that an entry holds for, and the entry. */
static void put_leaf(uint64_t node, const uint64_t (*pairs)[2], size_t nr)
{
	uint64_t words[MAPLE_NODE_WORDS] = { 0xffff888300000000 };

	for (size_t i = 0; i < nr; i++) {
		words[1 + i] = pairs[i][0];
		words[FIRST_SLOT_OF_LEAF + i] = pairs[i][1];
	}
	fake_mm_add_node(node, words);
}

static void put_default_leaf(uint64_t node)
{
	const uint64_t pairs[][2] = {
		{ code.start - 1, 0 }, { code.end - 1, VMA_A }, { data.end - 1, VMA_B },
		{ jit.start - 1, 0 },  { jit.end - 1, VMA_C },	{ UINT64_MAX, 0 },
	};

	put_leaf(node, pairs, array_len(pairs));
}

static void put_default_vmas(void)
{
	fake_mm_add_vma(VMA_A, &code, 0, VMA_B);
	fake_mm_add_vma(VMA_B, &data, 0, VMA_C);
	fake_mm_add_vma(VMA_C, &jit, 0, 0);
}

static void put_default(enum fake_tree kind)
{
	put_default_vmas();
	if (kind == FAKE_MAPLE)
		put_default_leaf(NODE_A);
	fake_mm_set(kind, kind == FAKE_MAPLE ? fake_maple_leaf(NODE_A) : VMA_A);
}

static void mapping_is_found_in_both_kinds_of_trees(void **state)
{
	for (enum fake_tree kind = FAKE_MAPLE; kind <= FAKE_RBTREE; kind++) {
		const struct vma_walk *walk;
		struct file_key key = fake_file_key(77);

		begin(state);
		put_default(kind);
		for (uint64_t address = code.start; address < code.end; address += 0xfff) {
			assert_int_equal(look_up(address), VMA_FILE);
			walk = fake_walk(VMA_FOR_SAMPLE);
			assert_int_equal(walk->start, code.start);
			assert_int_equal(walk->end, code.end);
			assert_int_equal(walk->file_offset, code.page * FAKE_PAGE);
			assert_memory_equal(&walk->key, &key, sizeof(key));
		}
		assert_int_equal(look_up(jit.start), VMA_ANONYMOUS);
		assert_int_equal(look_up(jit.end - 1), VMA_ANONYMOUS);
	}
}

static void what_is_no_code_is_none(void **state)
{
	for (enum fake_tree kind = FAKE_MAPLE; kind <= FAKE_RBTREE; kind++) {
		begin(state);
		put_default(kind);
		assert_int_equal(look_up(0), VMA_NONE);
		assert_int_equal(look_up(code.start - 1), VMA_NONE);
		assert_int_equal(look_up(data.start), VMA_NONE);
		assert_int_equal(look_up(data.end), VMA_NONE);
		assert_int_equal(look_up(jit.end), VMA_NONE);
		assert_int_equal(look_up(UINT64_MAX), VMA_NONE);
		fake_walk(VMA_FOR_AGENT)->address = data.start;
		assert_int_equal(find_vma(VMA_FOR_AGENT, true), VMA_FILE);
	}
}

static void change_time_is_read_wherever_a_kernel_has_it(void **state)
{
	for (enum fake_times times = FAKE_I_CTIME; times <= FAKE_CTIME_SEC; times++) {
		struct file_key key = fake_file_key(77);

		begin(state);
		fake_mm_set_times(times);
		put_default(FAKE_MAPLE);
		assert_int_equal(look_up(code.start), VMA_FILE);
		assert_memory_equal(&fake_walk(VMA_FOR_SAMPLE)->key, &key, sizeof(key));
	}
}

static void vdso_is_known_by_its_place(void **state)
{
	const struct fake_vma vdso = { FAKE_VDSO, FAKE_VDSO + 0x2000, FAKE_EXEC, 0, 0 };
	const struct file_key none = { 0 };

	(void)state;
	fake_mm_add_vma(VMA_A, &vdso, 0, 0);
	fake_mm_set(FAKE_RBTREE, VMA_A);
	assert_int_equal(look_up(FAKE_VDSO + 0x123), VMA_VDSO);
	assert_memory_equal(&fake_walk(VMA_FOR_SAMPLE)->key, &none, sizeof(none));
}

static void tree_of_several_levels_is_gone_down(void **state)
{
	uint64_t words[MAPLE_NODE_WORDS] = { 0xffff888300000000 };

	(void)state;
	words[1] = 0x3fffff;
	words[2] = UINT64_MAX;
	words[FIRST_SLOT_OF_ARANGE] = fake_maple_leaf(NODE_A);
	words[FIRST_SLOT_OF_ARANGE + 1] = fake_maple_leaf(NODE_B);
	put_default_vmas();
	put_default_leaf(NODE_B);
	fake_mm_add_node(NODE_A + 0x1000, words);
	fake_mm_set(FAKE_MAPLE, fake_maple_arange(NODE_A + 0x1000));
	assert_int_equal(look_up(code.start), VMA_FILE);
	assert_int_equal(look_up(code.start - 1), VMA_BROKEN); /* that leaf is not there */
}

/* All 16 entries are taken: the last one has no pivot. */
static void last_entry_of_a_full_node_has_no_pivot(void **state)
{
	uint64_t words[MAPLE_NODE_WORDS] = { 0xffff888300000000 };

	(void)state;
	for (uint64_t i = 0; i < 15; i++)
		words[1 + i] = 0x1000 * (i + 1) - 1;
	words[FIRST_SLOT_OF_LEAF + 15] = VMA_A;
	fake_mm_add_vma(VMA_A, &code, 0, 0);
	fake_mm_add_node(NODE_A, words);
	fake_mm_set(FAKE_MAPLE, fake_maple_leaf(NODE_A));
	assert_int_equal(look_up(code.start), VMA_FILE);
	assert_int_equal(look_up(0x1000), VMA_NONE);
}

/* A node that leads to itself, and children that do. */
static void circles_come_to_an_end(void **state)
{
	uint64_t words[MAPLE_NODE_WORDS] = { 0xffff888300000000, UINT64_MAX };

	(void)state;
	words[FIRST_SLOT_OF_ARANGE] = fake_maple_arange(NODE_A);
	fake_mm_add_node(NODE_A, words);
	fake_mm_set(FAKE_MAPLE, fake_maple_arange(NODE_A));
	assert_int_equal(look_up(code.start), VMA_BROKEN);

	begin(state);
	fake_mm_add_vma(VMA_A, &code, VMA_B, VMA_B);
	fake_mm_add_vma(VMA_B, &data, VMA_A, VMA_A);
	fake_mm_set(FAKE_RBTREE, VMA_A);
	assert_int_equal(look_up(jit.start), VMA_BROKEN);
}

static void entries_that_lead_nowhere_are_refused(void **state)
{
	const uint64_t wrong_type = (fake_maple_leaf(NODE_A) & ~UINT64_C(0x78)) | 7 << 3;
	const uint64_t dense = fake_maple_leaf(NODE_A) & ~UINT64_C(0x78);
	const uint64_t entries[] = {
		0, 1, 2, 1030, 4096, UINT64_MAX, VMA_A, wrong_type, dense, fake_maple_leaf(NODE_B),
	};

	for (size_t i = 0; i < array_len(entries); i++) {
		begin(state);
		put_default_vmas();
		put_default_leaf(NODE_A);
		fake_mm_set(FAKE_MAPLE, entries[i]);
		assert_int_equal(look_up(code.start), VMA_BROKEN);
	}
}

/* A node that is taken out of the tree has itself for a parent. */
static void dead_node_is_refused(void **state)
{
	uint64_t words[MAPLE_NODE_WORDS] = { NODE_A | 6, UINT64_MAX };

	(void)state;
	words[FIRST_SLOT_OF_LEAF] = VMA_A;
	put_default_vmas();
	fake_mm_add_node(NODE_A, words);
	fake_mm_set(FAKE_MAPLE, fake_maple_leaf(NODE_A));
	assert_int_equal(look_up(code.start), VMA_BROKEN);
}

/* The memory may be another mapping's by now, or be about another place. */
static void mapping_that_is_not_the_right_one_is_refused(void **state)
{
	const uint64_t wrong_place[][2] = { { UINT64_MAX, VMA_C } };
	const uint64_t descending[][2] = { { 0x500000, VMA_C }, { 0x1000, VMA_A }, { 0xfff, 0 } };
	const uint64_t nothing_there[][2] = { { UINT64_MAX, VMA_C + 0x10000 } };
	const uint64_t foreign[][2] = { { UINT64_MAX, VMA_C + 0x20000 } };
	const struct {
		const uint64_t (*pairs)[2];
		size_t nr;
	} leaves[] = {
		{ wrong_place, 1 },
		{ descending, 3 },
		{ nothing_there, 1 },
		{ foreign, 1 },
	};

	for (size_t i = 0; i < array_len(leaves); i++) {
		begin(state);
		put_default_vmas();
		fake_mm_add_foreign_vma(VMA_C + 0x20000, &code);
		put_leaf(NODE_A, leaves[i].pairs, leaves[i].nr);
		fake_mm_set(FAKE_MAPLE, fake_maple_leaf(NODE_A));
		assert_int_equal(look_up(code.start), VMA_BROKEN);
	}
}

static void task_without_memory_has_no_mappings(void **state)
{
	(void)state;
	assert_int_equal(look_up(code.start), VMA_BROKEN);
}

/* Every mapping that a kernel had, from its first byte to its last, and what is between. */
static void check_recording(const char *name)
{
	struct fake_recording recording = { 0 };
	size_t nr_code = 0;
	char path[256];

	fake_bpf_reset();
	snprintf(path, sizeof(path), "%s/vmas/%s", FIXTURES_DIR, name);
	assert_int_equal(fake_mm_load(path, &recording), 0);
	assert_true(recording.nr_vmas > 40);
	for (size_t i = 0; i < recording.nr_vmas; i++) {
		const struct fake_vma *vma = &recording.vmas[i];
		int kind = vma->flags & FAKE_EXEC ? (vma->inode ? VMA_FILE : VMA_ANONYMOUS)
						  : VMA_NONE;

		nr_code += kind != VMA_NONE;
		assert_int_equal(look_up(vma->start), kind);
		assert_int_equal(look_up(vma->end - 1), kind);
		if (kind == VMA_NONE)
			continue;
		assert_int_equal(fake_walk(VMA_FOR_SAMPLE)->start, vma->start);
		assert_int_equal(fake_walk(VMA_FOR_SAMPLE)->end, vma->end);
		assert_int_equal(fake_walk(VMA_FOR_SAMPLE)->key.inode, vma->inode);
	}
	assert_true(nr_code > 20);
	assert_int_equal(look_up(0x1000), VMA_NONE);
	assert_int_equal(look_up(0x7fffffffefff), VMA_NONE);
	free(recording.vmas);
}

static void recorded_trees_are_read(void **state)
{
	static const char *const names[] = { RECORDINGS };

	(void)state;
	for (size_t i = 0; i < array_len(names); i++)
		check_recording(names[i]);
}

#define VMA_TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		VMA_TEST(mapping_is_found_in_both_kinds_of_trees),
		VMA_TEST(what_is_no_code_is_none),
		VMA_TEST(change_time_is_read_wherever_a_kernel_has_it),
		VMA_TEST(vdso_is_known_by_its_place),
		VMA_TEST(tree_of_several_levels_is_gone_down),
		VMA_TEST(last_entry_of_a_full_node_has_no_pivot),
		VMA_TEST(circles_come_to_an_end),
		VMA_TEST(entries_that_lead_nowhere_are_refused),
		VMA_TEST(dead_node_is_refused),
		VMA_TEST(mapping_that_is_not_the_right_one_is_refused),
		VMA_TEST(task_without_memory_has_no_mappings),
		VMA_TEST(recorded_trees_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

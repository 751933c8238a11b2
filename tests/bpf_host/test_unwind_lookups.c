/* SPDX-License-Identifier: Apache-2.0 */
/* bpf/unwind_native.bpf.c: from a pid and an address to a rule. */
#include "scene.h"

#include "base/err.h"

#include <string.h>

static int begin_scene(void **state)
{
	(void)state;
	scene_begin();
	return 0;
}

static void unknown_process_is_asked_for_once(void **state)
{
	(void)state;
	fake_state()->pid = SCENE_PID + 1;
	assert_unwinds(UNWIND_NEW_PROCESS, IN_FUNCTION(1));
	assert_true(fake_state()->asks);
	assert_int_equal(fake_binding(SCENE_PID + 1), MAPPING_BINDING_ASKED);

	fake_event()->nr_user = 0;
	assert_unwinds(UNWIND_NEW_PROCESS, IN_FUNCTION(1));
	assert_false(fake_state()->asks);
	assert_int_equal(fake_nr_asked(), 1);
}

static void nobody_is_woken_for_a_process_that_there_is_no_room_for(void **state)
{
	(void)state;
	for (uint32_t pid = 1; pid <= 3; pid++)
		fake_bind(pid, 0);
	fake_state()->pid = SCENE_PID + 1;
	assert_unwinds(UNWIND_NEW_PROCESS, IN_FUNCTION(1));
	assert_false(fake_state()->asks);
	assert_int_equal(fake_binding(SCENE_PID + 1), -1);
}

static void unknown_process_that_exits_is_not_asked_for(void **state)
{
	(void)state;
	fake_state()->pid = SCENE_PID + 1;
	fake_state()->is_exiting = true;
	assert_unwinds(UNWIND_UNREADABLE_STACK, IN_FUNCTION(1));
	assert_false(fake_state()->asks);
	assert_int_equal(fake_nr_asked(), 0);
	assert_int_equal(fake_binding(SCENE_PID + 1), -1);
}

static void binding_that_outlived_its_list_asks_again(void **state)
{
	static const uint64_t bindings[] = {
		MAPPING_BINDING(SCENE_LIST, SCENE_LIST_ID + 1),
		MAPPING_BINDING(SCENE_LIST + 1, SCENE_LIST_ID),
		MAPPING_BINDING(ARENA_CHUNK_BYTES / ARENA_UNIT, SCENE_LIST_ID), /* no such chunk */
		MAPPING_BINDING(UINT32_MAX, SCENE_LIST_ID),
	};

	(void)state;
	for (size_t i = 0; i < array_len(bindings); i++) {
		scene_begin();
		fake_bind(SCENE_PID, bindings[i]);
		assert_unwinds(UNWIND_NEW_PROCESS, IN_FUNCTION(1));
		assert_true(fake_state()->asks);
		assert_int_equal(fake_binding(SCENE_PID), MAPPING_BINDING_ASKED);
	}
}

static void known_process_asks_nothing(void **state)
{
	(void)state;
	fake_state()->asks = true;
	scene_stack(IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
	assert_false(fake_state()->asks);
	assert_int_equal(fake_nr_asked(), 0);
}

/* A leaf without CFI and without a frame pointer is complete: what was found for it stays. */
static void assert_range(uint64_t address, uint64_t start, uint64_t end, uint64_t bias)
{
	fake_state()->ip = address;
	fake_event()->nr_user = 0;
	assert_int_equal(scene_unwind(), UNWIND_COMPLETE);
	assert_int_equal(fake_state()->range_start, start);
	assert_int_equal(fake_state()->range_end, end);
	assert_int_equal(fake_state()->range.bias, bias);
}

static void assert_ranges_are_found(uint32_t nr_ranges)
{
	static uint64_t starts[MAPPING_TABLE_MAX_RANGES], biases[MAPPING_TABLE_MAX_RANGES];
	static uint32_t slots[MAPPING_TABLE_MAX_RANGES];
	uint32_t step = nr_ranges < 100 ? 1 : 97;

	for (uint32_t i = 0; i < nr_ranges; i++) {
		starts[i] = 0x10000 + 0x1000ULL * i;
		biases[i] = i + 1;
	}
	scene_put_list(starts, slots, biases, nr_ranges);
	assert_range(0, 0, 1, 0); /* in none: the task's mappings were asked for this one address */
	assert_true(fake_state()->range.is_hole);
	for (uint32_t i = 0; i < nr_ranges; i += step) {
		uint64_t end = i + 1 < nr_ranges ? starts[i + 1] : UINT64_MAX;

		assert_range(starts[i], starts[i], end, biases[i]);
		assert_range(end - 1, starts[i], end, biases[i]);
		if (i > 0)
			assert_range(starts[i] - 1, starts[i - 1], starts[i], biases[i - 1]);
	}
}

static void range_of_an_address_is_found_in_lists_of_all_sizes(void **state)
{
	static const uint32_t sizes[] = {
		0, 1, 2, 3, 4, 7, 8, 9, 511, 1000, MAPPING_TABLE_MAX_RANGES
	};

	(void)state;
	for (size_t i = 0; i < array_len(sizes); i++) {
		scene_begin();
		assert_ranges_are_found(sizes[i]);
	}
}

static void frames_of_several_files_have_their_own_rules(void **state)
{
	static const uint64_t starts[] = { SCENE_CODE, SCENE_CODE_END, 2 * SCENE_CODE,
					   2 * SCENE_CODE + 0x1000, 3 * SCENE_CODE };
	static const uint32_t slots[] = { SCENE_SLOT, HOLE, SCENE_SLOT, 0, HOLE };
	/* The second file is mapped such that all of it is function 2. */
	static const uint64_t biases[] = { SCENE_CODE - SCENE_FILE_OFFSET, 0,
					   2 * SCENE_CODE - SCENE_FILE_OFFSET - 0x200, 0, 0 };

	(void)state;
	scene_put_list(starts, slots, biases, array_len(starts));
	scene_set_rule(2, scene_rule(CFA_REGISTER, CFI_SP, 16));
	scene_stack(2 * SCENE_CODE + 0x10, 1, IN_FUNCTION(1), 2 * SCENE_CODE + 0x20, 1,
		    2 * SCENE_CODE + 0x30, 1, IN_FUNCTION(1), IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), 2 * SCENE_CODE + 0x10, IN_FUNCTION(1),
		       2 * SCENE_CODE + 0x20, 2 * SCENE_CODE + 0x30, IN_FUNCTION(1), IN_ROOT);
}

static void table_that_is_not_loaded_ends_the_stack_and_is_wanted(void **state)
{
	(void)state;
	fake_set_clock(17);
	fake_set_table(SCENE_SLOT, TABLE_NOT_LOADED);
	assert_unwinds(UNWIND_NOT_LOADED, IN_FUNCTION(1));
	assert_int_equal(fake_table_used(SCENE_SLOT), 17);
}

/* The frame pointer would lead somewhere. */
static void file_that_gets_its_slot_later_ends_the_stack(void **state)
{
	static const uint64_t starts[] = { SCENE_CODE, SCENE_CODE_END };
	static const uint32_t slots[] = { POSTPONED, HOLE };
	static const uint64_t biases[] = { SCENE_CODE - SCENE_FILE_OFFSET, 0 };

	(void)state;
	scene_put_list(starts, slots, biases, array_len(starts));
	fake_state()->regs[CFI_FP] = SCENE_STACK;
	scene_stack(SCENE_STACK + 16, IN_FUNCTION(2), 0, IN_ROOT);
	assert_unwinds(UNWIND_NOT_LOADED, IN_FUNCTION(1));
}

static void table_that_is_used_is_marked(void **state)
{
	(void)state;
	fake_set_clock(18);
	scene_stack(IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
	assert_int_equal(fake_table_used(SCENE_SLOT), 18);
}

static void file_without_cfi_is_unwound_by_frame_pointers(void **state)
{
	(void)state;
	fake_set_table(SCENE_SLOT, TABLE_WITHOUT_CFI);
	fake_state()->regs[CFI_FP] = STACK_WORD(1);
	scene_stack(IN_ROOT, 0, IN_FUNCTION(2));
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_FUNCTION(2));
}

static void reference_to_nowhere_is_a_damaged_table(void **state)
{
	static const uint64_t starts[] = { SCENE_CODE };
	static const uint64_t biases[] = { 0 };
	static const uint32_t slots[] = { MAX_TABLE_SLOTS, UINT32_MAX - 1 };
	static const uint32_t units[] = { 2 * ARENA_CHUNK_BYTES / ARENA_UNIT, UINT32_MAX,
					  ARENA_MAX_CHUNKS * (ARENA_CHUNK_BYTES / ARENA_UNIT) };

	(void)state;
	for (size_t i = 0; i < array_len(slots); i++) {
		scene_put_list(starts, &slots[i], biases, 1);
		fake_event()->nr_user = 0;
		assert_unwinds(UNWIND_BAD_TABLE, IN_FUNCTION(1));
	}
	for (size_t i = 0; i < array_len(units); i++) {
		scene_begin();
		fake_set_table(SCENE_SLOT, units[i]);
		assert_unwinds(UNWIND_BAD_TABLE, IN_FUNCTION(1));
	}
}

/* Rules that end the stack, so that the one that was found stays; told apart by their offset. */
static void make_rules(struct cfi_rule *rules, size_t nr_rules)
{
	rules[0] = (struct cfi_rule){ .kind = CFA_NONE };
	for (size_t i = 1; i < nr_rules; i++)
		rules[i] = scene_rule(CFA_END, 0, (int32_t)i);
}

static void assert_rule(uint64_t file_offset, int32_t rule)
{
	fake_state()->ip = SCENE_CODE - SCENE_FILE_OFFSET + file_offset;
	fake_event()->nr_user = 0;
	assert_int_equal(scene_unwind(), UNWIND_COMPLETE);
	assert_int_equal(fake_state()->rule.offset, rule);
	assert_int_equal(fake_state()->rule.kind, rule ? CFA_END : CFA_NONE);
}

static void put_whole_file(void)
{
	static const uint64_t starts[] = { 0 };
	static const uint32_t slots[] = { SCENE_SLOT };
	static const uint64_t biases[] = { SCENE_CODE - SCENE_FILE_OFFSET };

	scene_put_list(starts, slots, biases, 1);
}

static void rule_of_an_offset_is_that_of_the_last_row_before_it(void **state)
{
	static const struct scene_row rows[] = {
		{ 0x3010, 1 },
		{ 0x3020, 2 },
		{ 0x3fff, 3 }, /* first page */
		/* one that begins with a row, after one without any */
		{ 0x5000, 4 },
		{ 0x5001, 5 },
		{ 0x5ff0, 0 },
		{ 0x15800, 6 }, /* 16 pages without any */
	};
	static const struct {
		uint64_t file_offset;
		int32_t rule;
	} cases[] = {
		{ 0, 0 },	{ 0x2fff, 0 },	 { 0x3000, 0 },	     { 0x300f, 0 },
		{ 0x3010, 1 },	{ 0x301f, 1 },	 { 0x3020, 2 },	     { 0x3ffe, 2 },
		{ 0x3fff, 3 },	{ 0x4000, 3 },	 { 0x4fff, 3 },	     { 0x5000, 4 },
		{ 0x5001, 5 },	{ 0x5fef, 5 },	 { 0x5ff0, 0 },	     { 0x6000, 0 },
		{ 0x15000, 0 }, { 0x157ff, 0 },	 { 0x15800, 6 },     { 0x15fff, 6 },
		{ 0x16000, 0 }, { 0x103010, 0 }, { 0x100003010, 0 }, { UINT64_MAX - 0x500000, 0 },
	};
	struct cfi_rule rules[7];

	(void)state;
	make_rules(rules, array_len(rules));
	put_whole_file();
	scene_put_table(rules, array_len(rules), rows, array_len(rows));
	for (size_t i = 0; i < array_len(cases); i++)
		assert_rule(cases[i].file_offset, cases[i].rule);
}

/* As many rows as a page can have, in a table that lies across blocks and the end of a chunk. */
static void every_byte_of_a_page_may_have_its_row(void **state)
{
	static struct scene_row rows[3 * ROW_PAGE_BYTES];
	static struct cfi_rule rules[3 * ROW_PAGE_BYTES];

	(void)state;
	for (uint32_t i = 0; i < array_len(rows); i++)
		rows[i] = (struct scene_row){ 0xf000 + i, (uint16_t)i };
	make_rules(rules, array_len(rules));
	put_whole_file();
	scene_put_table_at(ARENA_CHUNK_BYTES / ARENA_UNIT - 1500, rules, array_len(rules), rows,
			   array_len(rows));
	for (int32_t i = 0; i < (int32_t)array_len(rows); i++)
		assert_rule(0xf000 + (uint64_t)i, i);
}

static void run_goes_on_in_the_next_page(void **state)
{
	static const struct scene_row rows[] = { { 0x3ffe, 1 }, { 0x4010, 2 } };
	struct cfi_rule rules[3] = {
		[1] = scene_rule(CFA_REGISTER, CFI_SP, 8), [2] = scene_rule(CFA_END, 0, 0)
	};

	(void)state;
	rules[1].flags = CFI_RUN_UP;
	rules[1].arg = 1 << 1 | 1 << 3 | 1 << 5;
	put_whole_file();
	scene_put_table(rules, array_len(rules), rows, array_len(rows));
	fake_state()->ip = SCENE_CODE - SCENE_FILE_OFFSET + 0x4001;
	scene_stack(1, 2, SCENE_CODE - SCENE_FILE_OFFSET + 0x4020);
	assert_int_equal(scene_unwind(), UNWIND_COMPLETE);
	assert_int_equal(fake_event()->nr_user, 2);
}

/* Whatever word of list and table is replaced by whatever: it ends, within its bounds, with a
 * result. */
static void garbage_is_survived(void **state)
{
	static const uint32_t garbage[] = {
		0,	  1,	  63,	      4095,	  0x7fffffff,
		1U << 31, 0xffff, UINT32_MAX, 0x00ffff00, UINT32_MAX - 63
	};
	static const uint32_t units[] = { SCENE_LIST, SCENE_TABLE };
	uint64_t words[64];

	(void)state;
	for (size_t i = 0; i < array_len(words); i++)
		words[i] = IN_FUNCTION(i % SCENE_NR_FUNCTIONS);
	for (size_t i = 0; i < array_len(garbage) * array_len(units) * 32; i++) {
		uint32_t bytes[16];

		scene_begin();
		scene_set_stack(words, array_len(words));
		scene_unwind();
		memset(bytes, (int)garbage[i / 64], sizeof(bytes));
		bytes[i / 2 % 16] = garbage[i / 64];
		fake_put(units[i % 2], bytes, i / 32 % 2 ? sizeof(bytes) : 4 * (i / 2 % 16 + 1));
		fake_event()->nr_user = 0;
		assert_in_range(unwind_native(), 0, UNWIND_NR_RESULTS - 1);
		assert_in_range(fake_event()->nr_user, 1, MAX_USER_FRAMES);
	}
}

#define LOOKUP_TEST(name) cmocka_unit_test_setup(name, begin_scene)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOOKUP_TEST(unknown_process_is_asked_for_once),
		LOOKUP_TEST(nobody_is_woken_for_a_process_that_there_is_no_room_for),
		LOOKUP_TEST(unknown_process_that_exits_is_not_asked_for),
		LOOKUP_TEST(binding_that_outlived_its_list_asks_again),
		LOOKUP_TEST(known_process_asks_nothing),
		LOOKUP_TEST(range_of_an_address_is_found_in_lists_of_all_sizes),
		LOOKUP_TEST(frames_of_several_files_have_their_own_rules),
		LOOKUP_TEST(table_that_is_not_loaded_ends_the_stack_and_is_wanted),
		LOOKUP_TEST(file_that_gets_its_slot_later_ends_the_stack),
		LOOKUP_TEST(table_that_is_used_is_marked),
		LOOKUP_TEST(file_without_cfi_is_unwound_by_frame_pointers),
		LOOKUP_TEST(reference_to_nowhere_is_a_damaged_table),
		LOOKUP_TEST(rule_of_an_offset_is_that_of_the_last_row_before_it),
		LOOKUP_TEST(every_byte_of_a_page_may_have_its_row),
		LOOKUP_TEST(run_goes_on_in_the_next_page),
		LOOKUP_TEST(garbage_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* bpf/unwind_vma.bpf.c: stacks of processes that the agent does not know, or not all of. */
#include "fake_mm.h"
#include "scene.h"

#include "base/err.h"

#define INODE 77
#define OTHER_INODE 78
#define NEW_PID (SCENE_PID + 1)
#define VMA 0xffff888200000000ULL
#define JIT_VMA 0xffff888200000100ULL
#define NEW_CODE 0x7f0000000000ULL /* in no list */

static const struct fake_vma code = { SCENE_CODE, SCENE_CODE_END, FAKE_EXEC,
				      SCENE_FILE_OFFSET / FAKE_PAGE, INODE };
static const struct fake_vma jit = { SCENE_JIT, SCENE_JIT_END, FAKE_EXEC, SCENE_JIT / FAKE_PAGE,
				     0 };

/* The same code as in the scene's list, of a process that has none. */
static int begin(void **state)
{
	(void)state;
	scene_begin();
	fake_mm_set_times(FAKE_CTIME_SEC);
	fake_mm_add_vma(VMA, &code, 0, JIT_VMA);
	fake_mm_add_vma(JIT_VMA, &jit, 0, 0);
	fake_mm_set(FAKE_RBTREE, VMA);
	fake_state()->pid = NEW_PID;
	return 0;
}

static void know_file(uint64_t inode, uint32_t slot)
{
	const struct file_key key = fake_file_key(inode);

	fake_set_file(&key, slot);
}

static void new_process_with_known_files_is_unwound(void **state)
{
	(void)state;
	know_file(INODE, SCENE_SLOT);
	scene_stack(IN_FUNCTION(2), IN_FUNCTION(3), IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_FUNCTION(2), IN_FUNCTION(3), IN_ROOT);
	assert_false(fake_state()->asks);
	assert_int_equal(fake_nr_asked(), 0);
	assert_int_equal(fake_binding(NEW_PID), MAPPING_BINDING_NONE);
}

static void neighbouring_frames_take_one_walk(void **state)
{
	(void)state;
	know_file(INODE, SCENE_SLOT);
	scene_stack(IN_FUNCTION(2), IN_FUNCTION(3), IN_ROOT);
	scene_unwind();
	assert_int_equal(fake_state()->nr_walks, 1);
}

static void unknown_file_is_asked_for_once(void **state)
{
	(void)state;
	assert_unwinds(UNWIND_NEW_PROCESS, IN_FUNCTION(1));
	assert_true(fake_state()->asks);
	assert_true(fake_state()->lacks_file);
	assert_int_equal(fake_binding(NEW_PID), MAPPING_BINDING_ASKED);

	fake_event()->nr_user = 0;
	assert_unwinds(UNWIND_NEW_PROCESS, IN_FUNCTION(1));
	assert_false(fake_state()->asks);
	assert_int_equal(fake_nr_asked(), 1);
}

static void process_that_was_seen_before_asks_when_it_has_to(void **state)
{
	(void)state;
	fake_bind(NEW_PID, MAPPING_BINDING_NONE);
	assert_unwinds(UNWIND_NEW_PROCESS, IN_FUNCTION(1));
	assert_true(fake_state()->asks);
}

static void what_is_known_of_a_stack_is_kept(void **state)
{
	const struct fake_vma library = { NEW_CODE, NEW_CODE + 0x10000, FAKE_EXEC, 0, OTHER_INODE };

	scene_begin();
	(void)state;
	fake_mm_add_vma(VMA, &code, 0, JIT_VMA);
	fake_mm_add_vma(JIT_VMA, &library, 0, 0);
	fake_mm_set(FAKE_RBTREE, VMA);
	fake_state()->pid = NEW_PID;
	know_file(INODE, SCENE_SLOT);
	scene_stack(NEW_CODE + 0x40);
	assert_unwinds(UNWIND_NEW_PROCESS, IN_FUNCTION(1), NEW_CODE + 0x40);
	assert_true(fake_state()->lacks_file);
}

static void changed_file_is_another_one(void **state)
{
	struct file_key key = fake_file_key(INODE);

	(void)state;
	key.ctime_ns++;
	fake_set_file(&key, SCENE_SLOT);
	assert_unwinds(UNWIND_NEW_PROCESS, IN_FUNCTION(1));
}

static void code_without_a_file_is_stepped_over_by_frame_pointer(void **state)
{
	(void)state;
	know_file(INODE, SCENE_SLOT);
	fake_state()->ip = SCENE_JIT + 0x40;
	fake_state()->regs[CFI_FP] = STACK_WORD(0);
	scene_stack(0, IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, SCENE_JIT + 0x40, IN_ROOT);
}

static void step_into_nothing_is_no_frame(void **state)
{
	(void)state;
	know_file(INODE, SCENE_SLOT);
	fake_state()->ip = IN_FUNCTION(0);
	fake_state()->regs[CFI_FP] = STACK_WORD(0);
	scene_stack(0, 0x123456789);
	assert_unwinds(UNWIND_BAD_FRAME_POINTER, IN_FUNCTION(0));
}

static void hole_of_a_list_is_filled_by_the_tasks_mappings(void **state)
{
	const struct fake_vma library = { NEW_CODE, NEW_CODE + SCENE_CODE_END - SCENE_CODE,
					  FAKE_EXEC, SCENE_FILE_OFFSET / FAKE_PAGE, INODE };

	(void)state;
	scene_begin();
	fake_mm_add_vma(VMA, &library, JIT_VMA, 0);
	fake_mm_add_vma(JIT_VMA, &code, 0, 0);
	fake_mm_set(FAKE_RBTREE, VMA);
	know_file(INODE, SCENE_SLOT);
	fake_state()->ip = IN_FUNCTION(1) - SCENE_CODE + NEW_CODE;
	scene_stack(IN_FUNCTION(2), IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1) - SCENE_CODE + NEW_CODE, IN_FUNCTION(2),
		       IN_ROOT);
	assert_true(fake_state()->asks); /* for a list that has it */
}

static void walks_of_a_stack_are_bounded(void **state)
{
	static uint64_t words[400];

	(void)state;
	know_file(INODE, SCENE_SLOT);
	for (size_t i = 0; i < array_len(words); i += 4) {
		words[i] = STACK_WORD(i + 2); /* JIT code's frame, and then function 0's */
		words[i + 1] = IN_FUNCTION(0);
		words[i + 2] = STACK_WORD(i + 4);
		words[i + 3] = SCENE_JIT + 0x40;
	}
	fake_state()->ip = SCENE_JIT + 0x40;
	fake_state()->regs[CFI_FP] = STACK_WORD(0);
	scene_set_stack(words, array_len(words));
	assert_int_equal(scene_unwind(), UNWIND_NEW_PROCESS);
	assert_int_equal(fake_state()->nr_walks, 128);
	assert_false(fake_state()->lacks_file);
}

/* A process with a list in which the code is, and other mappings. */
static void set_mapped(const struct fake_vma *vma, uint32_t nr_changes)
{
	scene_begin();
	fake_mm_set_changes(nr_changes);
	fake_mm_add_vma(VMA, vma, 0, 0);
	fake_mm_set(FAKE_RBTREE, VMA);
	know_file(INODE, SCENE_SLOT);
}

static void range_is_compared_once_after_a_change(void **state)
{
	(void)state;
	set_mapped(&code, 1);
	scene_stack(IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
	assert_int_equal(fake_state()->nr_walks, 1);

	fake_event()->nr_user = 0;
	fake_state()->ip = IN_FUNCTION(1);
	fake_state()->regs[CFI_SP] = SCENE_STACK;
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
	assert_int_equal(fake_state()->nr_walks, 0);
	assert_false(fake_state()->asks);
}

static void library_in_the_place_of_another_has_its_own_rows(void **state)
{
	const struct fake_vma other = { code.start, code.end, FAKE_EXEC, code.page, OTHER_INODE };

	(void)state;
	set_mapped(&other, 1);
	know_file(OTHER_INODE, SCENE_SLOT + 1);
	fake_set_table(SCENE_SLOT + 1, TABLE_WITHOUT_CFI);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1)); /* by frame pointer: 0 */
	assert_int_equal(fake_state()->range.slot, SCENE_SLOT + 1);
	assert_true(fake_state()->asks);
}

static void same_file_at_another_place_of_it_is_told(void **state)
{
	const struct fake_vma other = { code.start, code.end, FAKE_EXEC, code.page + 1, INODE };

	(void)state;
	set_mapped(&other, 1);
	(void)scene_unwind();
	assert_int_equal(fake_state()->range.bias, SCENE_CODE - SCENE_FILE_OFFSET - FAKE_PAGE);
}

static void what_is_not_mapped_any_more_is_a_hole(void **state)
{
	const struct fake_vma other = { SCENE_JIT, SCENE_JIT_END, FAKE_EXEC, 0, INODE };

	(void)state;
	set_mapped(&other, 1);
	(void)scene_unwind();
	assert_true(fake_state()->range.is_hole);
	assert_true(fake_state()->asks);
}

static void file_that_is_not_known_is_taken_to_be_the_lists(void **state)
{
	const struct fake_vma other = { code.start, code.end, FAKE_EXEC, code.page, OTHER_INODE };

	(void)state;
	set_mapped(&other, 1);
	scene_stack(IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
}

static void file_with_two_slots_is_one(void **state)
{
	(void)state;
	scene_begin();
	fake_mm_add_vma(VMA, &code, 0, 0);
	fake_mm_set(FAKE_RBTREE, VMA);
	know_file(INODE, SCENE_SLOT + 1);
	fake_set_table(SCENE_SLOT + 1, SCENE_TABLE);
	scene_stack(IN_ROOT);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
	assert_int_equal(fake_state()->range.slot, SCENE_SLOT);
	assert_false(fake_state()->asks);
}

#define VMA_TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		VMA_TEST(new_process_with_known_files_is_unwound),
		VMA_TEST(neighbouring_frames_take_one_walk),
		VMA_TEST(unknown_file_is_asked_for_once),
		VMA_TEST(process_that_was_seen_before_asks_when_it_has_to),
		VMA_TEST(what_is_known_of_a_stack_is_kept),
		VMA_TEST(changed_file_is_another_one),
		VMA_TEST(code_without_a_file_is_stepped_over_by_frame_pointer),
		VMA_TEST(step_into_nothing_is_no_frame),
		VMA_TEST(hole_of_a_list_is_filled_by_the_tasks_mappings),
		VMA_TEST(walks_of_a_stack_are_bounded),
		VMA_TEST(range_is_compared_once_after_a_change),
		VMA_TEST(library_in_the_place_of_another_has_its_own_rows),
		VMA_TEST(same_file_at_another_place_of_it_is_told),
		VMA_TEST(what_is_not_mapped_any_more_is_a_hole),
		VMA_TEST(file_that_is_not_known_is_taken_to_be_the_lists),
		VMA_TEST(file_with_two_slots_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

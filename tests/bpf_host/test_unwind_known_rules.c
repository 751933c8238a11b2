/* SPDX-License-Identifier: Apache-2.0 */
/* bpf/unwind_lookup.bpf.c: rules that were found before. What is not searched for again is seen
 * by taking away where it was found: the file's table. */
#include "scene.h"

#include "base/err.h"

static int begin_scene(void **state)
{
	(void)state;
	scene_begin();
	return 0;
}

static int unwind_from(uint64_t ip)
{
	fake_state()->ip = ip;
	fake_state()->regs[CFI_SP] = SCENE_STACK;
	fake_state()->regs[CFI_RBP] = STACK_WORD(0);
	fake_event()->nr_user = 0;
	return scene_unwind();
}

/* Function 1 is called by function 2, and that by the root. */
static int unwind_again(void)
{
	int result = unwind_from(IN_FUNCTION(1));

	assert_true(result != UNWIND_COMPLETE || fake_event()->nr_user == 3);
	return result;
}

static void unwind_once(void)
{
	scene_stack(IN_FUNCTION(2), IN_ROOT);
	assert_int_equal(unwind_again(), UNWIND_COMPLETE);
}

static void a_rule_that_was_found_is_not_searched_for_again(void **state)
{
	(void)state;
	unwind_once();
	fake_set_table(SCENE_SLOT, TABLE_NOT_LOADED);
	assert_int_equal(unwind_again(), UNWIND_COMPLETE);
}

static void a_known_rule_marks_its_table_as_used(void **state)
{
	(void)state;
	fake_set_clock(3);
	unwind_once();
	assert_int_equal(fake_table_used(SCENE_SLOT), 3);
	fake_set_clock(4);
	assert_int_equal(unwind_again(), UNWIND_COMPLETE);
	assert_int_equal(fake_table_used(SCENE_SLOT), 4);
}

static void another_address_is_searched_for(void **state)
{
	(void)state;
	unwind_once();
	fake_set_table(SCENE_SLOT, TABLE_NOT_LOADED);
	assert_int_equal(unwind_from(IN_FUNCTION(1) + 1), UNWIND_NOT_LOADED);
}

/* A process whose mappings have changed gets another list. */
static void another_list_is_searched(void **state)
{
	const struct mapping_table list = { .id = SCENE_LIST_ID + 1 };

	(void)state;
	unwind_once();
	fake_put(SCENE_LIST, &list.id, sizeof(list.id));
	fake_bind(SCENE_PID, MAPPING_BINDING(SCENE_LIST, list.id));
	fake_set_table(SCENE_SLOT, TABLE_NOT_LOADED);
	assert_int_equal(unwind_again(), UNWIND_NOT_LOADED);
}

/* Code without a row is unwound by frame pointers, which ask what range the caller is in: the
 * frame's own is known again. */
static void code_without_a_rule_is_not_searched_for_again(void **state)
{
	(void)state;
	scene_stack(0, IN_ROOT);
	assert_int_equal(unwind_from(IN_FUNCTION(0)), UNWIND_COMPLETE);
	fake_set_table(SCENE_SLOT, TABLE_NOT_LOADED);
	assert_int_equal(unwind_from(IN_FUNCTION(0)), UNWIND_COMPLETE);
}

/* Many addresses have one place: the last one has it. */
static void addresses_drive_each_other_out(void **state)
{
	uint64_t address = SCENE_CODE;

	(void)state;
	while (address == IN_FUNCTION(1) || known_rule_place(address, SCENE_LIST_ID) !=
						    known_rule_place(IN_FUNCTION(1), SCENE_LIST_ID))
		address++;
	unwind_once();
	if (address >= SCENE_CODE_END)
		return;
	(void)unwind_from(address);
	fake_set_table(SCENE_SLOT, TABLE_NOT_LOADED);
	assert_int_equal(unwind_again(), UNWIND_NOT_LOADED);
}

#define CASE(function) cmocka_unit_test_setup(function, begin_scene)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_rule_that_was_found_is_not_searched_for_again),
		CASE(a_known_rule_marks_its_table_as_used),
		CASE(another_address_is_searched_for),
		CASE(another_list_is_searched),
		CASE(code_without_a_rule_is_not_searched_for_again),
		CASE(addresses_drive_each_other_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

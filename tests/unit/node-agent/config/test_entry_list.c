/* SPDX-License-Identifier: Apache-2.0 */
#include "config/entry_list.h"

#include "base/cleanup.h"
#include "config/option_table.h"
#include "unit.h"

#include <string.h>

static void entries_keep_their_order_and_own_their_texts(void **state)
{
	_cleanup_(entry_list_done) struct entry_list list = { 0 };
	char where[] = "-F", value[] = "19";
	(void)state;

	assert_int_equal(entry_list_add(&list, SOURCE_COMMAND_LINE, &option_table[0], where, value),
			 0);
	assert_int_equal(entry_list_refuse(&list, SOURCE_FILE, NULL, "%s:%d", "f", 3), 0);
	assert_int_equal(entry_list_warn(&list, "%s is ignored", "X"), 0);
	memset(where, 'x', sizeof(where));
	memset(value, 'x', sizeof(value));

	assert_int_equal(list.nr, 3);
	assert_int_equal(list.items[0].kind, ENTRY_VALUE);
	assert_string_equal(list.items[0].where, "-F");
	assert_string_equal(list.items[0].text, "19");
	assert_int_equal(list.items[1].kind, ENTRY_REFUSAL);
	assert_int_equal(list.items[1].source, SOURCE_FILE);
	assert_string_equal(list.items[1].text, "f:3");
	assert_int_equal(list.items[2].kind, ENTRY_WARNING);
	assert_string_equal(list.items[2].text, "X is ignored");
}

static void the_first_entry_of_an_option_is_found(void **state)
{
	_cleanup_(entry_list_done) struct entry_list list = { 0 };
	const struct option *option = &option_table[1];
	(void)state;

	assert_null(entry_list_find(&list, option));
	assert_int_equal(entry_list_add(&list, SOURCE_FILE, &option_table[0], "f:1", "1"), 0);
	assert_int_equal(entry_list_add(&list, SOURCE_FILE, option, "f:2", "2"), 0);
	assert_int_equal(entry_list_add(&list, SOURCE_DEFAULT, option, "x", "3"), 0);
	assert_ptr_equal(entry_list_find(&list, option), &list.items[1]);
}

static void the_last_entries_can_be_forgotten(void **state)
{
	_cleanup_(entry_list_done) struct entry_list list = { 0 };
	(void)state;

	for (size_t i = 0; i < 3; i++)
		assert_int_equal(
			entry_list_add(&list, SOURCE_ENVIRONMENT, &option_table[i], "X", "1"), 0);
	entry_list_shrink(&list, 1);
	assert_int_equal(list.nr, 1);
	entry_list_shrink(&list, 2);
	assert_int_equal(list.nr, 1);
	assert_null(entry_list_find(&list, &option_table[2]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_keep_their_order_and_own_their_texts),
		cmocka_unit_test(the_first_entry_of_an_option_is_found),
		cmocka_unit_test(the_last_entries_can_be_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

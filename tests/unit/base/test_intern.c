/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/intern.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

static void number_zero_is_the_empty_string(void **state)
{
	struct intern intern;
	uint32_t id = 99;
	(void)state;

	assert_int_equal(intern_init(&intern, 10, 0), 0);
	assert_string_equal(intern_get(&intern, 0), "");
	assert_int_equal(intern_add(&intern, "", &id), 0);
	assert_int_equal(id, 0);
	intern_done(&intern);
}

static void equal_strings_share_a_number_and_others_do_not(void **state)
{
	struct intern intern;
	char text[16];
	uint32_t id;
	(void)state;

	assert_int_equal(intern_init(&intern, 5000, 0), 0);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 1; i < 3000; i++) {
			snprintf(text, sizeof(text), "name-%u", i);
			assert_int_equal(intern_add(&intern, text, &id), 0);
			assert_int_equal(id, i);
		}
	}
	assert_int_equal(intern.nr_strings, 3000);
	assert_string_equal(intern_get(&intern, 2999), "name-2999");
	intern_done(&intern);
}

static void pointers_stay_valid_while_the_table_grows(void **state)
{
	struct intern intern;
	char text[16];
	uint32_t id;
	(void)state;

	assert_int_equal(intern_init(&intern, 20000, 0), 0);
	assert_int_equal(intern_add(&intern, "first", &id), 0);
	const char *first = intern_get(&intern, id);
	for (uint32_t i = 0; i < 10000; i++) {
		snprintf(text, sizeof(text), "%u", i);
		assert_int_equal(intern_add(&intern, text, &id), 0);
	}
	assert_string_equal(first, "first");
	intern_done(&intern);
}

static void only_what_was_added_is_found(void **state)
{
	struct intern intern;
	uint32_t id = 99;
	(void)state;

	assert_int_equal(intern_init(&intern, 10, 0), 0);
	assert_int_equal(intern_find(&intern, "a", &id), -ENOENT);
	assert_int_equal(id, 99);
	assert_int_equal(intern_add(&intern, "a", &id), 0);
	assert_int_equal(intern_find(&intern, "a", &id), 0);
	assert_int_equal(id, 1);
	assert_int_equal(intern.nr_strings, 2);
	intern_done(&intern);
}

static void a_full_table_still_knows_what_it_has(void **state)
{
	struct intern intern;
	uint32_t id = 99;
	(void)state;

	assert_int_equal(intern_init(&intern, 3, 0), 0);
	assert_int_equal(intern_add(&intern, "a", &id), 0);
	assert_int_equal(intern_add(&intern, "b", &id), 0);
	assert_int_equal(intern_add(&intern, "c", &id), -ENOSPC);
	assert_int_equal(id, 2);
	assert_int_equal(intern_add(&intern, "a", &id), 0);
	assert_int_equal(id, 1);
	intern_done(&intern);
}

static void bytes_are_limited_too(void **state)
{
	struct intern intern;
	char text[1001];
	uint32_t id = 99;
	(void)state;

	memset(text, 'x', sizeof(text) - 1);
	text[1000] = '\0';
	assert_int_equal(intern_init(&intern, 100, 1000), 0);
	assert_int_equal(intern_add(&intern, text, &id), -ENOSPC);
	assert_int_equal(id, 99);
	assert_int_equal(intern_add(&intern, "short", &id), 0);
	assert_int_equal(id, 1);
	intern_done(&intern);
}

static void a_table_without_room_for_the_empty_string_is_refused(void **state)
{
	struct intern intern;
	(void)state;

	assert_int_equal(intern_init(&intern, 0, 0), -ENOSPC);
	assert_int_equal(intern_init(&intern, 10, 1), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(number_zero_is_the_empty_string),
		cmocka_unit_test(equal_strings_share_a_number_and_others_do_not),
		cmocka_unit_test(pointers_stay_valid_while_the_table_grows),
		cmocka_unit_test(only_what_was_added_is_found),
		cmocka_unit_test(a_full_table_still_knows_what_it_has),
		cmocka_unit_test(bytes_are_limited_too),
		cmocka_unit_test(a_table_without_room_for_the_empty_string_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

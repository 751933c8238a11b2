/* SPDX-License-Identifier: Apache-2.0 */
#include "store/trigger_spell.h"
#include "unit.h"

#include <string.h>

#define LIMIT 10.0

/* Pushes a second for each character: '^' above the limit, '-' between 0.8 of it and it, '_' below.
 * Returns a text with E where a spell begins, L where it ends, '.' within and ' ' outside. */
static const char *push(const char *values, char result[static 64])
{
	static const char letters[] = {
		[TRIGGER_STEP_NONE] = ' ',
		[TRIGGER_STEP_ENTERS] = 'E',
		[TRIGGER_STEP_LASTS] = '.',
		[TRIGGER_STEP_LEAVES] = 'L',
	};
	struct trigger_spell spell = { 0 };
	size_t i;

	for (i = 0; values[i]; i++) {
		double value = values[i] == '^' ? LIMIT + 1 : values[i] == '-' ? LIMIT - 1 : 1;

		result[i] =
			letters[trigger_spell_push(&spell, value, LIMIT, TRIGGER_SPELL_ENTER_S)];
	}
	result[i] = '\0';
	return result;
}

static void two_of_three_seconds_begin_a_spell(void **state)
{
	(void)state;
	char result[64];

	assert_string_equal(push("^__^__", result), "      ");
	assert_string_equal(push("^^", result), " E");
	assert_string_equal(push("^_^", result), "  E");
	assert_string_equal(push("--------", result), "        ");
}

static void ten_low_seconds_end_it(void **state)
{
	(void)state;
	char result[64];

	assert_string_equal(push("^^__________", result), " E.........L");
	assert_string_equal(push("^^_________-__________", result), " E...................L");
	assert_string_equal(push("^^--------------", result), " E..............");
	assert_string_equal(push("^^_________^_________^", result), " E....................");
}

static void a_second_spell_may_follow(void **state)
{
	(void)state;
	char result[64];

	assert_string_equal(push("^^__________^^", result), " E.........L E");
}

static void a_spell_is_idle_until_a_second_is_high(void **state)
{
	(void)state;
	struct trigger_spell spell = { 0 };

	assert_true(trigger_spell_is_idle(&spell) && trigger_spell_is_new(&spell));
	(void)trigger_spell_push(&spell, LIMIT + 1, LIMIT, TRIGGER_SPELL_ENTER_S);
	assert_false(trigger_spell_is_idle(&spell) || trigger_spell_is_new(&spell));
	(void)trigger_spell_push(&spell, 0, LIMIT, TRIGGER_SPELL_ENTER_S);
	(void)trigger_spell_push(&spell, 0, LIMIT, TRIGGER_SPELL_ENTER_S);
	assert_true(trigger_spell_is_new(&spell));
	(void)trigger_spell_push(&spell, 0, LIMIT, TRIGGER_SPELL_ENTER_S);
	assert_true(trigger_spell_is_idle(&spell));
}

static void one_second_may_be_enough(void **state)
{
	(void)state;
	struct trigger_spell spell = { 0 };

	assert_int_equal(trigger_spell_push(&spell, LIMIT, LIMIT, 1), TRIGGER_STEP_NONE);
	assert_int_equal(trigger_spell_push(&spell, LIMIT + 1, LIMIT, 1), TRIGGER_STEP_ENTERS);
	assert_int_equal(trigger_spell_push(&spell, 0, LIMIT, 1), TRIGGER_STEP_LASTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_of_three_seconds_begin_a_spell),
		cmocka_unit_test(ten_low_seconds_end_it),
		cmocka_unit_test(a_second_spell_may_follow),
		cmocka_unit_test(one_second_may_be_enough),
		cmocka_unit_test(a_spell_is_idle_until_a_second_is_high),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/regex_size.h"

#include "unit.h"

#include <regex.h>
#include <string.h>

#define TEXT_BYTES 1024
#define NR_NESTED 40

static void usual_expressions_are_small(void **state)
{
	static const char *const texts[] = {
		"",
		"web.*",
		"web-[0-9a-f]{8,10}-[0-9a-z]{5}",
		"(api|web|db)-[0-9]+",
		"[^()+]+[]+[:alpha:]]*",
		"a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q+r+s+t+",
		"\\(\\+\\{x",
		"(([a-z]+[0-9]*)+-)*x",
		"a{900}",
		"a{,5}",
		"a{x}",
		")(",
		"[",
		"a\\",
	};
	(void)state;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!regex_size_is_small(texts[i]))
			fail_msg("%s", texts[i]);
}

static void copies_of_copies_are_not(void **state)
{
	static const char *const texts[] = {
		"((a{255}){255}){255}",
		"((a{1,255}){1,255}){1,255}",
		"(a{200}){200}",
		"a{100}{101}",
		"a{3000}",
		"a{99999999999999999999999}",
		"(a{5000,}b{5000,})",
		"([)]{200}){200}",
		"([[.].]]{200}){200}",
		"([]]{200}){200}",
		"([^]]{200}){200}",
		"(\\({200}){200}",
	};
	(void)state;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (regex_size_is_small(texts[i]))
			fail_msg("%s", texts[i]);
}

static void nested_repetitions_are_not(void **state)
{
	char text[TEXT_BYTES] = "";
	(void)state;

	memset(text, '(', NR_NESTED);
	text[NR_NESTED] = 'a';
	for (size_t i = NR_NESTED + 1; i < 3 * NR_NESTED; i += 2) {
		text[i] = ')';
		text[i + 1] = '+';
	}
	assert_false(regex_size_is_small(text));
}

static void deep_parentheses_are_not(void **state)
{
	char text[TEXT_BYTES] = "";
	(void)state;

	memset(text, '(', 500);
	assert_false(regex_size_is_small(text));
}

static void back_references_are_not(void **state)
{
	(void)state;
	assert_false(regex_size_is_small("(.*)\\1"));
	assert_true(regex_size_is_small("(.*)[\\1]"));
}

/* The largest that passes is compiled. */
static void what_is_small_is_compiled(void **state)
{
	static const char *const texts[] = { "a{999}", "((a{0,10}){0,10}){0,8}",
					     "(([a-z]{9}){9}){8}" };
	regex_t regex;
	(void)state;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_true(regex_size_is_small(texts[i]));
		assert_int_equal(regcomp(&regex, texts[i], REG_EXTENDED | REG_NOSUB), 0);
		regfree(&regex);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_expressions_are_small),
		cmocka_unit_test(copies_of_copies_are_not),
		cmocka_unit_test(nested_repetitions_are_not),
		cmocka_unit_test(deep_parentheses_are_not),
		cmocka_unit_test(back_references_are_not),
		cmocka_unit_test(what_is_small_is_compiled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

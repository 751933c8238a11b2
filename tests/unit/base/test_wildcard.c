/* SPDX-License-Identifier: Apache-2.0 */
#include "base/wildcard.h"

#include "base/err.h"
#include "unit.h"

static void a_star_matches_any_end(void **state)
{
	(void)state;
	assert_true(wildcard_matches("k8s.pod.name", "k8s.pod.name"));
	assert_true(wildcard_matches("k8s.*", "k8s.pod.name"));
	assert_true(wildcard_matches("k8s.*", "k8s."));
	assert_true(wildcard_matches("*", "anything"));
	assert_false(wildcard_matches("k8s.*", "k8s"));
	assert_false(wildcard_matches("k8s.pod", "k8s.pod.name"));
	assert_false(wildcard_matches("k8s.*.name", "k8s.pod.name"));
	assert_false(wildcard_matches("", "x"));
}

static void any_pattern_of_a_list_may_match(void **state)
{
	static const char *const list[] = { "app", "example.com/*", "team*x", "" };
	static const struct {
		const char *text;
		bool matches;
	} cases[] = {
		{ "app", true },
		{ "example.com/", true },
		{ "example.com/a/b", true },
		{ "team*x", true },
		{ "", true },

		{ "ap", false },
		{ "apps", false },
		{ "App", false },
		{ "example.com", false },
		{ "www.example.com/a", false },
		{ "teamax", false },
		{ "*", false },
	};
	static const char *const all[] = { "*" };
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		assert_int_equal(wildcard_matches_any(list, array_len(list), cases[i].text),
				 cases[i].matches);
		assert_true(wildcard_matches_any(all, 1, cases[i].text));
		assert_false(wildcard_matches_any(NULL, 0, cases[i].text));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_star_matches_any_end),
		cmocka_unit_test(any_pattern_of_a_list_may_match),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

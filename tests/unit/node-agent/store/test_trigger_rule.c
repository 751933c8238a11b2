/* SPDX-License-Identifier: Apache-2.0 */
#include "store/trigger_rule.h"

#include "base/cleanup.h"
#include "unit.h"

#include <math.h>
#include <string.h>

static void rules_are_read(void **state)
{
	(void)state;
	static const struct {
		const char *text, *usual, *pattern;
		double limit;
	} cases[] = {
		{ "pod-cpu>150%", "pod-cpu > 150%", "", 1.5 },
		{ "  pod-cpu   >  150%  ", "pod-cpu > 150%", "", 1.5 },
		{ "pod-cpu of shop/web-* > 12.5%", "pod-cpu of shop/web-* > 12.5%", "shop/web-*",
		  0.125 },
		{ "process-cpu of cc1plus>80%", "process-cpu of cc1plus > 80%", "cc1plus", 0.8 },
		{ "pod-cpu-surge > 3", "pod-cpu-surge > 3", "", 3 },
		{ "node-cpu > 90%", "node-cpu > 90%", "", 0.9 },
		{ "cpu of 3 > 95%", "cpu of 3 > 95%", "3", 0.95 },
		{ "cpu > 95%", "cpu > 95%", "", 0.95 },
		{ "memory-growth > 200M", "memory-growth > 200M", "", 200 << 20 },
		{ "run-queue > 2.5", "run-queue > 2.5", "", 2.5 },
		{ "forks > 0", "forks > 0", "", 0 },
		{ "oom-kills > 0", "oom-kills > 0", "", 0 },
		{ "tick-delay > 200ms", "tick-delay > 200ms", "", 0.2 },
		{ "psi-memory> 10%", "psi-memory > 10%", "", 0.1 },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(1024);
		struct trigger_rule rule;

		assert_int_equal(trigger_rule_parse(cases[i].text, &message, &rule), 0);
		assert_string_equal(rule.text, cases[i].usual);
		assert_string_equal(rule.pattern, cases[i].pattern);
		assert_true(fabs(rule.limit - cases[i].limit) < 1e-9);
		assert_int_equal(message.len, 0);
	}
}

static void others_are_refused_with_a_hint(void **state)
{
	(void)state;
	static const struct {
		const char *text, *hint;
	} cases[] = {
		{ "", "what to measure; one of: node-cpu," },
		{ "   ", "what to measure" },
		{ "> 5%", "what to measure" },
		{ "pod-cup > 5%", "did you mean pod-cpu?" },
		{ "temperature > 5%", "known are: node-cpu," },
		{ "POD-CPU > 5%", "known are" },
		{ "pod-cpu", "such as \"pod-cpu > 80%\"" },
		{ "pod-cpu < 5%", "\">\" and a limit must follow" },
		{ "pod-cpu of shop/web", "\">\" must follow, and a number and %" },
		{ "pod-cpu of > 5%", "behind \"of\", a name" },
		{ "pod-cpu of a b > 5%", "\">\" must follow" },
		{ "node-cpu of a > 5%", "leave out \"of a\"" },
		{ "pod-cpu >", "\"\" is no limit" },
		{ "pod-cpu > 5", "write a number and %" },
		{ "pod-cpu > %", "is no limit" },
		{ "pod-cpu > -5%", "is no limit" },
		{ "pod-cpu > 5.%", "is no limit" },
		{ "pod-cpu > .5%", "is no limit" },
		{ "pod-cpu > 1e9%", "is no limit" },
		{ "pod-cpu > 0x10%", "is no limit" },
		{ "pod-cpu > nan%", "is no limit" },
		{ "pod-cpu > 5% > 6%", "is no limit" },
		{ "pod-cpu > 999999999999999999999%", "is no limit" },
		{ "pod-cpu-surge > 3%", "number of times the usual" },
		{ "pod-cpu-surge > 0.5", "write 1 or more" },
		{ "memory-growth > 10%", "bytes per second" },
		{ "memory-growth > 99999999999999G", "bytes per second" },
		{ "tick-delay > 5%", "a time, such as 200ms" },
		{ "tick-delay > -1s", "is no limit" },
		{ "forks > 10 per second", "is no limit" },
		{ "pod-cpu of \x1b[2J > 5%", "only printable ASCII" },
		{ "psi-memory\t>\t10%", "only printable ASCII" },
		{ "pod-cpu of \xc3\xa4 > 5%", "only printable ASCII" },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(1024);
		struct trigger_rule rule = { .limit = 42 };

		assert_int_equal(trigger_rule_parse(cases[i].text, &message, &rule), -EINVAL);
		assert_non_null(strstr(strbuf_str(&message), cases[i].hint));
		assert_true(rule.limit == 42);
	}
}

static void a_rule_that_is_too_long_is_refused(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(1024);
	char text[2 * TRIGGER_RULE_BYTES];
	struct trigger_rule rule;

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(trigger_rule_parse(text, &message, &rule), -EINVAL);
	assert_non_null(strstr(strbuf_str(&message), "longer than"));
}

static void a_pattern_matches_what_is_behind_the_noun(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(1024);
	struct trigger_rule rule;

	assert_int_equal(trigger_rule_parse("pod-cpu of shop/* > 1%", &message, &rule), 0);
	assert_true(trigger_rule_matches(&rule, "pod shop/web-1"));
	assert_false(trigger_rule_matches(&rule, "pod other/web-1"));
	assert_int_equal(trigger_rule_parse("pod-cpu > 1%", &message, &rule), 0);
	assert_true(trigger_rule_matches(&rule, "pod other/web-1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_read),
		cmocka_unit_test(others_are_refused_with_a_hint),
		cmocka_unit_test(a_rule_that_is_too_long_is_refused),
		cmocka_unit_test(a_pattern_matches_what_is_behind_the_noun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

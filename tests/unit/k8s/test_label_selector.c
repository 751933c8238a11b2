/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/label_selector.h"

#include "torture.h"
#include "unit.h"

#include <string.h>

#define X10 "xxxxxxxxxx"
#define X60 X10 X10 X10 X10 X10 X10
#define X250 X60 X60 X60 X60 X10

static const struct pod_attribute labels[] = {
	{ "app", "web" },
	{ "tier", "front" },
	{ "empty", "" },
	{ "in", "notin" },
	{ "example.com/team", "Blue_1.x" },
	{ "app.kubernetes.io/name", "cart" },
};

static struct label_selector *parse_ok(const char *text)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);
	struct label_selector *selector = NULL;

	assert_int_equal(label_selector_parse(text, &message, &selector), 0);
	assert_string_equal(strbuf_str(&message), "");
	return selector;
}

static bool matches(const char *text)
{
	_cleanup_(label_selector_freep) struct label_selector *selector = parse_ok(text);

	return label_selector_matches(selector, labels, array_len(labels));
}

static void labels_that_fulfil_all_requirements_match(void **state)
{
	static const char *const texts[] = {
		"",
		" \t\r\n",
		"app",
		"app=web",
		"app==web",
		" app = web ",
		"app!=db",
		"absent!=db",
		"absent!=",
		"!absent",
		"! absent",
		"empty=",
		"empty==,app",
		"empty",
		"app in (web)",
		"app in (db, web)",
		"app in(web)",
		"app\tin\n( db ,web )",
		"empty in (,)",
		"empty in (a,)",
		"empty in (,a)",
		"empty in (a,,b)",
		"app notin (db)",
		"absent notin (web)",
		"app=web,tier!=db,tier in (front,back),!canary,in",
		"in",
		"in=notin",
		"in in (in,notin)",
		"!notin",
		"notin notin (in)",
		"example.com/team=Blue_1.x",
		"app.kubernetes.io/name in (cart)",
		"app=web,app=web,app",
	};
	(void)state;

	for (size_t i = 0; i < array_len(texts); i++)
		assert_true(matches(texts[i]));
}

static void labels_that_miss_one_do_not_match(void **state)
{
	static const char *const texts[] = {
		"absent",
		"!app",
		"! app",
		"app=db",
		"app=",
		"app=WEB",
		"app!=web",
		"absent=",
		"absent=x",
		"empty!=",
		"empty=x",
		"app in (db)",
		"app in (,)",
		"absent in (,)",
		"absent in (x)",
		"app notin (db,web)",
		"empty notin (,)",
		"app=web,app=db",
		"app,absent",
		"!absent,app!=web",
		"team=Blue_1.x",
		"example.com/tea",
		"in=in",
		"in notin (notin)",
		"empty notin (a,)",
		"App=web",
		"app=web,tier=db",
	};
	(void)state;

	for (size_t i = 0; i < array_len(texts); i++)
		assert_false(matches(texts[i]));
}

struct refusal {
	const char *text;
	const char *message;
};

#define KEY "a label's key, like team or example.com/team"
#define VALUE "a label's value (at most 63 letters, digits and \"-_.\")"
#define OPERATION "\"=\", \"!=\", \"in\", \"notin\" or \",\""

static const struct refusal refusals[] = {
	{ ",", "character 1: \",\"; expected " KEY },
	{ "app,", "character 5: the selector ends; expected " KEY },
	{ "app,,tier", "character 5: \",\"; expected " KEY },
	{ "=web", "character 1: \"=\"; expected " KEY },
	{ "!", "character 2: the selector ends; expected " KEY },
	{ "!!app", "character 2: \"!\"; expected " KEY },
	{ "!app=web", "character 5: \"=\"; expected \",\" or the end" },
	{ "!app in (web)", "character 6: \"in\"; expected \",\" or the end" },
	{ "app web", "character 5: \"web\"; expected " OPERATION },
	{ "app !tier", "character 5: \"!\"; expected " OPERATION },
	{ "app > 5", "character 5: \">\"; expected " OPERATION },
	{ "app IN (web)", "character 5: \"IN\"; expected " OPERATION },
	{ "app=web tier", "character 9: \"tier\"; expected \",\" or the end" },
	{ "app===web", "character 6: \"=\"; expected a value" },
	{ "app=!web", "character 5: \"!\"; expected a value" },
	{ "app=(web)", "character 5: \"(\"; expected a value" },
	{ "app=web)", "character 8: \")\"; expected \",\" or the end" },
	{ "app in", "character 7: the selector ends; expected \"(\"" },
	{ "app in web", "character 8: \"web\"; expected \"(\"" },
	{ "app in (", "character 9: the selector ends; expected \",\" or \")\"" },
	{ "app in (web", "character 12: the selector ends; expected \",\" or \")\"" },
	{ "app in (web db)", "character 13: \"db\"; expected \",\" or \")\"" },
	{ "app in (web,=)", "character 13: \"=\"; expected \",\" or \")\"" },
	{ "app in ()", "character 9: \")\"; expected a value" },
	{ "app notin ( )", "character 13: \")\"; expected a value" },
	{ "app in (web))", "character 13: \")\"; expected \",\" or the end" },
	{ "app in ((web))", "character 9: \"(\"; expected \",\" or \")\"" },
	{ "-app", "character 1: \"-app\"; expected " KEY },
	{ "app.", "character 1: \"app.\"; expected " KEY },
	{ "a*", "character 1: \"a*\"; expected " KEY },
	{ "/app", "character 1: \"/app\"; expected " KEY },
	{ "a/", "character 1: \"a/\"; expected " KEY },
	{ "a/b/c", "character 1: \"a/b/c\"; expected " KEY },
	{ "Example.com/team", "character 1: \"Example.com/team\"; expected " KEY },
	{ "a..b/team", "character 1: \"a..b/team\"; expected " KEY },
	{ "a./team", "character 1: \"a./team\"; expected " KEY },
	{ "-a/team", "character 1: \"-a/team\"; expected " KEY },
	{ "a-/team", "character 1: \"a-/team\"; expected " KEY },
	{ "a_b/team", "character 1: \"a_b/team\"; expected " KEY },
	{ "\xc3\xa9", "character 1: \"\xc3\xa9\"; expected " KEY },
	{ X60 "xxxx", "character 1: \"" X60 "xxxx\"; expected " KEY },
	{ X250 "xxxx/a", "character 1: \"" X250 "xxxx/a\"; expected " KEY },
	{ "app=-web", "character 5: \"-web\"; expected " VALUE },
	{ "app=web_", "character 5: \"web_\"; expected " VALUE },
	{ "app=a/b", "character 5: \"a/b\"; expected " VALUE },
	{ "app in (web,\"db\")", "character 13: \"\"db\"\"; expected " VALUE },
	{ "app=" X60 "xxxx", "character 5: \"" X60 "xxxx\"; expected " VALUE },
};

static void what_is_no_selector_is_refused_with_the_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(refusals); i++) {
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);
		struct label_selector *selector = NULL;

		assert_int_equal(label_selector_parse(refusals[i].text, &message, &selector),
				 -EINVAL);
		assert_string_equal(strbuf_str(&message), refusals[i].message);
		assert_null(selector);
	}
}

static void the_longest_keys_and_values_are_taken(void **state)
{
	(void)state;
	assert_false(matches(X60 "xxx"));
	assert_false(matches(X250 "xxx/" X60 "xxx=" X60 "xxx"));
}

static void long_selectors_are_refused(void **state)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(8192);
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);
	struct label_selector *selector = NULL;
	(void)state;

	for (size_t i = 0; i < LABEL_SELECTOR_MAX_REQUIREMENTS - 1; i++)
		strbuf_append_str(&text, "app,");
	strbuf_append_str(&text, "app");
	label_selector_free(parse_ok(strbuf_str(&text)));
	strbuf_append_str(&text, ",app");
	assert_int_equal(label_selector_parse(strbuf_str(&text), &message, &selector), -ENOSPC);
	assert_string_equal(strbuf_str(&message),
			    "too long; at most 4096 bytes and 64 requirements");

	strbuf_clear(&text);
	while (text.len <= LABEL_SELECTOR_MAX_BYTES)
		strbuf_append_char(&text, ' ');
	assert_int_equal(label_selector_parse(strbuf_str(&text), &message, &selector), -ENOSPC);
	strbuf_truncate(&text, LABEL_SELECTOR_MAX_BYTES);
	label_selector_free(parse_ok(strbuf_str(&text)));
	assert_null(selector);
}

static void want_of_memory_leaves_nothing_behind(void **state)
{
	_cleanup_(label_selector_freep) struct label_selector *selector = NULL;
	struct strbuf message = strbuf_with_max(4096);
	unsigned int n = 1;
	(void)state;

	for (;; n++) {
		torture_begin(n);
		int r = label_selector_parse("app=web,tier in (a,b),!c", &message, &selector);
		if (!torture_end())
			break;
		assert_int_equal(r, -ENOMEM);
		assert_null(selector);
	}
	assert_true(n > 3);
	assert_non_null(selector);
}

static void requirements_are_matchers_of_samples(void **state)
{
	(void)state;
	static const struct {
		const char *selector, *matchers;
	} cases[] = {
		{ "app=web", ",l.app=~\"web\"" },
		{ "app==v1.2", ",l.app=~\"v1[.]2\"" },
		{ "app!=web", ",l.app!~\"web\"" },
		{ "app in (web,api)", ",l.app=~\"web|api\"" },
		{ "app notin (web,api)", ",l.app!~\"web|api\"" },
		{ "acme.io/team", ",l.acme.io/team!=\"\"" },
		{ "!canary", ",l.canary=\"\"" },
		{ "a=b,!c", ",l.a=~\"b\",l.c=\"\"" },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(label_selector_freep) struct label_selector *selector = NULL;
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(4096);

		assert_int_equal(label_selector_parse(cases[i].selector, &message, &selector), 0);
		label_selector_append_matchers(selector, "l.", &out);
		assert_string_equal(strbuf_str(&out), cases[i].matchers);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requirements_are_matchers_of_samples),
		cmocka_unit_test(labels_that_fulfil_all_requirements_match),
		cmocka_unit_test(labels_that_miss_one_do_not_match),
		cmocka_unit_test(what_is_no_selector_is_refused_with_the_place),
		cmocka_unit_test(the_longest_keys_and_values_are_taken),
		cmocka_unit_test(long_selectors_are_refused),
		cmocka_unit_test(want_of_memory_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

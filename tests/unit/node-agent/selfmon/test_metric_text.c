/* SPDX-License-Identifier: Apache-2.0 */
#include "selfmon/metric_text.h"

#include "base/cleanup.h"

#include "hostile_names.h"

#define MAX_BYTES 4096

static void a_family_has_a_head_and_its_samples(void **state)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_BYTES);
	const struct metric_series plain = { .family = "a_total" };
	const struct metric_series labelled = { "a_total", "reason", "full" };
	(void)state;

	metric_text_head(&text, "a_total", METRIC_COUNTER, "What is counted.");
	metric_text_count(&text, &plain, 0);
	metric_text_count(&text, &labelled, UINT64_MAX);
	assert_string_equal(strbuf_str(&text), "# HELP a_total What is counted.\n"
					       "# TYPE a_total counter\n"
					       "a_total 0\n"
					       "a_total{reason=\"full\"} 18446744073709551615\n");
}

static void times_are_exact_seconds(void **state)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_BYTES);
	const struct metric_series series = { .family = "t_seconds" };
	(void)state;

	metric_text_head(&text, "t_seconds", METRIC_GAUGE, "Time.");
	metric_text_ns(&text, &series, 0);
	metric_text_ns(&text, &series, 1);
	metric_text_ns(&text, &series, UINT64_C(1763735000000000042));
	assert_string_equal(strbuf_str(&text), "# HELP t_seconds Time.\n"
					       "# TYPE t_seconds gauge\n"
					       "t_seconds 0.000000000\n"
					       "t_seconds 0.000000001\n"
					       "t_seconds 1763735000.000000042\n");
}

static void odd_characters_cannot_end_a_text(void **state)
{
	static const struct {
		const char *value;
		const char *text;
	} cases[] = {
		{ "", "m{l=\"\"} 1\n" },
		{ "a\"} 2\nx 3", "m{l=\"a\\\"} 2\\\\x0ax 3\"} 1\n" },
		{ "back\\slash", "m{l=\"back\\\\slash\"} 1\n" },
		{ "\xc3\xa4", "m{l=\"\xc3\xa4\"} 1\n" },
		{ "cut \xc3", "m{l=\"cut \\\\xc3\"} 1\n" },
		{ "\xff\"", "m{l=\"\\\\xff\\\"\"} 1\n" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_BYTES);
		const struct metric_series series = { "m", "l", cases[i].value };

		metric_text_count(&text, &series, 1);
		assert_string_equal(strbuf_str(&text), cases[i].text);
	}
}

static void a_help_is_one_line(void **state)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_BYTES);
	(void)state;

	metric_text_head(&text, "m", METRIC_GAUGE, "A \"word\",\na \\ and \xff.");
	assert_string_equal(strbuf_str(&text),
			    "# HELP m A \"word\",\\\\x0aa \\\\ and \\\\xff.\n# TYPE m gauge\n");
}

static void any_text_leaves_printable(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_BYTES);
		const struct metric_series series = { "m", "l", hostile_names[i].name };

		metric_text_head(&text, "m", METRIC_GAUGE, hostile_names[i].name);
		metric_text_count(&text, &series, 1);
		assert_printable(text.data, text.len, true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_family_has_a_head_and_its_samples),
		cmocka_unit_test(times_are_exact_seconds),
		cmocka_unit_test(odd_characters_cannot_end_a_text),
		cmocka_unit_test(a_help_is_one_line),
		cmocka_unit_test(any_text_leaves_printable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

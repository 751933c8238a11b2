/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strview.h"

#include "unit.h"

#include <string.h>

static struct span span(const char *text)
{
	return span_of(text, 100);
}

static void assert_span(struct span got, const char *want)
{
	if (!span_is(got, want))
		fail_msg("got \"%.*s\", not \"%s\"", (int)got.len, got.text, want);
}

static void parts_are_cut_off_one_by_one(void **state)
{
	struct span rest = span("a//bc/");
	struct span part;

	(void)state;
	for (const char *const *want = (const char *const[]){ "a", "", "bc", "", NULL }; *want;
	     want++) {
		assert_true(span_next(&rest, '/', &part));
		assert_span(part, *want);
	}
	assert_false(span_next(&rest, '/', &part));
	rest = span("");
	assert_true(span_next(&rest, '/', &part));
	assert_span(part, "");
	assert_false(span_next(&rest, '/', &part));
}

static void ends_are_compared_and_taken_away(void **state)
{
	(void)state;
	assert_span(span_without_prefix(span("a.b"), "a."), "b");
	assert_span(span_without_prefix(span("a.b"), "b"), "a.b");
	assert_span(span_without_prefix(span("a"), "ab"), "a");
	assert_span(span_without_suffix(span("a.b"), ".b"), "a");
	assert_span(span_without_suffix(span("a.b"), "a"), "a.b");
	assert_span(span_without_suffix(span(".b"), ".b"), "");
	assert_span(span_behind_last(span("a-b-c"), '-'), "c");
	assert_span(span_behind_last(span("a-"), '-'), "");
	assert_span(span_behind_last(span("a"), '-'), "a");
	assert_span(span_behind_last(span(""), '-'), "");
	assert_true(span_starts_with(span(""), ""));
	assert_false(span_ends_with(span(""), "x"));
	assert_span(span_of("abcdef", 3), "abc");
	assert_true(span_has_only(span(""), "1"));
	assert_false(span_has_only((struct span){ "1\0", 2 }, "1"));
}

static void a_uuid_has_one_kind_of_separator(void **state)
{
	static const char *const wrong[] = {
		"",
		"5",
		"585f9714-",
		"585f9714-eb2f-48e0-1997-c21e901f3be",
		"585f9714-eb2f-48e0-1997-c21e901f3bee0",
		"585f9714-eb2f-48e0-1997-c21e901f3bee-",
		"585f9714_eb2f-48e0-1997-c21e901f3bee",
		"585f9714xeb2fx48e0x1997xc21e901f3bee",
		"585F9714-eb2f-48e0-1997-c21e901f3bee",
		"------------------------------------",
	};

	(void)state;
	assert_true(span_is_uuid(span("585f9714-eb2f-48e0-1997-c21e901f3bee")));
	assert_true(span_is_uuid(span("585f9714_eb2f_48e0_1997_c21e901f3bee")));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(span_is_uuid(span(wrong[i])));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_cut_off_one_by_one),
		cmocka_unit_test(ends_are_compared_and_taken_away),
		cmocka_unit_test(a_uuid_has_one_kind_of_separator),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

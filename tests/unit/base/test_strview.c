/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strview.h"

#include "unit.h"

#include <string.h>

static struct strview view(const char *text)
{
	return strview_of(text, 100);
}

static void assert_view(struct strview got, const char *want)
{
	if (!strview_is(got, want))
		fail_msg("got \"%.*s\", not \"%s\"", (int)got.len, got.text, want);
}

static void parts_are_cut_off_one_by_one(void **state)
{
	struct strview rest = view("a//bc/");
	struct strview part;

	(void)state;
	for (const char *const *want = (const char *const[]){ "a", "", "bc", "", NULL }; *want;
	     want++) {
		assert_true(strview_next(&rest, '/', &part));
		assert_view(part, *want);
	}
	assert_false(strview_next(&rest, '/', &part));
	rest = view("");
	assert_true(strview_next(&rest, '/', &part));
	assert_view(part, "");
	assert_false(strview_next(&rest, '/', &part));
}

static void ends_are_compared_and_taken_away(void **state)
{
	(void)state;
	assert_view(strview_without_prefix(view("a.b"), "a."), "b");
	assert_view(strview_without_prefix(view("a.b"), "b"), "a.b");
	assert_view(strview_without_prefix(view("a"), "ab"), "a");
	assert_view(strview_without_suffix(view("a.b"), ".b"), "a");
	assert_view(strview_without_suffix(view("a.b"), "a"), "a.b");
	assert_view(strview_without_suffix(view(".b"), ".b"), "");
	assert_view(strview_behind_last(view("a-b-c"), '-'), "c");
	assert_view(strview_behind_last(view("a-"), '-'), "");
	assert_view(strview_behind_last(view("a"), '-'), "a");
	assert_view(strview_behind_last(view(""), '-'), "");
	assert_true(strview_starts_with(view(""), ""));
	assert_false(strview_ends_with(view(""), "x"));
	assert_view(strview_of("abcdef", 3), "abc");
	assert_true(strview_has_only(view(""), "1"));
	assert_false(strview_has_only((struct strview){ "1\0", 2 }, "1"));
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
	assert_true(strview_is_uuid(view("585f9714-eb2f-48e0-1997-c21e901f3bee")));
	assert_true(strview_is_uuid(view("585f9714_eb2f_48e0_1997_c21e901f3bee")));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(strview_is_uuid(view(wrong[i])));
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

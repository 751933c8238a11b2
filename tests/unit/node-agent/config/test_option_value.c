/* SPDX-License-Identifier: Apache-2.0 */
#include "config/option_value.h"

#include "base/strbuf.h"
#include "config/options.h"
#include "profile/wait_reason.h"
#include "unit.h"

#include <string.h>

static void lists_of_urls_are_one_or_more(void **state)
{
	static const char *const lists[] = {
		"http://a",
		"HTTPS://a:8002/b",
		"http://a http://b",
		"  http://a   https://b/c?d  ",
	};
	char *field = NULL;
	(void)state;

	for (size_t i = 0; i < array_len(lists); i++) {
		assert_int_equal(value_store(&value_urls, lists[i], &field), 0);
		assert_string_equal(field, lists[i]);
	}
	value_clear(&value_urls, &field);
	assert_null(field);
}

static void other_lists_of_urls_are_refused(void **state)
{
	static const char *const lists[] = {
		"",
		" ",
		"debuginfod.example.org",
		"http://",
		"http:// a",
		"http://a https://",
		"http://a b",
		"http://a\tb",
		"http://a ftp://b",
		"http://a,b \n",
		"file:/a",
		"http://:80",
		"http://a /b",
		"ima:x",
		"http://a http://?",
	};
	char *field = NULL;
	(void)state;

	for (size_t i = 0; i < array_len(lists); i++)
		assert_int_equal(value_store(&value_urls, lists[i], &field), -EINVAL);
	assert_null(field);
}

static void a_list_of_urls_has_a_bound(void **state)
{
	struct strbuf list = strbuf_with_max(10000);
	char *field = NULL;
	(void)state;

	while (list.len < 4001)
		strbuf_append_str(&list, "http://a.example.org ");
	assert_int_equal(value_store(&value_urls, strbuf_str(&list), &field), -EINVAL);
	strbuf_done(&list);
	assert_null(field);
}

static void styles_of_names_are_three(void **state)
{
	static const char *const wrong[] = { "", "Full", "full ", "long", "0", "no" };
	enum option_demangle style = OPTION_DEMANGLE_NONE;
	(void)state;

	assert_int_equal(value_store(&value_demangle, "full", &style), 0);
	assert_int_equal(style, OPTION_DEMANGLE_FULL);
	assert_int_equal(value_store(&value_demangle, "none", &style), 0);
	assert_int_equal(style, OPTION_DEMANGLE_NONE);
	assert_int_equal(value_store(&value_demangle, "short", &style), 0);
	for (size_t i = 0; i < array_len(wrong); i++)
		assert_int_equal(value_store(&value_demangle, wrong[i], &style), -EINVAL);
	assert_int_equal(style, OPTION_DEMANGLE_SHORT);
}

static void runtimes_are_a_list_of_words(void **state)
{
	static const char *const wrong[] = { "", "python", "v8,", "preset", "cpython v8", "1" };
	unsigned int mask = 0;
	(void)state;

	assert_int_equal(value_store(&value_runtimes, "none", &mask), 0);
	assert_int_equal(mask, 0);
	assert_int_equal(value_store(&value_runtimes, "v8,cpython", &mask), 0);
	assert_int_equal(mask, 1 << 0 | 1 << 2);
	assert_int_equal(value_store(&value_runtimes, "all", &mask), 0);
	assert_int_equal(mask, 7);
	for (size_t i = 0; i < array_len(wrong); i++)
		assert_int_equal(value_store(&value_runtimes, wrong[i], &mask), -EINVAL);
}

static void reasons_are_those_of_the_profile(void **state)
{
	unsigned int mask = 0, all = 0;
	(void)state;

	for (enum wait_reason reason = REASON_NONE + 1; reason < REASON_NR; reason++) {
		assert_int_equal(value_store(&value_reasons, wait_reason_word(reason), &mask), 0);
		all |= 1U << (reason - 1);
		assert_int_equal(mask, all);
		assert_non_null(strstr(value_reasons.expected, wait_reason_word(reason)));
		assert_int_equal(wait_reason_from_word(wait_reason_word(reason)), reason);
	}
	assert_int_equal(wait_reason_from_word(""), REASON_NR);
	assert_int_equal(wait_reason_from_word("Disk"), REASON_NR);
}

static void kinds_are_a_list_of_at_least_one(void **state)
{
	static const char *const wrong[] = { "",     "none", "all", "preset", "off-cpu",
					     "cpu,", "wait", "hw:", "cycles", "hw:Cycles" };
	unsigned int kinds = 0;
	(void)state;

	assert_int_equal(value_store(&value_kinds, "offcpu", &kinds), 0);
	assert_int_equal(kinds, 1 << OPTION_KIND_OFF_CPU);
	assert_int_equal(value_store(&value_kinds, "cpu,offcpu", &kinds), 0);
	assert_int_equal(kinds, 1 << OPTION_KIND_CPU | 1 << OPTION_KIND_OFF_CPU);
	assert_int_equal(value_store(&value_kinds, "growth", &kinds), 0);
	assert_int_equal(kinds,
			 1 << OPTION_KIND_CPU | 1 << OPTION_KIND_OFF_CPU | 1 << OPTION_KIND_GROWTH);
	for (size_t i = 0; i < array_len(wrong); i++)
		assert_int_equal(value_store(&value_kinds, wrong[i], &kinds), -EINVAL);
}

static void ways_to_capture_are_three(void **state)
{
	static const char *const wrong[] = { "", "Perf", "perf ", "ebpf", "0" };
	enum option_capture capture = OPTION_CAPTURE_AUTO;
	(void)state;

	assert_int_equal(value_store(&value_capture, "bpf", &capture), 0);
	assert_int_equal(capture, OPTION_CAPTURE_BPF);
	assert_int_equal(value_store(&value_capture, "auto", &capture), 0);
	assert_int_equal(capture, OPTION_CAPTURE_AUTO);
	assert_int_equal(value_store(&value_capture, "perf", &capture), 0);
	for (size_t i = 0; i < array_len(wrong); i++)
		assert_int_equal(value_store(&value_capture, wrong[i], &capture), -EINVAL);
	assert_int_equal(capture, OPTION_CAPTURE_PERF);
}

static void copies_of_stacks_have_bounds(void **state)
{
	static const char *const wrong[] = { "0", "1016", "65536", "64K", "32769", "1G" };
	uint32_t bytes = 0;
	(void)state;

	assert_int_equal(value_store(&value_stack_bytes, "1K", &bytes), 0);
	assert_int_equal(bytes, 1024);
	assert_int_equal(value_store(&value_stack_bytes, "65528", &bytes), 0);
	for (size_t i = 0; i < array_len(wrong); i++)
		assert_int_equal(value_store(&value_stack_bytes, wrong[i], &bytes), -ERANGE);
	assert_int_equal(value_store(&value_stack_bytes, "much", &bytes), -EINVAL);
	assert_int_equal(bytes, 65528);
}

static void a_switch_is_on_or_off(void **state)
{
	static const char *const wrong[] = { "", "maybe", "2", "on off" };
	bool is_on = false;
	(void)state;

	assert_int_equal(value_store(&value_on_off, "on", &is_on), 0);
	assert_true(is_on);
	for (size_t i = 0; i < array_len(wrong); i++)
		assert_int_equal(value_store(&value_on_off, wrong[i], &is_on), -EINVAL);
	assert_true(is_on);
	assert_int_equal(value_store(&value_on_off, "off", &is_on), 0);
	assert_false(is_on);
}

static void log_levels_are_four_exact_words(void **state)
{
	static const char *const levels[] = { "error", "warn", "info", "debug" };
	static const char *const wrong[] = { "", "Info", "warning", "info " };
	enum log_level level = LOG_LEVEL_ERROR;
	(void)state;

	for (size_t i = 0; i < array_len(levels); i++) {
		assert_int_equal(value_store(&value_log_level, levels[i], &level), 0);
		assert_int_equal(level, LOG_LEVEL_ERROR + i);
	}
	for (size_t i = 0; i < array_len(wrong); i++)
		assert_int_equal(value_store(&value_log_level, wrong[i], &level), -EINVAL);
	assert_int_equal(level, LOG_LEVEL_DEBUG);
}

static void directories_are_absolute(void **state)
{
	static const char *const wrong[] = { "",	"debug",   "./debug",
					     "~/debug", " /debug", "/de\nbug" };
	char *field = NULL;
	(void)state;

	assert_int_equal(value_store(&value_directory, "/usr/lib/debug", &field), 0);
	for (size_t i = 0; i < array_len(wrong); i++)
		assert_int_equal(value_store(&value_directory, wrong[i], &field), -EINVAL);
	assert_string_equal(field, "/usr/lib/debug");
	value_clear(&value_directory, &field);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_of_urls_are_one_or_more),
		cmocka_unit_test(other_lists_of_urls_are_refused),
		cmocka_unit_test(a_list_of_urls_has_a_bound),
		cmocka_unit_test(styles_of_names_are_three),
		cmocka_unit_test(runtimes_are_a_list_of_words),
		cmocka_unit_test(reasons_are_those_of_the_profile),
		cmocka_unit_test(kinds_are_a_list_of_at_least_one),
		cmocka_unit_test(ways_to_capture_are_three),
		cmocka_unit_test(copies_of_stacks_have_bounds),
		cmocka_unit_test(a_switch_is_on_or_off),
		cmocka_unit_test(log_levels_are_four_exact_words),
		cmocka_unit_test(directories_are_absolute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "unit.h"

#include <string.h>
#include <wchar.h>

static void an_empty_buffer_reads_as_an_empty_string(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(16);

	assert_string_equal(strbuf_str(&buf), "");
	assert_int_equal(strbuf_error(&buf), 0);
	assert_null(buf.data);
}

static void appends_follow_each_other_and_end_in_nul(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(64);

	strbuf_append_str(&buf, "pod");
	strbuf_append_char(&buf, '/');
	strbuf_appendf(&buf, "%s-%d", "web", 7);
	strbuf_append(&buf, "\0x", 2);
	assert_int_equal(buf.len, 11);
	assert_memory_equal(buf.data, "pod/web-7\0x", 12);
}

static void numbers_are_decimal(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(64);

	strbuf_append_u64(&buf, 0);
	strbuf_append_char(&buf, ',');
	strbuf_append_u64(&buf, 10);
	strbuf_append_char(&buf, ',');
	strbuf_append_u64(&buf, UINT64_MAX);
	assert_string_equal(strbuf_str(&buf), "0,10,18446744073709551615");
}

static void content_grows_over_many_reallocations(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(1 << 20);

	for (unsigned int i = 0; i < 100000; i++)
		strbuf_append_char(&buf, (char)('a' + i % 26));
	assert_int_equal(strbuf_error(&buf), 0);
	assert_int_equal(buf.len, 100000);
	for (unsigned int i = 0; i < 100000; i++)
		assert_int_equal(buf.data[i], 'a' + i % 26);
}

static void the_limit_itself_fits_and_one_byte_more_does_not(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(4);

	strbuf_append_str(&buf, "1234");
	assert_int_equal(strbuf_error(&buf), 0);
	strbuf_append_char(&buf, '5');
	assert_int_equal(strbuf_error(&buf), -ENOSPC);
	assert_string_equal(strbuf_str(&buf), "1234");
}

static void everything_after_the_first_failure_is_ignored(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(4);

	strbuf_append_str(&buf, "12345");
	strbuf_append_str(&buf, "1");
	strbuf_appendf(&buf, "%d", 2);
	assert_null(strbuf_extend(&buf, 1));
	assert_int_equal(buf.len, 0);
	assert_int_equal(strbuf_error(&buf), -ENOSPC);
}

static void text_that_cannot_be_formatted_is_a_failure(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(100);

	strbuf_append_str(&buf, "a");
	strbuf_appendf(&buf, "%lc", (wint_t)0xd800); /* a surrogate has no bytes */
	assert_int_equal(strbuf_error(&buf), -EINVAL);
	assert_string_equal(strbuf_str(&buf), "a");
}

static void lengths_near_the_end_of_the_address_space_are_refused(void **state)
{
	static const size_t lengths[] = { SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 2, SIZE_MAX / 2 + 2 };
	(void)state;

	for (size_t i = 0; i < array_len(lengths); i++) {
		_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(SIZE_MAX / 2);

		strbuf_append_char(&buf, 'x');
		assert_null(strbuf_extend(&buf, lengths[i]));
		assert_int_equal(strbuf_error(&buf), -ENOSPC);
	}
}

static void a_buffer_without_limit_still_refuses_what_cannot_be_counted(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(SIZE_MAX);

	strbuf_append_char(&buf, 'x');
	assert_null(strbuf_extend(&buf, SIZE_MAX - 1));
	assert_int_equal(strbuf_error(&buf), -ENOSPC);
}

static void clearing_forgets_content_and_error_but_keeps_memory(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(4);

	strbuf_append_str(&buf, "1234");
	strbuf_append_str(&buf, "5");
	strbuf_clear(&buf);
	assert_int_equal(strbuf_error(&buf), 0);
	assert_string_equal(strbuf_str(&buf), "");
	assert_non_null(buf.data);
	strbuf_append_str(&buf, "ab");
	assert_string_equal(strbuf_str(&buf), "ab");
}

static void truncating_cuts_the_end_and_never_adds(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(16);

	strbuf_truncate(&buf, 0);
	strbuf_append_str(&buf, "abcdef");
	strbuf_truncate(&buf, 9);
	assert_string_equal(strbuf_str(&buf), "abcdef");
	strbuf_truncate(&buf, 2);
	assert_string_equal(strbuf_str(&buf), "ab");
	assert_int_equal(buf.len, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_buffer_reads_as_an_empty_string),
		cmocka_unit_test(appends_follow_each_other_and_end_in_nul),
		cmocka_unit_test(numbers_are_decimal),
		cmocka_unit_test(content_grows_over_many_reallocations),
		cmocka_unit_test(the_limit_itself_fits_and_one_byte_more_does_not),
		cmocka_unit_test(everything_after_the_first_failure_is_ignored),
		cmocka_unit_test(text_that_cannot_be_formatted_is_a_failure),
		cmocka_unit_test(lengths_near_the_end_of_the_address_space_are_refused),
		cmocka_unit_test(a_buffer_without_limit_still_refuses_what_cannot_be_counted),
		cmocka_unit_test(clearing_forgets_content_and_error_but_keeps_memory),
		cmocka_unit_test(truncating_cuts_the_end_and_never_adds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

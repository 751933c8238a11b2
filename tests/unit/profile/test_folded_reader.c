/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/folded_reader.h"

#include "torture.h"
#include "unit.h"

#include "base/cleanup.h"
#include "profile/folded.h"

#include <stdlib.h>
#include <string.h>

#define PLENTY_BYTES ((size_t)16 << 20)
#define MESSAGE_BYTES 1024

static int read_text(const char *text, size_t len, struct profile **ret_profile,
		     struct strbuf *message)
{
	/* In a copy of that length, reading too far is found. */
	_cleanup_free_ char *copy = malloc(len > 0 ? len : 1);

	assert_non_null(copy);
	memcpy(copy, text, len);
	return folded_read(copy, len, PLENTY_BYTES, ret_profile, message);
}

static void assert_read(const char *text, const char *expected)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(profile_unrefp) struct profile *profile = NULL;

	assert_int_equal(read_text(text, strlen(text), &profile, &message), 0);
	assert_int_equal(folded_encode(profile, &out), 0);
	assert_string_equal(strbuf_str(&out), expected);
	assert_int_equal(message.len, 0);
}

static void what_was_written_is_read(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"",
		"sh 3\n",
		"sh;main;run;do_syscall_64_[k] 3\n",
		"go;main.main_[g];f_[i];g_[i];read_[k];h_[i] 1\n",
		"py;Py_RunMain;work_[p];jit_[j] 2\nrs;main_[r];[too deep] 3\n",
		"a b;f(int, char) const 18446744073709551\n",
		"java;[folded] 1\njava;_[k] 1\n",
	};

	for (size_t i = 0; i < array_len(texts); i++)
		assert_read(texts[i], texts[i]);
}

static void equal_stacks_are_joined_and_remarks_are_skipped(void **state)
{
	(void)state;
	assert_read("# a remark 1\nsh;f 1\n\nsh;f 2\r\nsh;g 0\nsh;f 4", "sh;f 7\n");
}

static void marks_and_brackets_are_kinds(void **state)
{
	(void)state;
	static const char text[] = "a;main;f_[i];read_[k];[cut] 1\n";
	static const enum frame_kind kinds[] = { FRAME_STOP, FRAME_KERNEL, FRAME_NATIVE };
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_(profile_unrefp) struct profile *profile = NULL;

	assert_int_equal(read_text(text, strlen(text), &profile, &message), 0);
	assert_int_equal(profile->nr_samples, 1);
	const struct profile_stack *stack = &profile->stacks[profile->samples[0].stack];
	assert_int_equal(stack->nr, array_len(kinds));
	for (size_t i = 0; i < array_len(kinds); i++)
		assert_int_equal(
			profile->locations[profile->stack_locations[stack->first + i]].kind,
			kinds[i]);
	assert_int_equal(profile->duration_ns, 0);
	assert_int_equal(profile->period, 0);
}

static void malformed_text_is_refused_with_its_line(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		const char *message;
	} cases[] = {
		{ "sh;f", "line 1: expected frames, a blank and a count" },
		{ "sh;f 1\nsh;f\n", "line 2: expected frames, a blank and a count" },
		{ "12", "line 1: expected frames, a blank and a count" },
		{ "sh;f ", "line 1: the count at the end is not a whole number" },
		{ "sh;f 1 ", "line 1: the count at the end is not a whole number" },
		{ "sh;f x", "line 1: the count at the end is not a whole number" },
		{ "sh;f 1.5", "line 1: the count at the end is not a whole number" },
		{ "sh;f -1", "line 1: the count at the end is not a whole number" },
		{ "sh;f 0x10", "line 1: the count at the end is not a whole number" },
		{ "sh;f 99999999999999999999",
		  "line 1: the count at the end is not a whole number" },
		{ "sh;f 9223372036854775808", "line 1: the counts are too large" },
		{ "sh;f 9223372036854775807\nsh;f 1", "line 2: the counts are too large" },
		{ "\x1f\x8b", "line 1: expected frames, a blank and a count" },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
		struct profile *profile = NULL;

		assert_int_equal(
			read_text(cases[i].text, strlen(cases[i].text), &profile, &message),
			-EBADMSG);
		assert_string_equal(strbuf_str(&message), cases[i].message);
		assert_null(profile);
	}
}

static void bytes_that_are_no_text_are_refused(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	struct profile *profile = NULL;

	assert_int_equal(read_text("sh;f\0g 1", 8, &profile, &message), -EBADMSG);
	assert_string_equal(strbuf_str(&message), "line 1: it is not text");
}

static void what_is_too_large_is_refused(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(PLENTY_BYTES);
	struct profile *profile = NULL;

	for (size_t i = 0; i <= FOLDED_MAX_FRAMES + 1; i++)
		strbuf_append_str(&text, "f;");
	strbuf_append_str(&text, " 1");
	assert_int_equal(read_text(text.data, text.len, &profile, &message), -EBADMSG);
	assert_string_equal(strbuf_str(&message), "line 1: the stack has too many frames");

	strbuf_clear(&text);
	strbuf_clear(&message);
	for (size_t i = 0; i < 100000; i++)
		strbuf_append_char(&text, 'n');
	strbuf_append_str(&text, " 1");
	assert_int_equal(read_text(text.data, text.len, &profile, &message), -EBADMSG);
	assert_string_equal(strbuf_str(&message), "line 1: a name is too long");

	strbuf_clear(&message);
	assert_int_equal(folded_read("a;b 1", 5, 100, &profile, &message), -EFBIG);
	assert_non_null(strstr(strbuf_str(&message), "takes more than"));
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	static const char text[] = "a;main;f_[i];read_[k] 1\nb;main 2\n";
	bool has_failed = true;

	for (unsigned int n = 1; has_failed; n++) {
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
		_cleanup_(profile_unrefp) struct profile *profile = NULL;

		torture_begin(n);
		int r = folded_read(text, strlen(text), PLENTY_BYTES, &profile, &message);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(equal_stacks_are_joined_and_remarks_are_skipped),
		cmocka_unit_test(marks_and_brackets_are_kinds),
		cmocka_unit_test(malformed_text_is_refused_with_its_line),
		cmocka_unit_test(bytes_that_are_no_text_are_refused),
		cmocka_unit_test(what_is_too_large_is_refused),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

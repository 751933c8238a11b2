/* SPDX-License-Identifier: Apache-2.0 */
/* What is in the message is checked by tests/oracle/check_pprof.py, which decodes it with other
 * code. */
#include "profile/pprof.h"

#include "stacks.h"
#include "torture.h"
#include "unit.h"

#include <string.h>

#define PLENTY_BYTES (1 << 20)

static const struct stack_line lines[] = {
	{ "sh", "main;run;step_[i];do_syscall_64_[k]", 3 },
	{ "caf\xc3", "main;\xff<script>", 2 },
	{ "", "", 1 },
};

static void equal_profiles_give_equal_bytes(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf first = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(strbuf_done) struct strbuf second = strbuf_with_max(PLENTY_BYTES);
	struct strbuf *outs[] = { &first, &second };

	for (size_t i = 0; i < array_len(outs); i++) {
		_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(
			lines, array_len(lines));

		assert_int_equal(pprof_encode_gzip(profile, NULL, outs[i]), 0);
	}
	assert_memory_equal(first.data, "\x1f\x8b", 2);
	assert_int_equal(first.len, second.len);
	assert_memory_equal(first.data, second.data, first.len);
}

static void strings_become_valid_utf_8(void **state)
{
	(void)state;
	static const char *const wanted[] = { "caf\xef\xbf\xbd", "\xef\xbf\xbd<script>",
					      "a title" };
	const struct output_info info = { .title = "a title", .subtitle = "\xff" };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	assert_int_equal(pprof_encode(profile, &info, &out), 0);
	for (size_t i = 0; i < array_len(wanted); i++)
		assert_non_null(memmem(out.data, out.len, wanted[i], strlen(wanted[i])));
	assert_null(memmem(out.data, out.len, "\xff<script>", 9));
}

static void an_empty_profile_is_a_valid_message(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(NULL, 0);
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	assert_int_equal(pprof_encode(profile, NULL, &out), 0);
	assert_int_not_equal(out.len, 0);
}

static void the_buffer_s_limit_is_kept(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	size_t max = 0;

	for (int r = -ENOSPC; r < 0; max++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(max);

		r = pprof_encode(profile, NULL, &out);
		assert_true(r == 0 || r == -ENOSPC);
		assert_int_equal(strbuf_error(&out), r);
		assert_true(out.len <= max);
	}
	assert_in_range(max, 200, 2000);
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));

	for (unsigned int n = 1;; n++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		torture_begin(n);
		int r = pprof_encode_gzip(profile, NULL, &out);
		bool has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
		assert_int_equal(strbuf_error(&out), r);
		if (!has_failed)
			return;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_profiles_give_equal_bytes),
		cmocka_unit_test(strings_become_valid_utf_8),
		cmocka_unit_test(an_empty_profile_is_a_valid_message),
		cmocka_unit_test(the_buffer_s_limit_is_kept),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

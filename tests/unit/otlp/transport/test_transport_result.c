/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent takes of a worker that may be anybody's. */
#include "otlp/transport/transport_result.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/flat.h"
#include "unit.h"

#include <string.h>

#define LONGEST (OUTCOME_MESSAGE_BYTES - 1)

/* The numbers of a result, in their order, and its message. */
struct numbers {
	uint64_t error, status, has_grpc_status, grpc_status, verdict, was_answered, is_denied;
	uint64_t retry_after_ns, nr_rejected;
	const char *message;
};

static void append_numbers(struct strbuf *out, const struct numbers *numbers)
{
	flat_put_number(out, numbers->error);
	flat_put_number(out, numbers->status);
	flat_put_number(out, numbers->has_grpc_status);
	flat_put_number(out, numbers->grpc_status);
	flat_put_number(out, numbers->verdict);
	flat_put_number(out, numbers->was_answered);
	flat_put_number(out, numbers->is_denied);
	flat_put_number(out, numbers->retry_after_ns);
	flat_put_number(out, numbers->nr_rejected);
	flat_put_text(out, numbers->message);
}

static int read_numbers(const struct numbers *numbers, struct transport_result *ret_result)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(TRANSPORT_RESULT_MAX_BYTES);

	append_numbers(&out, numbers);
	assert_int_equal(strbuf_error(&out), 0);
	return transport_result_read(out.data, out.len, ret_result);
}

static void what_was_written_is_read(void **state)
{
	static const struct transport_result results[] = {
		{ .error = -ETIMEDOUT,
		  .outcome = { .verdict = OUTCOME_RETRY, .message = "no answer" } },
		{ .status = 200, .outcome = { .verdict = OUTCOME_DONE, .was_answered = true } },
		{ .status = 200,
		  .outcome = { .verdict = OUTCOME_DONE,
			       .was_answered = true,
			       .nr_rejected_profiles = UINT64_MAX,
			       .message = "caf\xc3\xa9" } },
		{ .status = 503,
		  .outcome = { .verdict = OUTCOME_RETRY,
			       .was_answered = true,
			       .retry_after_ns = OUTCOME_WAIT_MAX_S * NSEC_PER_SEC } },
		{ .status = 200,
		  .has_grpc_status = true,
		  .grpc_status = 16,
		  .outcome = { .verdict = OUTCOME_REFUSED,
			       .was_answered = true,
			       .is_denied = true } },
	};
	(void)state;

	for (size_t i = 0; i < array_len(results); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(
			TRANSPORT_RESULT_MAX_BYTES);
		struct transport_result result;

		transport_result_append(&out, &results[i]);
		assert_int_equal(strbuf_error(&out), 0);
		assert_int_equal(transport_result_read(out.data, out.len, &result), 0);
		assert_int_equal(result.error, results[i].error);
		assert_int_equal(result.status, results[i].status);
		assert_int_equal(result.has_grpc_status, results[i].has_grpc_status);
		assert_int_equal(result.grpc_status, results[i].grpc_status);
		assert_int_equal(result.outcome.verdict, results[i].outcome.verdict);
		assert_int_equal(result.outcome.was_answered, results[i].outcome.was_answered);
		assert_int_equal(result.outcome.is_denied, results[i].outcome.is_denied);
		assert_int_equal(result.outcome.retry_after_ns, results[i].outcome.retry_after_ns);
		assert_int_equal(result.outcome.nr_rejected_profiles,
				 results[i].outcome.nr_rejected_profiles);
		assert_int_equal(result.outcome.nr_bytes, 0);
		assert_string_equal(result.outcome.message, results[i].outcome.message);
	}
}

/* RETRY is 1, DONE 0, TOO_LARGE 2, REFUSED 3. */
static void what_cannot_be_is_refused(void **state)
{
	char long_text[LONGEST + 2], longest_text[LONGEST + 1];
	const struct {
		struct numbers numbers;
		int result;
	} cases[] = {
		{ { 110, 0, 0, 0, 1, 0, 0, 0, 0, "" }, 0 },
		{ { 0, 200, 0, 0, 0, 1, 0, 0, 7, "x" }, 0 },
		{ { 0, 999, 1, UINT32_MAX, 3, 1, 1, 0, 0, longest_text }, 0 },
		{ { 0, 429, 0, 0, 1, 1, 0, 1, 0, "" }, 0 },
		{ { 0, 413, 0, 0, 2, 1, 0, 0, 0, "" }, 0 },

		{ { 4096, 0, 0, 0, 1, 0, 0, 0, 0, "" }, -EBADMSG },
		{ { UINT64_MAX, 0, 0, 0, 1, 0, 0, 0, 0, "" }, -EBADMSG },
		{ { 0, 1000, 0, 0, 0, 1, 0, 0, 0, "" }, -EBADMSG },
		{ { 0, 200, 2, 0, 0, 1, 0, 0, 0, "" }, -EBADMSG },
		{ { 0, 200, 1, UINT64_C(1) << 32, 0, 1, 0, 0, 0, "" }, -EBADMSG },
		{ { 0, 200, 0, 0, 4, 1, 0, 0, 0, "" }, -EBADMSG },
		{ { 0, 200, 0, 0, 0, 2, 0, 0, 0, "" }, -EBADMSG },
		{ { 0, 200, 0, 0, 0, 1, 2, 0, 0, "" }, -EBADMSG },
		{ { 0, 503, 0, 0, 1, 1, 0, 3601 * NSEC_PER_SEC, 0, "" }, -EBADMSG },
		{ { 0, 200, 0, 0, 0, 1, 0, 0, 0, long_text }, -EBADMSG },
		{ { 0, 200, 0, 0, 0, 1, 0, 0, 0, "a\nb" }, -EBADMSG },
		{ { 0, 200, 0, 0, 0, 1, 0, 0, 0, "\x1b[31m" }, -EBADMSG },
		{ { 0, 200, 0, 0, 0, 1, 0, 0, 0, "\xc2\x9b" }, -EBADMSG },
		{ { 0, 200, 0, 0, 0, 1, 0, 0, 0, "\xff" }, -EBADMSG },
		{ { 0, 200, 0, 0, 0, 1, 0, 0, 0, "\xc3" }, -EBADMSG },
		/* contradictions */
		{ { 110, 200, 0, 0, 1, 0, 0, 0, 0, "" }, -EBADMSG },
		{ { 110, 0, 1, 0, 1, 0, 0, 0, 0, "" }, -EBADMSG },
		{ { 110, 0, 0, 0, 1, 1, 0, 0, 0, "" }, -EBADMSG },
		{ { 110, 0, 0, 0, 0, 0, 0, 0, 0, "" }, -EBADMSG },
		{ { 110, 0, 0, 0, 1, 0, 1, 0, 0, "" }, -EBADMSG },
		{ { 0, 200, 0, 0, 0, 0, 0, 0, 0, "" }, -EBADMSG },
		{ { 0, 200, 0, 0, 0, 1, 0, 1, 0, "" }, -EBADMSG },
		{ { 0, 400, 0, 0, 3, 1, 0, 0, 1, "" }, -EBADMSG },
	};
	(void)state;

	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	memset(longest_text, 'x', sizeof(longest_text) - 1);
	longest_text[sizeof(longest_text) - 1] = '\0';
	for (size_t i = 0; i < array_len(cases); i++) {
		struct transport_result result = { .status = 12345 };
		int r = read_numbers(&cases[i].numbers, &result);

		if (r != cases[i].result)
			fail_msg("case %zu: %d, not %d", i, r, cases[i].result);
		assert_int_equal(result.status == 12345, r < 0);
	}
}

static void every_length_but_the_right_one_is_refused(void **state)
{
	static const struct numbers numbers = { 0, 200, 0, 0, 0, 1, 0, 0, 0, "message" };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(TRANSPORT_RESULT_MAX_BYTES);
	struct transport_result result;
	(void)state;

	append_numbers(&out, &numbers);
	for (size_t len = 0; len < out.len; len++)
		assert_int_equal(transport_result_read(out.data, len, &result), -EBADMSG);
	assert_int_equal(transport_result_read(out.data, out.len, &result), 0);
	assert_int_equal(transport_result_read(out.data, out.len + 1, &result), -EBADMSG);
	assert_int_equal(transport_result_read(NULL, 0, &result), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(every_length_but_the_right_one_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

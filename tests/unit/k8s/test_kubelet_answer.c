/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent takes of a worker that may be anybody's: what it says of the request. The pods are
 * test_pod_block.c's. */
#include "k8s/kubelet_answer.h"

#include "base/cleanup.h"
#include "unit.h"

#include <string.h>

#define MAX_BYTES 4096

struct numbers {
	uint64_t stage, error, status, http_version, nr_bytes;
	const char *words;
};

static void append_numbers(struct strbuf *out, const struct numbers *numbers)
{
	flat_put_number(out, numbers->stage);
	flat_put_number(out, numbers->error);
	flat_put_number(out, numbers->status);
	flat_put_number(out, numbers->http_version);
	flat_put_number(out, numbers->nr_bytes);
	flat_put_text(out, numbers->words);
}

static void what_was_written_is_read(void **state)
{
	static const struct kubelet_answer answers[] = {
		{ KUBELET_ANSWERED, 0, 200, 2, 12345, "" },
		{ KUBELET_SILENT, -ETIMEDOUT, 0, 0, 7, "Timeout was reached" },
		{ KUBELET_NO_LIST, -EBADMSG, 200, 1, 3, "" },
		{ KUBELET_NO_LIST, -EBADMSG, 0, 0, 3, "" },
		{ KUBELET_REFUSED, 0, 403, 1, 0, "any\x1b words\xff" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(answers); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
		struct kubelet_answer answer;

		kubelet_answer_append(&out, &answers[i]);
		struct flat_reader reader = flat_reader(out.data, out.len);
		assert_int_equal(kubelet_answer_read(&reader, &answer), 0);
		assert_int_equal(flat_reader_finish(&reader), 0);
		assert_int_equal(answer.stage, answers[i].stage);
		assert_int_equal(answer.error, answers[i].error);
		assert_int_equal(answer.status, answers[i].status);
		assert_int_equal(answer.http_version, answers[i].http_version);
		assert_int_equal(answer.nr_bytes, answers[i].nr_bytes);
		assert_string_equal(answer.words, answers[i].words);
	}
}

/* ANSWERED is 0, SILENT 1, NO_LIST 2, REFUSED 3. */
static void what_cannot_be_is_refused(void **state)
{
	char long_words[KUBELET_WORDS_BYTES + 1];
	const struct {
		struct numbers numbers;
		int result;
	} cases[] = {
		{ { 0, 0, 200, 1, 0, "" }, 0 },
		{ { 1, 4095, 0, 0, UINT64_MAX, "" }, 0 },
		{ { 3, 0, 999, 1, 0, "" }, 0 },

		{ { 4, 0, 200, 1, 0, "" }, -EBADMSG },
		{ { 1, 4096, 0, 0, 0, "" }, -EBADMSG },
		{ { 3, 0, 1000, 1, 0, "" }, -EBADMSG },
		{ { 0, 0, 200, 3, 0, "" }, -EBADMSG },
		{ { 1, 1, 0, 0, 0, long_words }, -EBADMSG },
		/* contradictions */
		{ { 0, 1, 200, 1, 0, "" }, -EBADMSG },
		{ { 0, 0, 201, 1, 0, "" }, -EBADMSG },
		{ { 0, 0, 0, 0, 0, "" }, -EBADMSG },
		{ { 0, 0, 200, 0, 0, "" }, -EBADMSG },
		{ { 1, 0, 0, 0, 0, "" }, -EBADMSG },
		{ { 1, 1, 0, 1, 0, "" }, -EBADMSG },
		{ { 2, 0, 200, 1, 0, "" }, -EBADMSG },
		{ { 3, 0, 200, 1, 0, "" }, -EBADMSG },
		{ { 3, 0, 0, 0, 0, "" }, -EBADMSG },
		{ { 3, 1, 403, 1, 0, "" }, -EBADMSG },
	};
	(void)state;

	memset(long_words, 'x', sizeof(long_words) - 1);
	long_words[sizeof(long_words) - 1] = '\0';
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
		struct kubelet_answer answer;

		append_numbers(&out, &cases[i].numbers);
		struct flat_reader reader = flat_reader(out.data, out.len);
		int r = kubelet_answer_read(&reader, &answer);
		if (r != cases[i].result)
			fail_msg("case %zu: %d, not %d", i, r, cases[i].result);
		for (size_t len = 0; len < out.len; len++) {
			reader = flat_reader(out.data, len);
			assert_int_equal(kubelet_answer_read(&reader, &answer), -EBADMSG);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(what_cannot_be_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

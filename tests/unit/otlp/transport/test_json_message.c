/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/transport/json_message.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "otlp/transport/http_answer.h"
#include "pod_list_text.h"
#include "unit.h"

#include <pthread.h>
#include <string.h>

#define PODS                                                                                       \
	"{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"a\",\"namespace\":\"b\","      \
	"\"uid\":\"u\"}}]}"
#define DEEP_BYTES ((size_t)64 << 10)

static void the_message_of_an_error_is_found(void **state)
{
	static const struct {
		const char *text;
		const char *message; /* NULL: none */
	} cases[] = {
		{ "{\"message\":\"no\"}", "no" },
		{ " {\"code\":1,\"message\":\"\\u00e9\"}\n", "\xc3\xa9" },
		{ "{\"message\":\"\"}", "" },
		{ "{\"Message\":\"no\"}", NULL },
		{ "{\"message\":1}", NULL },
		{ "{\"message\":{\"message\":\"no\"}}", NULL },
		{ "[\"message\"]", NULL },
		{ "\"message\"", NULL },
		{ "{\"message\":\"no\"", NULL },
		{ "{\"message\":\"no\"} <html>", NULL },
		{ "", NULL },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_free_ char *message = json_message(cases[i].text, strlen(cases[i].text));

		assert_int_equal(!message, !cases[i].message);
		if (message)
			assert_string_equal(message, cases[i].message);
	}
}

static void an_error_that_is_a_bomb_has_no_message(void **state)
{
	static const char *const parts[] = { "[", "{\"a\":", "0,", "[],", "\"\",", "\"" };
	static char text[DEEP_BYTES];
	(void)state;

	for (size_t i = 0; i < array_len(parts); i++) {
		text[0] = '[';
		for (size_t at = 1; at < sizeof(text); at++)
			text[at] = parts[i][(at - 1) % strlen(parts[i])];
		assert_null(json_message(text, sizeof(text)));
	}
}

static void *read_pods(void *data)
{
	const struct pod_list_opts opts = { .max_bytes = 1 << 20 };
	_cleanup_(pod_list_freep) struct pod_list *list = NULL;

	(void)data;
	assert_int_equal(pod_list_parse(PODS, strlen(PODS), &opts, &list), 0);
	assert_int_equal(list->nr_pods, 1);
	return NULL;
}

/* The kubelet's thread and an exporter's use the same parser. */
static void a_thread_that_reads_pods_does_not_matter(void **state)
{
	static const char body[] = "{\"message\":\"overloaded\"}";
	const struct http_answer answer = {
		.status = 503,
		.content_type = "application/json",
		.body = body,
		.len = strlen(body),
	};
	struct request_outcome outcome = { .verdict = OUTCOME_DONE };
	pthread_t thread;
	(void)state;

	assert_int_equal(pthread_create(&thread, NULL, read_pods, NULL), 0);
	pthread_join(thread, NULL);
	http_answer_judge(&answer, &outcome);
	assert_int_equal(outcome.verdict, OUTCOME_RETRY);
	assert_string_equal(outcome.message, "HTTP status 503: overloaded");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_message_of_an_error_is_found),
		cmocka_unit_test(an_error_that_is_a_bomb_has_no_message),
		cmocka_unit_test(a_thread_that_reads_pods_does_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/transport/http_answer.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/minmax.h"
#include "otlp/transport/response.h"

#include <stdio.h>
#include <string.h>

#define TREE_MAX_BYTES ((size_t)1 << 20)

static enum outcome_verdict find_verdict(unsigned int status)
{
	switch (status) {
	case 429:
	case 502:
	case 503:
	case 504:
		return OUTCOME_RETRY;
	case 413:
		return OUTCOME_TOO_LARGE;
	default:
		return status / 100 == 2 ? OUTCOME_DONE : OUTCOME_REFUSED;
	}
}

static bool has_type(const struct http_answer *answer, const char *part)
{
	return answer->content_type && strcasestr(answer->content_type, part);
}

static bool begins_with(const struct http_answer *answer, char c)
{
	return answer->len > 0 && *(const char *)answer->body == c;
}

/* google.rpc.Status, Connect's errors and many others have a string called "message". */
static void describe_json(const struct http_answer *answer, const char *what,
			  struct request_outcome *outcome)
{
	_cleanup_(json_freep) struct json_value *object = NULL;
	const char *message = NULL;

	if (json_parse(answer->body, answer->len, TREE_MAX_BYTES, &object) == 0)
		message = json_text(json_find(object, "message"));
	request_outcome_say(outcome, what, message, message ? strlen(message) : 0);
}

static bool describe_status(const struct http_answer *answer, const char *what,
			    struct request_outcome *outcome)
{
	struct response response;

	if (response_parse_status(answer->body, answer->len, &response) < 0 ||
	    response.message_len == 0)
		return false;
	request_outcome_say(outcome, what, response.message, response.message_len);
	return true;
}

/* Proxies and wrong ports answer with web pages instead of messages. Then only the status is
 * reported. */
static void describe(const struct http_answer *answer, struct request_outcome *outcome)
{
	bool has_any_type = !answer->content_type;
	char what[32];

	snprintf(what, sizeof(what), "HTTP status %u", answer->status);
	if (has_type(answer, "json") || (has_any_type && begins_with(answer, '{')))
		describe_json(answer, what, outcome);
	else if ((has_any_type || has_type(answer, "proto")) &&
		 describe_status(answer, what, outcome))
		return;
	else if ((has_any_type || has_type(answer, "text/plain")) && !begins_with(answer, '<'))
		request_outcome_say(outcome, what, answer->body, answer->len);
	else
		request_outcome_say(outcome, what, NULL, 0);
}

/* A web page comes from a login proxy or a wrong port, which did not store the profiles. */
static bool is_page(const struct http_answer *answer)
{
	return answer->status / 100 == 2 && has_type(answer, "html");
}

void http_answer_judge(const struct http_answer *answer, struct request_outcome *outcome)
{
	outcome->was_answered = true;
	outcome->is_denied = answer->status == 401 || answer->status == 403;
	outcome->verdict = is_page(answer) ? OUTCOME_RETRY : find_verdict(answer->status);
	if (outcome->verdict == OUTCOME_DONE)
		return;
	if (is_page(answer)) {
		request_outcome_say(outcome,
				    "the response is a web page, not one of a profiles endpoint",
				    NULL, 0);
		return;
	}
	describe(answer, outcome);
	if (outcome->verdict == OUTCOME_RETRY)
		outcome->retry_after_ns = NSEC_PER_SEC *
					  min_u64(answer->retry_after_s, OUTCOME_WAIT_MAX_S);
}

void http_answer_read_success(const void *body, size_t len, struct request_outcome *outcome)
{
	struct response response;

	if (response_parse_success(body, len, &response) < 0) {
		request_outcome_say(outcome, HTTP_ANSWER_NOT_OTLP, NULL, 0);
		return;
	}
	outcome->nr_rejected_profiles = response.nr_rejected_profiles;
	request_outcome_say(outcome, "", response.message, response.message_len);
}

void http_answer_judge_otlp(const struct http_answer *answer, struct request_outcome *outcome)
{
	http_answer_judge(answer, outcome);
	if (outcome->verdict == OUTCOME_DONE)
		http_answer_read_success(answer->body, answer->len, outcome);
}

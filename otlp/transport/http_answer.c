/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/transport/http_answer.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "otlp/transport/json_message.h"
#include "otlp/transport/response.h"

#include <stdio.h>
#include <string.h>

static enum delivery_verdict find_verdict(unsigned int status)
{
	switch (status) {
	case 429:
	case 502:
	case 503:
	case 504:
		return DELIVERY_RETRY;
	case 413:
		return DELIVERY_TOO_LARGE;
	default:
		return status / 100 == 2 ? DELIVERY_DONE : DELIVERY_REFUSED;
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

static void describe_json(const struct http_answer *answer, const char *what,
			  struct delivery *delivery)
{
	_cleanup_free_ char *message = json_message(answer->body, answer->len);

	delivery_say(delivery, what, message, message ? strlen(message) : 0);
}

static bool describe_status(const struct http_answer *answer, const char *what,
			    struct delivery *delivery)
{
	struct response response;

	if (response_parse_status(answer->body, answer->len, &response) < 0 ||
	    response.message_len == 0)
		return false;
	delivery_say(delivery, what, response.message, response.message_len);
	return true;
}

/* Proxies and wrong ports answer with pages, not messages: then the status is all there is to say. */
static void describe(const struct http_answer *answer, struct delivery *delivery)
{
	bool has_any_type = !answer->content_type;
	char what[32];

	snprintf(what, sizeof(what), "HTTP status %u", answer->status);
	if (has_type(answer, "json") || (has_any_type && begins_with(answer, '{')))
		describe_json(answer, what, delivery);
	else if ((has_any_type || has_type(answer, "proto")) &&
		 describe_status(answer, what, delivery))
		return;
	else if ((has_any_type || has_type(answer, "text/plain")) && !begins_with(answer, '<'))
		delivery_say(delivery, what, answer->body, answer->len);
	else
		delivery_say(delivery, what, NULL, 0);
}

/* Of a proxy that wants people to log in, of a wrong port: whoever showed it has stored nothing. */
static bool is_page(const struct http_answer *answer)
{
	return answer->status / 100 == 2 && has_type(answer, "html");
}

void http_answer_judge(const struct http_answer *answer, struct delivery *delivery)
{
	uint64_t wait_s = answer->retry_after_s;

	delivery->was_answered = true;
	delivery->is_denied = answer->status == 401 || answer->status == 403;
	delivery->verdict = is_page(answer) ? DELIVERY_RETRY : find_verdict(answer->status);
	if (delivery->verdict == DELIVERY_DONE)
		return;
	if (is_page(answer)) {
		delivery_say(delivery, "a web page: this is no receiver of profiles", NULL, 0);
		return;
	}
	describe(answer, delivery);
	if (delivery->verdict == DELIVERY_RETRY)
		delivery->retry_after_ns = NSEC_PER_SEC * (wait_s < DELIVERY_WAIT_MAX_S
								   ? wait_s
								   : DELIVERY_WAIT_MAX_S);
}

void http_answer_judge_otlp(const struct http_answer *answer, struct delivery *delivery)
{
	struct response response;

	http_answer_judge(answer, delivery);
	if (delivery->verdict != DELIVERY_DONE)
		return;
	if (response_parse_success(answer->body, answer->len, &response) < 0) {
		delivery_say(delivery, "the answer says success, but is not OTLP's", NULL, 0);
		return;
	}
	delivery->nr_rejected_profiles = response.nr_rejected_profiles;
	delivery_say(delivery, "", response.message, response.message_len);
}

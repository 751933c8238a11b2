/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/transport/transport_result.h"

#include "base/clock.h"
#include "base/flat.h"
#include "base/printable.h"

#include <string.h>

#define STATUS_MAX 999
#define ERRNO_MAX 4095

void transport_result_append(struct strbuf *out, const struct transport_result *result)
{
	const struct request_outcome *outcome = &result->outcome;

	flat_put_number(out, (uint64_t)-result->error);
	flat_put_number(out, result->status);
	flat_put_number(out, result->has_grpc_status);
	flat_put_number(out, result->grpc_status);
	flat_put_number(out, outcome->verdict);
	flat_put_number(out, outcome->was_answered);
	flat_put_number(out, outcome->is_denied);
	flat_put_number(out, outcome->retry_after_ns);
	flat_put_number(out, outcome->nr_rejected_profiles);
	flat_put_text(out, outcome->message);
}

/* Returns whether no field contradicts another one. */
static bool is_consistent(const struct transport_result *result)
{
	const struct request_outcome *outcome = &result->outcome;
	bool is_retry = outcome->verdict == OUTCOME_RETRY;

	if (result->error < 0 && (result->status != 0 || result->has_grpc_status))
		return false;
	if ((result->error == 0) != outcome->was_answered)
		return false;
	if (!outcome->was_answered && (!is_retry || outcome->is_denied))
		return false;
	if (outcome->retry_after_ns > 0 && !is_retry)
		return false;
	return outcome->nr_rejected_profiles == 0 || outcome->verdict == OUTCOME_DONE;
}

int transport_result_read(const void *bytes, size_t len, struct transport_result *ret_result)
{
	struct flat_reader reader = flat_reader(bytes, len);
	struct transport_result result = {
		.error = -(int)flat_take_number(&reader, ERRNO_MAX),
		.status = (unsigned int)flat_take_number(&reader, STATUS_MAX),
		.has_grpc_status = flat_take_bool(&reader),
		.grpc_status = (uint32_t)flat_take_number(&reader, UINT32_MAX),
	};
	struct request_outcome *outcome = &result.outcome;

	outcome->verdict = flat_take_number(&reader, OUTCOME_REFUSED);
	outcome->was_answered = flat_take_bool(&reader);
	outcome->is_denied = flat_take_bool(&reader);
	outcome->retry_after_ns = flat_take_number(&reader, OUTCOME_WAIT_MAX_S * NSEC_PER_SEC);
	outcome->nr_rejected_profiles = flat_take_number(&reader, UINT64_MAX);
	const char *message = flat_take_text(&reader, OUTCOME_MESSAGE_BYTES - 1);

	if (flat_reader_finish(&reader) < 0 || !printable_holds(message) || !is_consistent(&result))
		return -EBADMSG;
	memcpy(outcome->message, message, strlen(message) + 1);
	*ret_result = result;
	return 0;
}

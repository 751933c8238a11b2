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
	const struct delivery *delivery = &result->delivery;

	flat_put_number(out, (uint64_t)-result->error);
	flat_put_number(out, result->status);
	flat_put_number(out, result->has_grpc_status);
	flat_put_number(out, result->grpc_status);
	flat_put_number(out, delivery->verdict);
	flat_put_number(out, delivery->was_answered);
	flat_put_number(out, delivery->is_denied);
	flat_put_number(out, delivery->retry_after_ns);
	flat_put_number(out, delivery->nr_rejected_profiles);
	flat_put_text(out, delivery->message);
}

/* Whether no part contradicts another one. */
static bool is_consistent(const struct transport_result *result)
{
	const struct delivery *delivery = &result->delivery;
	bool is_retry = delivery->verdict == DELIVERY_RETRY;

	if (result->error < 0 && (result->status != 0 || result->has_grpc_status))
		return false;
	if ((result->error == 0) != delivery->was_answered)
		return false;
	if (!delivery->was_answered && (!is_retry || delivery->is_denied))
		return false;
	if (delivery->retry_after_ns > 0 && !is_retry)
		return false;
	return delivery->nr_rejected_profiles == 0 || delivery->verdict == DELIVERY_DONE;
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
	struct delivery *delivery = &result.delivery;

	delivery->verdict = flat_take_number(&reader, DELIVERY_REFUSED);
	delivery->was_answered = flat_take_bool(&reader);
	delivery->is_denied = flat_take_bool(&reader);
	delivery->retry_after_ns = flat_take_number(&reader, DELIVERY_WAIT_MAX_S * NSEC_PER_SEC);
	delivery->nr_rejected_profiles = flat_take_number(&reader, UINT64_MAX);
	const char *message = flat_take_text(&reader, DELIVERY_MESSAGE_BYTES - 1);

	if (flat_reader_finish(&reader) < 0 || !printable_holds(message) || !is_consistent(&result))
		return -EBADMSG;
	memcpy(delivery->message, message, strlen(message) + 1);
	*ret_result = result;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Messages are read from the outside in, each by a function for its fields:
 *
 *	ExportProfilesServiceResponse ─ ExportProfilesPartialSuccess
 *	google.rpc.Status ─ google.protobuf.Any ─ google.rpc.RetryInfo ─ google.protobuf.Duration */
#include "otlp/transport/response.h"

#include "base/clock.h"
#include "base/minmax.h"
#include "base/pb_reader.h"
#include "otlp/encode/otlp_fields.h"

#include <string.h>

#define RETRY_INFO_TYPE "type.googleapis.com/google.rpc.RetryInfo"
#define DURATION_MAX_S UINT64_C(1000000000) /* 30 years; fits in nanoseconds */

/* Takes a field that it knows. Errors: -EBADMSG. */
typedef int take_field(const struct pb_field *field, struct response *response);

static bool is_field(const struct pb_field *field, uint32_t number, enum pb_wire wire)
{
	return field->number == number && field->wire == wire;
}

static int take_fields(const void *data, size_t len, take_field *take, struct response *response)
{
	struct pb_reader reader = pb_reader_of(data, len);
	struct pb_field field;
	int r;

	while ((r = pb_reader_next(&reader, &field)) > 0) {
		r = take(&field, response);
		if (r < 0)
			return r;
	}
	return r;
}

static void take_message(struct response *response, const struct pb_field *field)
{
	response->message = field->data;
	response->message_len = field->len;
}

static int take_partial_success(const struct pb_field *field, struct response *response)
{
	if (is_field(field, PARTIAL_SUCCESS_REJECTED_PROFILES, PB_WIRE_VARINT))
		response->nr_rejected_profiles = field->value <= INT64_MAX ? field->value : 0;
	else if (is_field(field, PARTIAL_SUCCESS_ERROR_MESSAGE, PB_WIRE_LEN))
		take_message(response, field);
	return 0;
}

static int take_success(const struct pb_field *field, struct response *response)
{
	if (!is_field(field, EXPORT_RESPONSE_PARTIAL_SUCCESS, PB_WIRE_LEN))
		return 0;
	return take_fields(field->data, field->len, take_partial_success, response);
}

/* A negative duration counts as none. */
static int parse_duration(const void *data, size_t len, uint64_t *ret_ns)
{
	struct pb_reader reader = pb_reader_of(data, len);
	uint64_t seconds = 0, nanos = 0;
	struct pb_field field;
	int r;

	while ((r = pb_reader_next(&reader, &field)) > 0) {
		if (is_field(&field, DURATION_SECONDS, PB_WIRE_VARINT))
			seconds = field.value;
		else if (is_field(&field, DURATION_NANOS, PB_WIRE_VARINT))
			nanos = field.value;
	}
	if (r < 0)
		return r;
	if (seconds > INT64_MAX || nanos >= NSEC_PER_SEC)
		seconds = nanos = 0;
	*ret_ns = min_u64(seconds, DURATION_MAX_S) * NSEC_PER_SEC + nanos;
	return 0;
}

static int take_retry_info(const struct pb_field *field, struct response *response)
{
	if (!is_field(field, RETRY_INFO_DELAY, PB_WIRE_LEN))
		return 0;
	return parse_duration(field->data, field->len, &response->retry_delay_ns);
}

/* The type may come after the value. */
static int parse_detail(const void *data, size_t len, struct response *response)
{
	struct pb_reader reader = pb_reader_of(data, len);
	struct pb_field field, type = { .len = 0 }, value = { .len = 0 };
	int r;

	while ((r = pb_reader_next(&reader, &field)) > 0) {
		if (is_field(&field, ANY_TYPE_URL, PB_WIRE_LEN))
			type = field;
		else if (is_field(&field, ANY_VALUE, PB_WIRE_LEN))
			value = field;
	}
	if (r < 0)
		return r;
	if (type.len != strlen(RETRY_INFO_TYPE) ||
	    memcmp(type.data, RETRY_INFO_TYPE, type.len) != 0)
		return 0;
	response->has_retry_info = true;
	return take_fields(value.data, value.len, take_retry_info, response);
}

static int take_status(const struct pb_field *field, struct response *response)
{
	if (is_field(field, RPC_STATUS_MESSAGE, PB_WIRE_LEN))
		take_message(response, field);
	else if (is_field(field, RPC_STATUS_DETAILS, PB_WIRE_LEN))
		return parse_detail(field->data, field->len, response);
	return 0;
}

static int parse(const void *body, size_t len, take_field *take, struct response *ret_response)
{
	struct response response = { .nr_rejected_profiles = 0 };

	int r = take_fields(body, len, take, &response);
	if (r < 0)
		return r;
	*ret_response = response;
	return 0;
}

int response_parse_success(const void *body, size_t len, struct response *ret_response)
{
	return parse(body, len, take_success, ret_response);
}

int response_parse_status(const void *body, size_t len, struct response *ret_response)
{
	return parse(body, len, take_status, ret_response);
}

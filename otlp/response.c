/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/response.h"

#include "base/pb_reader.h"
#include "otlp/otlp_fields.h"

#include <stdbool.h>
#include <string.h>

static bool is_field(const struct pb_field *field, uint32_t number, enum pb_wire wire)
{
	return field->number == number && field->wire == wire;
}

static void take_message(struct response *response, const struct pb_field *field)
{
	size_t len = field->len;

	if (len >= sizeof(response->message))
		len = sizeof(response->message) - 1;
	memcpy(response->message, field->data, len);
	response->message[len] = '\0';
}

static int parse_partial_success(const void *data, size_t len, struct response *response)
{
	struct pb_reader reader = pb_reader_of(data, len);
	struct pb_field field;
	int r;

	while ((r = pb_reader_next(&reader, &field)) > 0) {
		if (is_field(&field, PARTIAL_SUCCESS_REJECTED_PROFILES, PB_WIRE_VARINT))
			response->nr_rejected_profiles = field.value;
		else if (is_field(&field, PARTIAL_SUCCESS_ERROR_MESSAGE, PB_WIRE_LEN))
			take_message(response, &field);
	}
	return r;
}

int response_parse_success(const void *body, size_t len, struct response *ret_response)
{
	struct pb_reader reader = pb_reader_of(body, len);
	struct response response = { 0 };
	struct pb_field field;
	int r;

	while ((r = pb_reader_next(&reader, &field)) > 0) {
		if (!is_field(&field, EXPORT_RESPONSE_PARTIAL_SUCCESS, PB_WIRE_LEN))
			continue;
		r = parse_partial_success(field.data, field.len, &response);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	*ret_response = response;
	return 0;
}

int response_parse_status(const void *body, size_t len, struct response *ret_response)
{
	struct pb_reader reader = pb_reader_of(body, len);
	struct response response = { 0 };
	struct pb_field field;
	int r;

	while ((r = pb_reader_next(&reader, &field)) > 0)
		if (is_field(&field, RPC_STATUS_MESSAGE, PB_WIRE_LEN))
			take_message(&response, &field);
	if (r < 0)
		return r;
	*ret_response = response;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/oracle/formats/otlp_text.h"

#include "base/pb_reader.h"
#include "otlp/encode/dictionary.h"
#include "otlp/encode/otlp_fields.h"

#include <inttypes.h>

/* The n-th field of that number; all zero when there is none. */
static struct pb_field field_of(struct pb_field message, uint32_t number, uint64_t n)
{
	struct pb_reader reader = pb_reader_of(message.data, message.len);
	struct pb_field field;

	while (pb_reader_next(&reader, &field) > 0)
		if (field.number == number && n-- == 0)
			return field;
	return (struct pb_field){ 0 };
}

static void put_string(struct strbuf *out, struct pb_field field)
{
	strbuf_append(out, field.data, field.len);
}

static void put_entry(struct strbuf *out, struct pb_field dictionary, uint64_t string)
{
	put_string(out, field_of(dictionary, DICTIONARY_STRING, string));
}

static void put_value(struct strbuf *out, struct pb_field value)
{
	struct pb_field number = field_of(value, ANY_VALUE_INT, 0);

	if (number.number)
		strbuf_appendf(out, "%" PRIu64, number.value);
	else
		put_string(out, field_of(value, ANY_VALUE_STRING, 0));
}

static void put_resource(struct strbuf *out, struct pb_field resource)
{
	struct pb_field attribute;

	strbuf_append_char(out, '{');
	for (uint64_t i = 0; (attribute = field_of(resource, RESOURCE_ATTRIBUTES, i)).number; i++) {
		strbuf_append_str(out, i ? " " : "");
		put_string(out, field_of(attribute, KEY_VALUE_KEY, 0));
		strbuf_append_char(out, '=');
		put_value(out, field_of(attribute, KEY_VALUE_VALUE, 0));
	}
	strbuf_append_char(out, '}');
}

static void put_attribute_value(struct strbuf *out, struct pb_field dictionary, uint64_t index)
{
	struct pb_field attribute = field_of(dictionary, DICTIONARY_ATTRIBUTE, index);

	put_value(out, field_of(attribute, KEY_VALUE_AND_UNIT_VALUE, 0));
}

static int put_attributes(struct strbuf *out, struct pb_field dictionary, struct pb_field sample)
{
	struct pb_field packed = field_of(sample, SAMPLE_ATTRIBUTE_INDICES, 0);
	struct pb_reader reader = pb_reader_of(packed.data, packed.len);

	for (uint64_t index; reader.at < reader.end;) {
		int r = pb_reader_varint(&reader, &index);
		if (r < 0)
			return r;
		struct pb_field attribute = field_of(dictionary, DICTIONARY_ATTRIBUTE, index);

		strbuf_append_char(out, ' ');
		put_entry(out, dictionary, field_of(attribute, KEY_VALUE_AND_UNIT_KEY, 0).value);
		strbuf_append_char(out, '=');
		put_attribute_value(out, dictionary, index);
	}
	return 0;
}

/* Packed attributes of a location or mapping have one element, below 128. */
static uint64_t only_index(struct pb_field message, uint32_t number)
{
	struct pb_field packed = field_of(message, number, 0);

	return packed.len == 1 ? packed.data[0] : 0;
}

static void put_mapping(struct strbuf *out, struct pb_field dictionary, struct pb_field location)
{
	uint64_t index = field_of(location, LOCATION_MAPPING_INDEX, 0).value;
	struct pb_field mapping = field_of(dictionary, DICTIONARY_MAPPING, index);

	if (field_of(location, LOCATION_ADDRESS, 0).number)
		strbuf_appendf(out, " @%" PRIu64, field_of(location, LOCATION_ADDRESS, 0).value);
	if (index == 0)
		return;
	strbuf_append_char(out, ' ');
	put_entry(out, dictionary, field_of(mapping, MAPPING_FILENAME, 0).value);
	strbuf_append_char(out, ' ');
	put_attribute_value(out, dictionary, only_index(mapping, MAPPING_ATTRIBUTE_INDICES));
}

/* A function with its source, and the line in it. */
static void put_line(struct strbuf *out, struct pb_field dictionary, struct pb_field line)
{
	struct pb_field function = field_of(dictionary, DICTIONARY_FUNCTION,
					    field_of(line, LINE_FUNCTION_INDEX, 0).value);
	uint64_t filename = field_of(function, FUNCTION_FILENAME, 0).value;
	uint64_t number = field_of(line, LINE_LINE, 0).value;

	put_entry(out, dictionary, field_of(function, FUNCTION_NAME, 0).value);
	if (filename) {
		strbuf_append_char(out, '(');
		put_entry(out, dictionary, filename);
		strbuf_appendf(out, ":%" PRIu64 ")",
			       field_of(function, FUNCTION_START_LINE, 0).value);
	}
	if (number)
		strbuf_appendf(out, ":%" PRIu64, number);
}

static void put_frame(struct strbuf *out, struct pb_field dictionary, uint64_t index)
{
	struct pb_field location = field_of(dictionary, DICTIONARY_LOCATION, index);
	struct pb_field line;

	for (uint64_t i = 0; (line = field_of(location, LOCATION_LINES, i)).number; i++) {
		strbuf_append_char(out, i ? '<' : ' ');
		put_line(out, dictionary, line);
	}
	strbuf_append_char(out, '[');
	put_attribute_value(out, dictionary, only_index(location, LOCATION_ATTRIBUTE_INDICES));
	put_mapping(out, dictionary, location);
	strbuf_append_char(out, ']');
}

static int put_frames(struct strbuf *out, struct pb_field dictionary, struct pb_field sample)
{
	uint64_t index = field_of(sample, SAMPLE_STACK_INDEX, 0).value;
	struct pb_field stack = field_of(dictionary, DICTIONARY_STACK, index);
	struct pb_field packed = field_of(stack, STACK_LOCATION_INDICES, 0);
	struct pb_reader reader = pb_reader_of(packed.data, packed.len);

	for (uint64_t location; reader.at < reader.end;) {
		int r = pb_reader_varint(&reader, &location);
		if (r < 0)
			return r;
		put_frame(out, dictionary, location);
	}
	return 0;
}

static int put_value_of_sample(struct strbuf *out, struct pb_field sample)
{
	struct pb_field values = field_of(sample, SAMPLE_VALUES, 0);
	struct pb_reader reader = pb_reader_of(values.data, values.len);
	uint64_t value;

	int r = pb_reader_varint(&reader, &value);
	if (r < 0)
		return r;
	strbuf_appendf(out, " %" PRIu64, value);
	return reader.at == reader.end ? 0 : -EBADMSG;
}

static void put_times(struct strbuf *out, struct pb_field times)
{
	const unsigned char *bytes = times.data;

	for (size_t i = 0; i + 8 <= times.len; i += 8) {
		uint64_t time = 0;

		for (size_t k = 8; k-- > 0;)
			time = time << 8 | bytes[i + k];
		strbuf_appendf(out, " @%" PRIu64, time);
	}
}

static int put_sample(struct strbuf *out, struct pb_field dictionary, struct pb_field resource,
		      struct pb_field sample)
{
	struct pb_field times = field_of(sample, SAMPLE_TIMESTAMPS, 0);
	int r;

	put_resource(out, resource);
	if ((r = put_attributes(out, dictionary, sample)) < 0)
		return r;
	strbuf_append_char(out, ':');
	if ((r = put_frames(out, dictionary, sample)) < 0)
		return r;
	strbuf_append_str(out, " =");
	if (times.number)
		put_times(out, times);
	else if ((r = put_value_of_sample(out, sample)) < 0)
		return r;
	strbuf_append_char(out, '\n');
	return 0;
}

static int put_resource_profiles(struct strbuf *out, struct pb_field dictionary,
				 struct pb_field of_resource)
{
	struct pb_field resource = field_of(of_resource, RESOURCE_PROFILES_RESOURCE, 0);
	struct pb_field scope = field_of(of_resource, RESOURCE_PROFILES_SCOPE_PROFILES, 0);
	struct pb_field profile = field_of(scope, SCOPE_PROFILES_PROFILES, 0);
	struct pb_field sample;

	for (uint64_t i = 0; (sample = field_of(profile, PROFILE_SAMPLES, i)).number; i++) {
		int r = put_sample(out, dictionary, resource, sample);
		if (r < 0)
			return r;
	}
	return 0;
}

int otlp_text(const struct strbuf *body, struct strbuf *out)
{
	const struct pb_field request = {
		.data = (const unsigned char *)body->data,
		.len = body->len,
	};
	struct pb_field dictionary = field_of(request, EXPORT_REQUEST_DICTIONARY, 0);
	struct pb_field of_resource;

	for (uint64_t i = 0;
	     (of_resource = field_of(request, EXPORT_REQUEST_RESOURCE_PROFILES, i)).number; i++) {
		int r = put_resource_profiles(out, dictionary, of_resource);
		if (r < 0)
			return r;
	}
	return strbuf_error(out);
}

static struct pb_field first_profile(const struct strbuf *body)
{
	const struct pb_field request = {
		.data = (const unsigned char *)body->data,
		.len = body->len,
	};
	struct pb_field of_resource = field_of(request, EXPORT_REQUEST_RESOURCE_PROFILES, 0);
	struct pb_field scope = field_of(of_resource, RESOURCE_PROFILES_SCOPE_PROFILES, 0);

	return field_of(scope, SCOPE_PROFILES_PROFILES, 0);
}

static void put_value_type(struct strbuf *out, struct pb_field dictionary, struct pb_field type)
{
	if (!type.number) {
		strbuf_append_char(out, '-');
		return;
	}
	put_entry(out, dictionary, field_of(type, VALUE_TYPE_TYPE, 0).value);
	strbuf_append_char(out, '/');
	put_entry(out, dictionary, field_of(type, VALUE_TYPE_UNIT, 0).value);
}

int otlp_text_types(const struct strbuf *body, struct strbuf *out)
{
	const struct pb_field request = {
		.data = (const unsigned char *)body->data,
		.len = body->len,
	};
	struct pb_field dictionary = field_of(request, EXPORT_REQUEST_DICTIONARY, 0);
	struct pb_field profile = first_profile(body);

	put_value_type(out, dictionary, field_of(profile, PROFILE_SAMPLE_TYPE, 0));
	strbuf_append_char(out, ' ');
	put_value_type(out, dictionary, field_of(profile, PROFILE_PERIOD_TYPE, 0));
	strbuf_appendf(out, " %" PRIu64, field_of(profile, PROFILE_PERIOD, 0).value);
	return strbuf_error(out);
}

const void *otlp_text_payload(const struct strbuf *body, size_t *ret_len)
{
	struct pb_field payload = field_of(first_profile(body), PROFILE_ORIGINAL_PAYLOAD, 0);

	*ret_len = payload.len;
	return payload.data;
}

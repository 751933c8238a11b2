/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of values that only the options of sending have. */
#include "base/parse.h"
#include "config/endpoint.h"
#include "config/destination.h"
#include "config/option_check.h"
#include "config/option_value.h"

#include <string.h>

#define REQUEST_MIN_BYTES (UINT64_C(64) << 10)
#define REQUEST_MAX_BYTES (UINT64_C(64) << 20)
#define ATTRIBUTE_VALUES_MAX 10000

static int parse_exporter(const char *text, void *field)
{
	static const char *const words[] = {
		[OPTION_EXPORTER_OTLP] = "otlp",
		[OPTION_EXPORTER_PYROSCOPE] = "pyroscope",
	};

	int r = find_word(words, array_len(words), text);
	if (r < 0)
		return r;
	*(enum option_exporter *)field = (enum option_exporter)r;
	return 0;
}

static int parse_protocol(const char *text, void *field)
{
	static const char *const words[] = {
		[OPTION_PROTOCOL_HTTP] = "http/protobuf",
		[OPTION_PROTOCOL_GRPC] = "grpc",
	};

	int r = find_word(words, array_len(words), text);
	if (r < 0)
		return r;
	*(enum option_protocol *)field = (enum option_protocol)r;
	return 0;
}

static int parse_preset(const char *text, void *field)
{
	static const char *const words[] = {
		[OPTION_PRESET_STANDARD] = "standard",
		[OPTION_PRESET_PYROSCOPE] = "pyroscope",
	};

	int r = find_word(words, array_len(words), text);
	if (r < 0)
		return r;
	*(enum option_preset *)field = (enum option_preset)r;
	return 0;
}

/* As value_verify, but a receiver's certificate is never pinned. */
static int parse_receiver_verify(const char *text, void *field)
{
	return strcmp(text, "pinned") == 0 ? -EINVAL : value_verify.parse(text, field);
}

/* Of two words the second one is true. */
static int parse_either(const char *const words[static 2], const char *text, void *field)
{
	int r = find_word(words, 2, text);

	if (r < 0)
		return r;
	*(bool *)field = r == 1;
	return 0;
}

static int parse_compression(const char *text, void *field)
{
	static const char *const words[] = { "none", "gzip" };

	return parse_either(words, text, field);
}

static int parse_payload(const char *text, void *field)
{
	static const char *const words[] = { "none", "pprof" };

	return parse_either(words, text, field);
}

static int parse_export_time(const char *text, void *field)
{
	static const char *const words[] = { "recorded", "now" };

	return parse_either(words, text, field);
}

/* Adds to what other words have said. */
static int add_sample_attribute(const char *word, void *field)
{
	static const char *const words[] = {
		"thread.name", "cpu.logical_number", "flamelet.cgroup.id",
		"thread.id",   "process.pid",	     "container.id",
	};
	unsigned int *mask = field;

	if (strcmp(word, "preset") == 0)
		*mask = OPTION_SAMPLE_ATTRIBUTES_PRESET;
	else if (strcmp(word, "all") == 0)
		*mask |= (1u << array_len(words)) - 1;
	else if (strcmp(word, "none") != 0) {
		int r = find_word(words, array_len(words), word);

		if (r < 0)
			return r;
		*mask |= 1u << r;
	}
	return 0;
}

static int parse_value_limit(const char *text, void *field)
{
	uint32_t limit;

	int r = parse_u32(text, &limit);
	if (r < 0)
		return r;
	if (limit < 1 || limit > ATTRIBUTE_VALUES_MAX)
		return -ERANGE;
	*(uint32_t *)field = limit;
	return 0;
}

static int parse_request_bytes(const char *text, void *field)
{
	uint64_t bytes;

	int r = parse_bytes(text, &bytes);
	if (r < 0)
		return r;
	if (bytes < REQUEST_MIN_BYTES || bytes > REQUEST_MAX_BYTES)
		return -ERANGE;
	*(uint64_t *)field = bytes;
	return 0;
}

const struct value_type value_endpoint = { "an endpoint",
					   "http://HOST:4318, https://HOST/PATH, grpc://HOST:4317 "
					   "or grpcs://HOST:4317",
					   STORE_STRING, .check = check_endpoint };
const struct value_type value_exporter = { "an exporter", "otlp or pyroscope", STORE_PLAIN,
					   .parse = parse_exporter };
const struct value_type value_protocol = { "a protocol that profiles are sent by",
					   "http/protobuf or grpc", STORE_PLAIN,
					   .parse = parse_protocol };
const struct value_type value_compression = { "a compression of requests", "gzip or none",
					      STORE_PLAIN, .parse = parse_compression };
const struct value_type value_tenant = { "a tenant's ID",
					 "up to 150 printable characters without blanks",
					 STORE_STRING, .check = check_tenant };
const struct value_type value_receiver_verify = { "a way to verify an endpoint's certificate",
						  "full, ca-only or insecure", STORE_PLAIN,
						  .parse = parse_receiver_verify };
const struct value_type value_preset = { "a preset of attributes", "standard or pyroscope",
					 STORE_PLAIN, .parse = parse_preset };
const struct value_type value_attribute = { "an attribute", "KEY=VALUE", STORE_STRINGS,
					    .check = check_attribute };
const struct value_type value_attribute_key = { "the key of an attribute",
						"process.pid or k8s.pod.label.*", STORE_WORDS,
						.check = check_label_key };
const struct value_type value_sample_attributes = {
	"an attribute of samples",
	"thread.name, thread.id, cpu.logical_number, flamelet.cgroup.id, process.pid or "
	"container.id; or all, none or preset",
	STORE_MASK, .parse = add_sample_attribute
};
const struct value_type value_value_limit = { "a number of values from 1 to 10000", "1000",
					      STORE_PLAIN, .parse = parse_value_limit };
const struct value_type value_payload = { "a payload", "none or pprof", STORE_PLAIN,
					  .parse = parse_payload };
const struct value_type value_request_bytes = { "a size from 64K to 64M", "3584K or 16M",
						STORE_PLAIN, .parse = parse_request_bytes };
const struct value_type value_destination = { "a file", "the path of a file that can be read",
					      STORE_STRINGS, .check = check_file };
const struct value_type value_export_time = { "a time of profiles", "recorded or now", STORE_PLAIN,
					      .parse = parse_export_time };

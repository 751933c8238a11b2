/* SPDX-License-Identifier: Apache-2.0 */
#include "config/option_value.h"

#include "base/clock.h"
#include "base/http_client.h"
#include "base/log.h"
#include "base/parse.h"
#include "config/option_check.h"
#include "config/option_list.h"
#include "config/options.h"

#include <stdlib.h>
#include <string.h>

#define DURATION_MAX_NS (366 * 24 * 3600 * NSEC_PER_SEC)
#define STACK_MAX_BYTES 65528 /* perf copies at most 64K into a record, in units of 8 bytes */
#define PID_MAX (1u << 22) /* the kernel's limit on 64-bit machines */
#define CPU_MAX (LIST_ITEMS_MAX - 1)
#define WORD_MAX_BYTES 512 /* of one of the words that commas separate */

/* Reads and stores one number. */
static int store_number(const struct value_type *type, const char *text, void *field)
{
	uint64_t number;

	int r = type->read(text, &number);
	if (r < 0)
		return r;
	if (number < type->min || number > type->max || (type->unit && number % type->unit != 0))
		return -ERANGE;
	if (type->storage == STORE_U32)
		*(uint32_t *)field = (uint32_t)number;
	else
		*(uint64_t *)field = number;
	return 0;
}

/* Reads "N" at *cursor, or "N-M" if the type has ranges. */
static int parse_range(const struct value_type *type, const char **cursor, uint64_t *ret_first,
		       uint64_t *ret_last)
{
	const char *end = *cursor + strlen(*cursor);

	int r = parse_digits(cursor, end, 10, ret_first);
	if (r < 0)
		return r;
	*ret_last = *ret_first;
	if (!type->has_ranges || **cursor != '-')
		return 0;
	(*cursor)++;
	return parse_digits(cursor, end, 10, ret_last);
}

/* Adds numbers, with ranges as the kernel writes CPUs: "0-3,8". */
static int store_numbers(const struct value_type *type, const char *text, void *field)
{
	for (;; text++) {
		uint64_t first, last;

		int r = parse_range(type, &text, &first, &last);
		if (r < 0)
			return r;
		if (first < type->min || first > last || last > type->max)
			return -ERANGE;
		for (uint64_t n = first; r == 0 && n <= last; n++)
			r = number_list_add(field, (uint32_t)n);
		if (r < 0)
			return r;
		if (*text != ',')
			return *text == '\0' ? 0 : -EINVAL;
	}
}

const struct value_type value_flag = { .noun = "yes or no",
				       .hint = "true or false",
				       .storage = STORE_FLAG };
const struct value_type value_on_off = { .noun = "a switch",
					 .hint = "on or off",
					 .storage = STORE_BOOL };
const struct value_type value_frequency = {
	"a frequency from 1 to 10000 Hz", "99", STORE_U32, .read = parse_u64, .min = 1, .max = 10000
};
const struct value_type value_duration = { "a duration", "10s, 500ms or 2m",
					   STORE_U64,	 .read = parse_duration_ns,
					   .min = 1,	 .max = DURATION_MAX_NS };
const struct value_type value_duration_or_zero = { "a duration", "10s, 500ms or 2m", STORE_U64,
						   .read = parse_duration_ns,
						   .max = DURATION_MAX_NS };
const struct value_type value_memory = {
	"an amount of memory from 1M", "256M or 1G",	   STORE_U64, .read = parse_bytes,
	.min = UINT64_C(1) << 20,      .max = SIZE_MAX / 2
};
/* The words of a choice. Their indexes are the values of the enum. */
#define CHOICE(words_) .words = (words_), .nr_words = array_len(words_)

static const char *const log_level_words[] = {
	[LOG_LEVEL_ERROR] = "error",
	[LOG_LEVEL_WARN] = "warn",
	[LOG_LEVEL_INFO] = "info",
	[LOG_LEVEL_DEBUG] = "debug",
};
static const char *const verify_words[] = {
	[HTTP_VERIFY_FULL] = "full",
	[HTTP_VERIFY_CA_ONLY] = "ca-only",
	[HTTP_VERIFY_NONE] = "insecure",
	[HTTP_VERIFY_PINNED] = "pinned",
};
/* A kubelet's certificate can be pinned, a destination's cannot. */
static const char *const destination_verify_words[] = {
	[HTTP_VERIFY_FULL] = "full",
	[HTTP_VERIFY_CA_ONLY] = "ca-only",
	[HTTP_VERIFY_NONE] = "insecure",
};
static const char *const demangle_words[] = {
	[OPTION_DEMANGLE_NONE] = "none",
	[OPTION_DEMANGLE_SHORT] = "short",
	[OPTION_DEMANGLE_FULL] = "full",
};
static const char *const capture_words[] = {
	[OPTION_CAPTURE_AUTO] = "auto",
	[OPTION_CAPTURE_BPF] = "bpf",
	[OPTION_CAPTURE_PERF] = "perf",
};
static const char *const exporter_words[] = {
	[OPTION_EXPORTER_OTLP] = "otlp",
	[OPTION_EXPORTER_PYROSCOPE] = "pyroscope",
};
static const char *const protocol_words[] = {
	[OPTION_PROTOCOL_HTTP] = "http/protobuf",
	[OPTION_PROTOCOL_GRPC] = "grpc",
};
static const char *const preset_words[] = {
	[OPTION_PRESET_STANDARD] = "standard",
	[OPTION_PRESET_PYROSCOPE] = "pyroscope",
};
/* The bits of the mask. */
static const char *const sample_attribute_words[] = {
	"thread.name", "cpu.logical_number", "flamelet.cgroup.id",
	"thread.id",   "process.pid",	     "container.id",
};
static const char *const compression_words[] = { [false] = "none", [true] = "gzip" };
static const char *const payload_words[] = { [false] = "none", [true] = "pprof" };
static const char *const export_time_words[] = { [false] = "recorded", [true] = "now" };

const struct value_type value_log_level = { "a log level", "error, warn, info or debug",
					    STORE_CHOICE, CHOICE(log_level_words) };
const struct value_type value_verify = { "a way to verify a certificate",
					 "full, ca-only, pinned or insecure", STORE_CHOICE,
					 CHOICE(verify_words) };
const struct value_type value_demangle = { "a way to demangle", "none, short or full", STORE_CHOICE,
					   CHOICE(demangle_words) };
const struct value_type value_capture = { "a way to capture", "auto, bpf or perf", STORE_CHOICE,
					  CHOICE(capture_words) };
const struct value_type value_stack_bytes = { "a size from 1K to 65528 that is a multiple of 8",
					      "32K",
					      STORE_U32,
					      .read = parse_bytes,
					      .min = 1024,
					      .max = STACK_MAX_BYTES,
					      .unit = 8 };
const struct value_type value_pids = { "a list of process or thread ids", "1234 or 1234,5678",
				       STORE_NUMBERS, .min = 1, .max = PID_MAX };
const struct value_type value_cpus = { "a list of CPUs", "0-3,8", STORE_NUMBERS, .max = CPU_MAX,
				       .has_ranges = true };
const struct value_type value_namespace = { "the name of a namespace", "NAME or NAME,NAME",
					    STORE_WORDS, .check = check_namespace };
const struct value_type value_pod = { "a pod's name", "NAME or NAMESPACE/NAME", STORE_WORDS,
				      .check = check_pod };
const struct value_type value_container = { "a container's name or ID",
					    "its name, or 12 to 64 digits of its ID", STORE_WORDS,
					    .check = check_container };
const struct value_type value_selector = { "a label selector", "\"app=web,tier in (a,b),!canary\"",
					   STORE_STRINGS, .check = check_selector };
const struct value_type value_label_key = { "the key of a label or annotation",
					    "team, example.com/team or example.com/*", STORE_WORDS,
					    .check = check_label_key };
const struct value_type value_listen = { "a loopback address or a Unix socket",
					 "127.0.0.1:PORT, [::1]:PORT, localhost:PORT or "
					 "unix:/PATH; for others there is --metrics-listen",
					 STORE_STRING, .check = check_listen };
const struct value_type value_metrics_listen = { "an IP address with a port",
						 "*:PORT, 0.0.0.0:PORT, [::]:PORT or "
						 "10.1.2.3:PORT; for a Unix socket there is "
						 "--listen",
						 STORE_STRING, .check = check_metrics_listen };
const struct value_type value_cgroup = { "a cgroup's path", "/kubepods.slice/… or /system.slice/…",
					 STORE_STRINGS, .check = check_name };
const struct value_type value_comm = { "a process name as the kernel keeps it",
				       "its first 15 bytes, as ps -o comm shows them",
				       STORE_STRINGS, .check = check_comm };
const struct value_type value_url = { "an http or https URL",
				      "http://127.0.0.1:4318 or https://HOST:PORT", STORE_STRING,
				      .check = check_url };
const struct value_type value_urls = { "a list of http or https URLs",
				       "\"http://HOST:8002 https://HOST\"", STORE_STRING,
				       .check = check_urls };
const struct value_type value_header = { "an HTTP header", "\"Name: value\"", STORE_STRINGS, true,
					 .check = check_header };
const struct value_type value_file = { "a file", "the path of a file that can be read",
				       STORE_STRING, .check = check_file };
const struct value_type value_directory = { "a directory", "an absolute path", STORE_STRING,
					    .check = check_directory };
const struct value_type value_output = { "a file name", "out.svg", STORE_STRINGS,
					 .check = check_name };
const struct value_type value_output_format = { "an output format", "svg, pprof or folded",
						STORE_STRING, .check = check_output_format };
const struct value_type value_name = { "a name", "printable characters", STORE_STRING,
				       .check = check_name };

const struct value_type value_endpoint = { "an endpoint",
					   "http://HOST:4318, https://HOST/PATH, grpc://HOST:4317 "
					   "or grpcs://HOST:4317",
					   STORE_STRING, .check = check_endpoint };
const struct value_type value_exporter = { "an exporter", "otlp or pyroscope", STORE_CHOICE,
					   CHOICE(exporter_words) };
const struct value_type value_protocol = { "a protocol that profiles are sent by",
					   "http/protobuf or grpc", STORE_CHOICE,
					   CHOICE(protocol_words) };
const struct value_type value_compression = { "a compression of requests", "gzip or none",
					      STORE_EITHER, CHOICE(compression_words) };
const struct value_type value_tenant = { "a tenant's ID",
					 "up to 150 printable characters without blanks",
					 STORE_STRING, .check = check_tenant };
const struct value_type value_destination_verify = { "a way to verify an endpoint's certificate",
						     "full, ca-only or insecure", STORE_CHOICE,
						     CHOICE(destination_verify_words) };
const struct value_type value_preset = { "a preset of attributes", "standard or pyroscope",
					 STORE_CHOICE, CHOICE(preset_words) };
const struct value_type value_attribute = { "an attribute", "KEY=VALUE", STORE_STRINGS,
					    .check = check_attribute };
const struct value_type value_attribute_key = { "the key of an attribute",
						"process.pid or k8s.pod.label.*", STORE_WORDS,
						.check = check_label_key };
const struct value_type value_sample_attributes = {
	"an attribute of samples",
	"thread.name, thread.id, cpu.logical_number, flamelet.cgroup.id, process.pid or "
	"container.id; or all, none or preset",
	STORE_MASK, CHOICE(sample_attribute_words)
};
const struct value_type value_value_limit = { "a number of values from 1 to 10000",
					      "1000",
					      STORE_U32,
					      .read = parse_u64,
					      .min = 1,
					      .max = 10000 };
const struct value_type value_payload = { "a payload", "none or pprof", STORE_EITHER,
					  CHOICE(payload_words) };
const struct value_type value_request_bytes = {
	"a size from 64K to 64M",  "3584K or 16M",	     STORE_U64, .read = parse_bytes,
	.min = UINT64_C(64) << 10, .max = UINT64_C(64) << 20
};
const struct value_type value_destination = { "a file", "the path of a file that can be read",
					      STORE_STRINGS, .check = check_file };
const struct value_type value_export_time = { "a time of profiles", "recorded or now", STORE_EITHER,
					      CHOICE(export_time_words) };

const struct value_type value_word = { "a word", "any text", STORE_STRINGS, .check = check_any };

static int store_string(const struct value_type *type, const char *text, char **field)
{
	int r = type->check(text);
	if (r < 0)
		return r;

	char *copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	free(*field);
	*field = copy;
	return 0;
}

static int add_string(const struct value_type *type, const char *text, void *field)
{
	int r = type->check(text);

	return r < 0 ? r : string_list_add(field, text);
}

/* Adds a word's bit to the mask; "preset" and "all" stand for several bits. */
static int add_bit(const struct value_type *type, const char *word, unsigned int *mask)
{
	if (strcmp(word, "preset") == 0)
		*mask = OPTION_SAMPLE_ATTRIBUTES_PRESET;
	else if (strcmp(word, "all") == 0)
		*mask |= (1u << type->nr_words) - 1;
	else if (strcmp(word, "none") != 0) {
		int r = find_word(type->words, type->nr_words, word);

		if (r < 0)
			return r;
		*mask |= 1u << r;
	}
	return 0;
}

/* Stores the words between commas. No word contains a comma, and an empty one is refused as every
 * other wrong one. */
static int store_words(const struct value_type *type, const char *text, void *field)
{
	for (;; text++) {
		char word[WORD_MAX_BYTES];
		size_t len = strcspn(text, ",");

		if (len >= sizeof(word))
			return -EINVAL;
		memcpy(word, text, len);
		word[len] = '\0';
		int r = type->storage == STORE_MASK ? add_bit(type, word, field)
						    : add_string(type, word, field);
		text += len;
		if (r < 0 || *text == '\0')
			return r;
	}
}

static int store_choice(const struct value_type *type, const char *text, void *field)
{
	int r = find_word(type->words, type->nr_words, text);

	if (r < 0)
		return r;
	if (type->storage == STORE_EITHER)
		*(bool *)field = r == 1;
	else
		*(unsigned int *)field = (unsigned int)r;
	return 0;
}

int value_store(const struct value_type *type, const char *text, void *field)
{
	switch (type->storage) {
	case STORE_FLAG:
	case STORE_BOOL:
		return parse_bool(text, field);
	case STORE_U32:
	case STORE_U64:
		return store_number(type, text, field);
	case STORE_NUMBERS:
		return store_numbers(type, text, field);
	case STORE_CHOICE:
	case STORE_EITHER:
		return store_choice(type, text, field);
	case STORE_STRING:
		return store_string(type, text, field);
	case STORE_STRINGS:
		return add_string(type, text, field);
	case STORE_WORDS:
	case STORE_MASK:
		return store_words(type, text, field);
	}
	return -EINVAL;
}

bool value_is_list(const struct value_type *type)
{
	return type->storage == STORE_STRINGS || type->storage == STORE_WORDS ||
	       type->storage == STORE_NUMBERS || type->storage == STORE_MASK;
}

static bool texts_equal(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool strings_equal(const struct string_list *a, const struct string_list *b)
{
	size_t i = 0;

	while (i < a->nr && i < b->nr && strcmp(a->items[i], b->items[i]) == 0)
		i++;
	return i == a->nr && i == b->nr;
}

static bool numbers_equal(const struct number_list *a, const struct number_list *b)
{
	return a->nr == b->nr &&
	       (a->nr == 0 || memcmp(a->items, b->items, a->nr * sizeof(*a->items)) == 0);
}

bool value_equals(const struct value_type *type, const void *a, const void *b, size_t bytes)
{
	switch (type->storage) {
	case STORE_STRING:
		return texts_equal(*(char *const *)a, *(char *const *)b);
	case STORE_STRINGS:
	case STORE_WORDS:
		return strings_equal(a, b);
	case STORE_NUMBERS:
		return numbers_equal(a, b);
	case STORE_FLAG:
	case STORE_BOOL:
	case STORE_U32:
	case STORE_U64:
	case STORE_CHOICE:
	case STORE_EITHER:
	case STORE_MASK:
		break;
	}
	return memcmp(a, b, bytes) == 0;
}

void value_clear(const struct value_type *type, void *field)
{
	if (type->storage == STORE_STRING) {
		free(*(char **)field);
		*(char **)field = NULL;
	} else if (type->storage == STORE_STRINGS || type->storage == STORE_WORDS) {
		string_list_done(field);
	} else if (type->storage == STORE_NUMBERS) {
		number_list_done(field);
	}
}

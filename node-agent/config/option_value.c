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

#define FREQUENCY_MAX_HZ 10000
#define DURATION_MAX_NS (366 * 24 * 3600 * NSEC_PER_SEC)
#define MEMORY_MIN_BYTES (UINT64_C(1) << 20)
#define STACK_MIN_BYTES 1024
#define STACK_MAX_BYTES 65528
#define STACK_UNIT_BYTES 8
#define PID_MAX_LIMIT (1u << 22) /* the kernel's, on 64-bit machines */
#define CPU_MAX (LIST_ITEMS_MAX - 1)
#define WORD_MAX_BYTES 512 /* of one of the words that commas separate */
#define REQUEST_MIN_BYTES (UINT64_C(64) << 10)
#define REQUEST_MAX_BYTES (UINT64_C(64) << 20)
#define ATTRIBUTE_VALUES_MAX 10000

static int parse_frequency(const char *text, void *field)
{
	uint32_t hz;

	int r = parse_u32(text, &hz);
	if (r < 0)
		return r;
	if (hz < 1 || hz > FREQUENCY_MAX_HZ)
		return -ERANGE;
	*(uint32_t *)field = hz;
	return 0;
}

static int parse_duration_or_zero(const char *text, void *field)
{
	uint64_t ns;

	int r = parse_duration_ns(text, &ns);
	if (r < 0)
		return r;
	if (ns > DURATION_MAX_NS)
		return -ERANGE;
	*(uint64_t *)field = ns;
	return 0;
}

static int parse_duration(const char *text, void *field)
{
	uint64_t ns;

	int r = parse_duration_or_zero(text, &ns);
	if (r < 0)
		return r;
	if (ns == 0)
		return -ERANGE;
	*(uint64_t *)field = ns;
	return 0;
}

static int parse_memory(const char *text, void *field)
{
	uint64_t bytes;

	int r = parse_bytes(text, &bytes);
	if (r < 0)
		return r;
	if (bytes < MEMORY_MIN_BYTES || bytes > SIZE_MAX / 2)
		return -ERANGE;
	*(uint64_t *)field = bytes;
	return 0;
}

static int parse_flag(const char *text, void *field)
{
	return parse_bool(text, field);
}

static int parse_log_level(const char *text, void *field)
{
	return log_level_parse(text, field);
}

/* perf copies at most 64K into a record, in units of 8 bytes. */
static int parse_stack_bytes(const char *text, void *field)
{
	uint64_t bytes;

	int r = parse_bytes(text, &bytes);
	if (r < 0)
		return r;
	if (bytes < STACK_MIN_BYTES || bytes > STACK_MAX_BYTES || bytes % STACK_UNIT_BYTES != 0)
		return -ERANGE;
	*(uint32_t *)field = (uint32_t)bytes;
	return 0;
}

/* Reads "N" or "N-M" at *cursor. */
static int parse_range(const char **cursor, const char *end, uint64_t *ret_first,
		       uint64_t *ret_last)
{
	uint64_t first, last;

	int r = parse_digits(cursor, end, 10, &first);
	if (r < 0)
		return r;
	last = first;
	if (**cursor == '-') {
		(*cursor)++;
		r = parse_digits(cursor, end, 10, &last);
		if (r < 0)
			return r;
	}
	*ret_first = first;
	*ret_last = last;
	return 0;
}

static int add_range(struct number_list *list, uint64_t first, uint64_t last)
{
	for (uint64_t n = first; n <= last; n++) {
		int r = number_list_add(list, (uint32_t)n);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Parses CPUs as the kernel writes them: "0-3,8". */
static int parse_cpus(const char *text, void *field)
{
	const char *end = text + strlen(text);

	for (;; text++) {
		uint64_t first, last;

		int r = parse_range(&text, end, &first, &last);
		if (r < 0)
			return r;
		if (first > last || last > CPU_MAX)
			return -ERANGE;
		r = add_range(field, first, last);
		if (r < 0)
			return r;
		if (*text != ',')
			return text == end ? 0 : -EINVAL;
	}
}

static int parse_pids(const char *text, void *field)
{
	const char *end = text + strlen(text);

	for (;; text++) {
		uint64_t pid;

		int r = parse_digits(&text, end, 10, &pid);
		if (r < 0)
			return r;
		if (pid < 1 || pid > PID_MAX_LIMIT)
			return -ERANGE;
		r = number_list_add(field, (uint32_t)pid);
		if (r < 0)
			return r;
		if (*text != ',')
			return text == end ? 0 : -EINVAL;
	}
}

/* Adds a word's bit to the mask; "preset" and "all" stand for several bits. */
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

const struct value_type value_flag = { "yes or no", "true or false", STORE_FLAG,
				       .parse = parse_flag };
const struct value_type value_on_off = { "a switch", "on or off", STORE_PLAIN,
					 .parse = parse_flag };
const struct value_type value_frequency = { "a frequency from 1 to 10000 Hz", "99", STORE_PLAIN,
					    .parse = parse_frequency };
const struct value_type value_duration = { "a duration", "10s, 500ms or 2m", STORE_PLAIN,
					   .parse = parse_duration };
const struct value_type value_duration_or_zero = { "a duration", "10s, 500ms or 2m", STORE_PLAIN,
						   .parse = parse_duration_or_zero };
const struct value_type value_memory = { "an amount of memory from 1M", "256M or 1G", STORE_PLAIN,
					 .parse = parse_memory };
const struct value_type value_log_level = { "a log level", "error, warn, info or debug",
					    STORE_PLAIN, .parse = parse_log_level };
/* The words of a choice. Their indexes are the values of the enum. */
#define CHOICE(words_) .words = (words_), .nr_words = array_len(words_)

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
static const char *const compression_words[] = { [false] = "none", [true] = "gzip" };
static const char *const payload_words[] = { [false] = "none", [true] = "pprof" };
static const char *const export_time_words[] = { [false] = "recorded", [true] = "now" };

const struct value_type value_verify = { "a way to verify a certificate",
					 "full, ca-only, pinned or insecure", STORE_CHOICE,
					 CHOICE(verify_words) };
const struct value_type value_demangle = { "a way to demangle", "none, short or full", STORE_CHOICE,
					   CHOICE(demangle_words) };
const struct value_type value_capture = { "a way to capture", "auto, bpf or perf", STORE_CHOICE,
					  CHOICE(capture_words) };
const struct value_type value_stack_bytes = { "a size from 1K to 65528 that is a multiple of 8",
					      "32K", STORE_PLAIN, .parse = parse_stack_bytes };
const struct value_type value_pids = { "a list of process or thread ids", "1234 or 1234,5678",
				       STORE_NUMBERS, .parse = parse_pids };
const struct value_type value_cpus = { "a list of CPUs", "0-3,8", STORE_NUMBERS,
				       .parse = parse_cpus };
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
	STORE_MASK, .parse = add_sample_attribute
};
const struct value_type value_value_limit = { "a number of values from 1 to 10000", "1000",
					      STORE_PLAIN, .parse = parse_value_limit };
const struct value_type value_payload = { "a payload", "none or pprof", STORE_EITHER,
					  CHOICE(payload_words) };
const struct value_type value_request_bytes = { "a size from 64K to 64M", "3584K or 16M",
						STORE_PLAIN, .parse = parse_request_bytes };
const struct value_type value_destination = { "a file", "the path of a file that can be read",
					      STORE_STRINGS, .check = check_file };
const struct value_type value_export_time = { "a time of profiles", "recorded or now", STORE_EITHER,
					      CHOICE(export_time_words) };

const struct value_type value_word = { "a word", "any text", STORE_STRINGS, .check = check_any };

static int store_string(const char *text, char **field)
{
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	free(*field);
	*field = copy;
	return 0;
}

static int store_word(const struct value_type *type, const char *word, void *field)
{
	if (type->storage == STORE_MASK)
		return type->parse(word, field);

	int r = type->check(word);
	return r < 0 ? r : string_list_add(field, word);
}

/* No value contains a comma. An empty one is refused as every other wrong one. */
static int store_words(const struct value_type *type, const char *text, void *field)
{
	for (;; text++) {
		char word[WORD_MAX_BYTES];
		size_t len = strcspn(text, ",");

		if (len >= sizeof(word))
			return -EINVAL;
		memcpy(word, text, len);
		word[len] = '\0';
		int r = store_word(type, word, field);
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
	if (type->words)
		return store_choice(type, text, field);
	if (type->storage == STORE_WORDS || type->storage == STORE_MASK)
		return store_words(type, text, field);

	int r = type->check ? type->check(text) : type->parse(text, field);
	if (r < 0)
		return r;
	if (type->storage == STORE_STRING)
		return store_string(text, field);
	if (type->storage == STORE_STRINGS)
		return string_list_add(field, text);
	return 0;
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
	case STORE_PLAIN:
	case STORE_FLAG:
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

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

/* Reads a number of bytes, or "off" as 0. */
static int read_store_rate(const char *text, uint64_t *ret_number)
{
	uint64_t bytes = 0;
	int r = strcmp(text, "off") == 0 ? 0 : parse_bytes(text, &bytes);

	if (r == 0 && bytes > 0 && bytes < UINT64_C(1) << 20)
		r = -ERANGE;
	if (r == 0)
		*ret_number = bytes;
	return r;
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

#define VALUE(name_, storage_, expected_, ...)                                                     \
	const struct value_type value_##name_ = { .storage = (storage_),                           \
						  .expected = (expected_),                         \
						  __VA_ARGS__ }

/* The words of a choice or a mask. Their indexes are the values of the enum, or the bits. */
#define WORDS(...)                                                                                 \
	.words = (const char *const[]){ __VA_ARGS__ },                                             \
	.nr_words = array_len(((const char *const[]){ __VA_ARGS__ }))

VALUE(flag, STORE_FLAG, "true or false");
VALUE(on_off, STORE_BOOL, "on or off");
VALUE(frequency, STORE_U32, "a number of Hz from 1 to 10000, for example 99", .read = parse_u64,
      .min = 1, .max = 10000);
VALUE(event_period, STORE_U64, "a number of events from 1 to 1000000000000", .read = parse_u64,
      .min = 1, .max = 1000000000000);
VALUE(duration, STORE_U64, "a time longer than 0, for example 500ms, 10s or 2m",
      .read = parse_duration_ns, .min = 1, .max = DURATION_MAX_NS);
VALUE(slice, STORE_U64, "whole seconds up to 1m, for example 15s", .read = parse_duration_ns,
      .min = NSEC_PER_SEC, .max = 60 * NSEC_PER_SEC, .unit = NSEC_PER_SEC);
VALUE(duration_or_zero, STORE_U64, "0 or a time, for example 500ms, 10s or 2m",
      .read = parse_duration_ns, .max = DURATION_MAX_NS);
VALUE(memory, STORE_U64, "a size of at least 1M, for example 256M or 1G", .read = parse_bytes,
      .min = UINT64_C(1) << 20, .max = SIZE_MAX / 2);

VALUE(log_level, STORE_CHOICE, "error, warn, info or debug",
      WORDS([LOG_LEVEL_ERROR] = "error", [LOG_LEVEL_WARN] = "warn", [LOG_LEVEL_INFO] = "info",
	    [LOG_LEVEL_DEBUG] = "debug"));
VALUE(verify, STORE_CHOICE, "full, ca-only, pinned or insecure",
      WORDS([HTTP_VERIFY_FULL] = "full", [HTTP_VERIFY_CA_ONLY] = "ca-only",
	    [HTTP_VERIFY_NONE] = "insecure", [HTTP_VERIFY_PINNED] = "pinned"));
VALUE(demangle, STORE_CHOICE, "none, short or full",
      WORDS([OPTION_DEMANGLE_NONE] = "none", [OPTION_DEMANGLE_SHORT] = "short",
	    [OPTION_DEMANGLE_FULL] = "full"));
/* In the order of enum runtime_kind, without the first one. */
VALUE(runtimes, STORE_MASK, "cpython, hotspot or v8; or all or none",
      WORDS("cpython", "hotspot", "v8"));
VALUE(asked_kind, STORE_CHOICE,
      "cpu, offcpu, lock, contentions, growth, alloc, alloc-objects, heap, heap-objects or irq",
      WORDS([OPTION_ASKED_CPU] = "cpu", [OPTION_ASKED_OFF_CPU] = "offcpu",
	    [OPTION_ASKED_LOCK] = "lock", [OPTION_ASKED_CONTENTIONS] = "contentions",
	    [OPTION_ASKED_GROWTH] = "growth", [OPTION_ASKED_ALLOC] = "alloc",
	    [OPTION_ASKED_ALLOC_OBJECTS] = "alloc-objects", [OPTION_ASKED_HEAP] = "heap",
	    [OPTION_ASKED_HEAP_OBJECTS] = "heap-objects", [OPTION_ASKED_IRQ] = "irq"));
VALUE(kinds, STORE_MASK,
      "cpu, offcpu, lock, wall, growth, alloc, heap, irq or runq; for the agent, several of them; "
      "for a "
      "recording also "
      "hw:cycles, hw:instructions, hw:cache-misses, hw:branch-misses, sw:page-faults, "
      "sw:major-faults, sw:context-switches or sw:migrations",
      WORDS([OPTION_KIND_CPU] = "cpu", [OPTION_KIND_OFF_CPU] = "offcpu",
	    [OPTION_KIND_LOCK] = "lock", [OPTION_KIND_WALL] = "wall",
	    [OPTION_KIND_GROWTH] = "growth", [OPTION_KIND_ALLOC] = "alloc",
	    [OPTION_KIND_HEAP] = "heap", [OPTION_KIND_IRQ] = "irq",
	    [OPTION_KIND_RUN_QUEUE] = "runq", [OPTION_KIND_EVENT] = "hw:cycles", "hw:instructions",
	    "hw:cache-misses", "hw:branch-misses", "sw:page-faults", "sw:major-faults",
	    "sw:context-switches", "sw:migrations"),
      .is_literal = true);
/* In the order of enum wait_reason, without the first one. */
VALUE(reasons, STORE_MASK,
      "preempted, run-queue, disk, page-fault, reclaim, network, pipe, poll, futex, kernel-lock, "
      "sleep, child, signal, idle, other, running or throttled; or all or none",
      WORDS("preempted", "run-queue", "disk", "page-fault", "reclaim", "network", "pipe", "poll",
	    "futex", "kernel-lock", "sleep", "child", "signal", "idle", "other", "running",
	    "throttled"));
VALUE(capture, STORE_CHOICE, "auto, bpf or perf",
      WORDS([OPTION_CAPTURE_AUTO] = "auto", [OPTION_CAPTURE_BPF] = "bpf",
	    [OPTION_CAPTURE_PERF] = "perf"));
VALUE(stack_bytes, STORE_U32, "a multiple of 8 from 1024 to 65528 bytes, for example 32K",
      .read = parse_bytes, .min = 1024, .max = STACK_MAX_BYTES, .unit = 8);
VALUE(pids, STORE_NUMBERS, "process or thread ids from 1 to 4194304, for example 1234,5678",
      .min = 1, .max = PID_MAX);
VALUE(cpus, STORE_NUMBERS, "CPU numbers from 0 to 8191, for example 0-3,8", .max = CPU_MAX,
      .has_ranges = true);
VALUE(namespace, STORE_WORDS, "names of namespaces, for example shop,billing",
      .check = check_namespace);
VALUE(pod, STORE_WORDS, "names of pods, for example cart-0 or shop/cart-0", .check = check_pod);
VALUE(container, STORE_WORDS, "names of containers, or 12 to 64 hex digits of their IDs",
      .check = check_container);
VALUE(selector, STORE_STRINGS, "a label selector, for example \"app=web,tier in (a,b),!canary\"",
      .check = check_selector);
VALUE(label_key, STORE_WORDS, "keys of labels or annotations, for example team or example.com/*",
      .check = check_label_key);
VALUE(ui_listen, STORE_STRING, "127.0.0.1:PORT, [::1]:PORT, localhost:PORT or unix:/PATH",
      .check = check_ui_listen);
VALUE(listen, STORE_STRING,
      "127.0.0.1:PORT, [::1]:PORT, localhost:PORT or unix:/PATH; other hosts can "
      "only get --metrics-listen",
      .check = check_listen);
VALUE(metrics_listen, STORE_STRING,
      "*:PORT, 0.0.0.0:PORT, [::]:PORT or 10.1.2.3:PORT; for a Unix socket, use --listen",
      .check = check_metrics_listen);
VALUE(cgroup, STORE_STRINGS, "the path of a cgroup, for example /system.slice/cron.service",
      .check = check_name);
VALUE(comm, STORE_STRINGS, "a process name of at most 15 bytes, as ps -o comm shows it",
      .check = check_comm);
VALUE(url, STORE_STRING, "an http or https URL, for example https://10.0.0.1:10250",
      .check = check_url);
VALUE(urls, STORE_STRING,
      "http or https URLs separated by spaces, for "
      "example \"http://HOST:8002 https://HOST\"",
      .check = check_urls);
VALUE(header, STORE_STRINGS, "an HTTP header like \"Name: value\"", .is_secret = true,
      .check = check_header);
VALUE(file, STORE_STRING, "the path of a file that can be read", .check = check_file);
VALUE(directory, STORE_STRING, "an absolute path", .check = check_directory);
VALUE(output, STORE_STRINGS, "a file name, for example out.svg", .check = check_name);
VALUE(output_format, STORE_STRING,
      "svg, html, pprof, folded, speedscope, firefox, json, csv or view",
      WORDS("svg", "html", "pprof", "folded", "speedscope", "firefox", "json", "csv", "view"));
VALUE(group, STORE_WORDS, "names of labels, for example namespace,pod or k8s.pod.label.app",
      .check = check_group);
VALUE(kernel, STORE_CHOICE, "all, only or hide",
      WORDS([OPTION_KERNEL_ALL] = "all", [OPTION_KERNEL_ONLY] = "only",
	    [OPTION_KERNEL_HIDE] = "hide"));
VALUE(name, STORE_STRING, "printable characters", .check = check_name);

VALUE(endpoint, STORE_STRING,
      "http://HOST:4318, https://HOST/PATH, or, without a path, grpc://HOST:4317 or "
      "grpcs://HOST:4317",
      .check = check_endpoint);
VALUE(exporter, STORE_CHOICE, "otlp or pyroscope",
      WORDS([OPTION_EXPORTER_OTLP] = "otlp", [OPTION_EXPORTER_PYROSCOPE] = "pyroscope"));
VALUE(protocol, STORE_CHOICE, "http/protobuf or grpc",
      WORDS([OPTION_PROTOCOL_HTTP] = "http/protobuf", [OPTION_PROTOCOL_GRPC] = "grpc"));
VALUE(compression, STORE_EITHER, "gzip or none", WORDS([false] = "none", [true] = "gzip"));
VALUE(tenant, STORE_STRING, "1 to 150 printable characters without blanks", .check = check_tenant);
/* A destination's certificate cannot be pinned. */
VALUE(destination_verify, STORE_CHOICE, "full, ca-only or insecure",
      WORDS([HTTP_VERIFY_FULL] = "full", [HTTP_VERIFY_CA_ONLY] = "ca-only",
	    [HTTP_VERIFY_NONE] = "insecure"));
VALUE(preset, STORE_CHOICE, "standard or pyroscope",
      WORDS([OPTION_PRESET_STANDARD] = "standard", [OPTION_PRESET_PYROSCOPE] = "pyroscope"));
VALUE(attribute, STORE_STRINGS, "KEY=VALUE", .check = check_attribute);
VALUE(attribute_key, STORE_WORDS, "keys of attributes, for example process.pid or k8s.pod.label.*",
      .check = check_label_key);
VALUE(sample_attributes, STORE_MASK,
      "thread.name, thread.id, cpu.logical_number, flamelet.cgroup.id, process.pid, "
      "container.id or flamelet.wait.reason; or all, none or preset",
      WORDS("thread.name", "cpu.logical_number", "flamelet.cgroup.id", "thread.id", "process.pid",
	    "container.id", "flamelet.wait.reason"),
      .has_preset = true);
VALUE(value_limit, STORE_U32, "a number from 1 to 10000, for example 1000", .read = parse_u64,
      .min = 1, .max = 10000);
VALUE(payload, STORE_EITHER, "none or pprof", WORDS([false] = "none", [true] = "pprof"));
VALUE(request_bytes, STORE_U64, "a size from 64K to 64M, for example 3584K", .read = parse_bytes,
      .min = UINT64_C(64) << 10, .max = UINT64_C(64) << 20);
VALUE(destination, STORE_STRINGS, "the path of a file that can be read", .check = check_file);
VALUE(export_time, STORE_EITHER, "recorded or now", WORDS([false] = "recorded", [true] = "now"));

VALUE(store_rate, STORE_U64, "off, or a size of at least 1M, for example 100M",
      .read = read_store_rate, .max = SIZE_MAX / 2);
VALUE(trigger, STORE_STRINGS, "a rule, for example 'pod-cpu > 150%'", .check = check_name);
VALUE(around, STORE_U64, "whole seconds from 1s to 10m, for example 30s", .read = parse_duration_ns,
      .min = NSEC_PER_SEC, .max = 600 * NSEC_PER_SEC, .unit = NSEC_PER_SEC);
VALUE(webhook, STORE_STRING, "an http or https URL", .is_secret = true, .check = check_url);
VALUE(per_hour, STORE_U32, "a number from 1 to 60, for example 6", .read = parse_u64, .min = 1,
      .max = 60);
VALUE(store_path, STORE_STRINGS, "the path of a directory or a file", .check = check_name);

VALUE(by, STORE_CHOICE, "application, workload, pod, container, process, thread, comm or function",
      WORDS([OPTION_BY_APPLICATION] = "application", [OPTION_BY_WORKLOAD] = "workload",
	    [OPTION_BY_POD] = "pod", [OPTION_BY_CONTAINER] = "container",
	    [OPTION_BY_PROCESS] = "process", [OPTION_BY_THREAD] = "thread",
	    [OPTION_BY_COMM] = "comm", [OPTION_BY_FUNCTION] = "function"));
/* Samples arrive by the second. */
VALUE(interval, STORE_U64, "a time of at least 1s, for example 2s", .read = parse_duration_ns,
      .min = NSEC_PER_SEC, .max = DURATION_MAX_NS);
VALUE(count, STORE_U32, "a number from 1 to 1000000, for example 10", .read = parse_u64, .min = 1,
      .max = 1000000);

VALUE(word, STORE_STRINGS, "any text", .check = check_any);

/* Returns the index of the word that equals the text. Errors: -EINVAL if there is none. */
static int find_word(const struct value_type *type, const char *text)
{
	for (size_t i = 0; i < type->nr_words; i++) {
		if (type->words[i] && strcmp(text, type->words[i]) == 0)
			return (int)i;
	}
	return -EINVAL;
}

static int store_string(const struct value_type *type, const char *text, char **field)
{
	int r = type->words ? find_word(type, text) : type->check(text);
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

/* Adds a word's bit to the mask; "preset" and "all" stand for several bits, and "none" for none. */
static int add_bit(const struct value_type *type, const char *word, unsigned int *mask)
{
	if (type->has_preset && strcmp(word, "preset") == 0)
		*mask = OPTION_SAMPLE_ATTRIBUTES_PRESET;
	else if (!type->is_literal && strcmp(word, "all") == 0)
		*mask |= (1u << type->nr_words) - 1;
	else if (type->is_literal || strcmp(word, "none") != 0) {
		int r = find_word(type, word);

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
	int r = find_word(type, text);

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

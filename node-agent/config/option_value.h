/* SPDX-License-Identifier: Apache-2.0 */
/* The types of values that options have. A type says how to check a text and how to store it in a
 * field. */
#ifndef CONFIG_OPTION_VALUE_H
#define CONFIG_OPTION_VALUE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum value_storage {
	STORE_FLAG, /* bool: an option without argument */
	STORE_BOOL, /* bool */
	STORE_U32, /* uint32_t */
	STORE_U64, /* uint64_t */
	STORE_NUMBERS, /* struct number_list; commas separate several numbers */
	STORE_STRING, /* char * */
	STORE_STRINGS, /* struct string_list */
	STORE_WORDS, /* the same; commas separate several values */
	STORE_CHOICE, /* an enum: the index of one of `words` */
	STORE_EITHER, /* bool: true for the second one of two `words` */
	STORE_MASK, /* unsigned int: a bit for each of `words`; commas separate several words */
};

struct value_type {
	const char *expected; /* words for messages: "expected TEXT" */
	enum value_storage storage;
	bool is_secret; /* never repeated in a message */

	/* Strings without `words`. */
	int (*check)(const char *text);

	/* Numbers. */
	int (*read)(const char *text, uint64_t *ret_number); /* of a single number */
	uint64_t min, max;
	uint64_t unit; /* the number is a multiple of it; 0: any number */
	bool has_ranges; /* "N-M" in a list stands for all numbers from N to M */

	/* Choices, masks and strings. NULL elements stand for values without a word. */
	const char *const *words;
	size_t nr_words;
	bool has_preset; /* of masks: the word "preset" stands for several bits */
	bool is_literal; /* of masks: the words "all" and "none" are not known */
};

extern const struct value_type value_flag, value_frequency, value_event_period, value_duration,
	value_duration_or_zero, value_slice, value_on_off, value_memory, value_log_level,
	value_verify, value_demangle, value_capture, value_stack_bytes, value_pids, value_cpus,
	value_namespace, value_pod, value_container, value_selector, value_cgroup, value_comm,
	value_url, value_urls, value_header, value_file, value_directory, value_output,
	value_output_format, value_group, value_kernel, value_name, value_label_key, value_listen,
	value_metrics_listen, value_endpoint, value_exporter, value_protocol, value_compression,
	value_runtimes, value_asked_kind, value_kinds, value_reasons, value_tenant,
	value_destination_verify, value_preset, value_attribute, value_attribute_key,
	value_sample_attributes, value_value_limit, value_payload, value_request_bytes,
	value_destination, value_export_time, value_word, value_store_rate, value_store_path,
	value_by, value_interval, value_count, value_ui_listen;
/* Of triggers. */
extern const struct value_type value_trigger, value_around, value_per_hour, value_webhook;

/* Stores `text` in the field, or adds it to a list. Errors: -EINVAL and -ERANGE when it is not a
 * value of that type, -ENOSPC when the list is full, -ENOMEM, those of access(2) for a file. */
int value_store(const struct value_type *type, const char *text, void *field) must_check;

/* Returns whether the field is a list. */
bool value_is_list(const struct value_type *type);

/* Returns whether two fields of `bytes` bytes have the same value; lists also in the same order. */
bool value_equals(const struct value_type *type, const void *a, const void *b, size_t bytes);

/* Frees what the field owns. */
void value_clear(const struct value_type *type, void *field);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "config/environment.h"

#include "base/cleanup.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "config/option_list.h"

#include <stdlib.h>
#include <string.h>

#define PAIR_MAX_BYTES 8192

const char *env_first_set(const char *const *names, size_t nr_names)
{
	for (size_t i = 0; i < nr_names; i++) {
		const char *value = names[i] ? getenv(names[i]) : NULL;

		if (value && *value)
			return names[i];
	}
	return NULL;
}

const char *env_variable_of(const struct option *option)
{
	return env_first_set(option->env, array_len(option->env));
}

/* Appends `len` bytes of text with %XX resolved. */
static int append_decoded(struct strbuf *out, const char *text, size_t len)
{
	for (const char *end = text + len; text < end; text++) {
		uint64_t byte = (unsigned char)*text;

		if (*text == '%') {
			const char *digits = text + 1;

			if (end - digits < 2 || parse_digits(&digits, text + 3, 16, &byte) < 0 ||
			    digits != text + 3 || byte == 0)
				return -EINVAL;
			text += 2;
		}
		strbuf_append_char(out, (char)byte);
	}
	return strbuf_error(out);
}

static void trim(const char **text, size_t *len)
{
	while (*len > 0 && strchr(" \t", **text)) {
		(*text)++;
		(*len)--;
	}
	while (*len > 0 && strchr(" \t", (*text)[*len - 1]))
		(*len)--;
}

/* "name=value" becomes the two of them with `joint` between. */
static int add_pair(const char *text, size_t len, const char *joint, struct string_list *values)
{
	_cleanup_(strbuf_done) struct strbuf pair = strbuf_with_max(PAIR_MAX_BYTES);
	const char *equals = memchr(text, '=', len);

	if (!equals)
		return -EINVAL;

	const char *value = equals + 1;
	size_t name_len = (size_t)(equals - text), value_len = len - name_len - 1;
	trim(&text, &name_len);
	trim(&value, &value_len);
	int r = append_decoded(&pair, text, name_len);
	if (r < 0)
		return r;
	if (strchr(strbuf_str(&pair), *joint))
		return -EINVAL; /* the name would end there */
	strbuf_append_str(&pair, joint);
	r = append_decoded(&pair, value, value_len);
	return r < 0 ? r : string_list_add(values, strbuf_str(&pair));
}

static int add_pairs(const char *text, const char *joint, struct string_list *values)
{
	for (;; text++) {
		const char *item = text;
		size_t len = strcspn(text, ",");

		text += len;
		trim(&item, &len);
		int r = len > 0 ? add_pair(item, len, joint, values) : 0;
		if (r < 0 || *text == '\0')
			return r;
	}
}

static int add_service_name(const char *text, struct string_list *values)
{
	_cleanup_(strbuf_done) struct strbuf attribute = strbuf_with_max(PAIR_MAX_BYTES);

	strbuf_appendf(&attribute, "service.name=%s", text);
	int r = strbuf_error(&attribute);
	return r < 0 ? r : string_list_add(values, strbuf_str(&attribute));
}

static int add_word(const char *text, struct string_list *values)
{
	_cleanup_free_ char *word = strdup(text);

	if (!word)
		return -ENOMEM;
	for (char *c = word; *c; c++) {
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
	}
	return string_list_add(values, word);
}

static int add_milliseconds(const char *text, struct string_list *values)
{
	_cleanup_(strbuf_done) struct strbuf duration = strbuf_with_max(64);
	uint64_t ms;

	int r = parse_u64(text, &ms);
	if (r < 0)
		return -EINVAL;
	strbuf_appendf(&duration, "%sms", text);
	r = strbuf_error(&duration);
	return r < 0 ? r : string_list_add(values, strbuf_str(&duration));
}

int env_translate(enum env_format format, const char *text, struct string_list *values)
{
	switch (format) {
	case ENV_WORD:
		return add_word(text, values);
	case ENV_HEADERS:
		return add_pairs(text, ": ", values);
	case ENV_ATTRIBUTES:
		return add_pairs(text, "=", values);
	case ENV_SERVICE_NAME:
		return add_service_name(text, values);
	case ENV_MILLISECONDS:
		return add_milliseconds(text, values);
	case ENV_TEXT:
		break;
	}
	return string_list_add(values, text);
}

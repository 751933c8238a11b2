/* SPDX-License-Identifier: Apache-2.0 */
#include "config/environment.h"

#include "base/cleanup.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "config/option_list.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_MAX_BYTES 8192

const char *env_variable_of(const struct option *option)
{
	for (size_t i = 0; i < array_len(option->env); i++) {
		const char *value = option->env[i] ? getenv(option->env[i]) : NULL;

		if (value && *value)
			return option->env[i];
	}
	return NULL;
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

/* "name=value" becomes "name: value". */
static int add_header(const char *text, size_t len, struct string_list *values)
{
	_cleanup_(strbuf_done) struct strbuf header = strbuf_with_max(HEADER_MAX_BYTES);
	const char *equals = memchr(text, '=', len);

	if (!equals)
		return -EINVAL;

	const char *value = equals + 1;
	size_t name_len = (size_t)(equals - text), value_len = len - name_len - 1;
	trim(&text, &name_len);
	trim(&value, &value_len);
	int r = append_decoded(&header, text, name_len);
	if (r < 0)
		return r;
	strbuf_append_str(&header, ": ");
	r = append_decoded(&header, value, value_len);
	return r < 0 ? r : string_list_add(values, strbuf_str(&header));
}

static int add_headers(const char *text, struct string_list *values)
{
	for (;; text++) {
		const char *item = text;
		size_t len = strcspn(text, ",");

		text += len;
		trim(&item, &len);
		int r = len > 0 ? add_header(item, len, values) : 0;
		if (r < 0 || *text == '\0')
			return r;
	}
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
	case ENV_HEADERS:
		return add_headers(text, values);
	case ENV_MILLISECONDS:
		return add_milliseconds(text, values);
	case ENV_TEXT:
		break;
	}
	return string_list_add(values, text);
}

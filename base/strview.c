/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strview.h"

#include "base/err.h"

#include <string.h>

struct span span_of(const char *text, size_t max)
{
	return (struct span){ text, strnlen(text, max) };
}

bool span_next(struct span *rest, char separator, struct span *ret_part)
{
	if (!rest->text)
		return false;

	const char *end = memchr(rest->text, separator, rest->len);
	if (!end) {
		*ret_part = *rest;
		*rest = (struct span){ 0 };
		return true;
	}
	*ret_part = (struct span){ rest->text, (size_t)(end - rest->text) };
	rest->len -= ret_part->len + 1;
	rest->text = end + 1;
	return true;
}

struct span span_behind_last(struct span span, char separator)
{
	const char *last = span.len > 0 ? memrchr(span.text, separator, span.len) : NULL;

	return last ? span_tail(span, span.len - (size_t)(last + 1 - span.text)) : span;
}

bool span_is(struct span span, const char *text)
{
	return span.len == strlen(text) && span_starts_with(span, text);
}

bool span_starts_with(struct span span, const char *prefix)
{
	size_t len = strlen(prefix);

	return span.len >= len && (len == 0 || memcmp(span.text, prefix, len) == 0);
}

bool span_ends_with(struct span span, const char *suffix)
{
	size_t len = strlen(suffix);

	return span.len >= len && span_starts_with(span_tail(span, len), suffix);
}

struct span span_without_prefix(struct span span, const char *prefix)
{
	return span_starts_with(span, prefix) ? span_tail(span, span.len - strlen(prefix)) : span;
}

struct span span_without_suffix(struct span span, const char *suffix)
{
	return span_ends_with(span, suffix) ? span_head(span, span.len - strlen(suffix)) : span;
}

struct span span_head(struct span span, size_t len)
{
	return (struct span){ span.text, len };
}

struct span span_tail(struct span span, size_t len)
{
	return (struct span){ span.text + (span.len - len), len };
}

bool span_has_only(struct span span, const char *characters)
{
	for (size_t i = 0; i < span.len; i++)
		if (!span.text[i] || !strchr(characters, span.text[i]))
			return false;
	return true;
}

bool span_is_hex(struct span span)
{
	return span_has_only(span, "0123456789abcdef");
}

bool span_is_uuid(struct span span)
{
	static const size_t group_lens[] = { 8, 4, 4, 4, 12 };
	struct span group;

	if (span.len <= group_lens[0])
		return false;
	char separator = span.text[group_lens[0]];
	if (separator != '-' && separator != '_')
		return false;
	for (size_t i = 0; i < array_len(group_lens); i++)
		if (!span_next(&span, separator, &group) || group.len != group_lens[i] ||
		    !span_is_hex(group))
			return false;
	return !span.text;
}

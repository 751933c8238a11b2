/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hex.h"
#include "base/strview.h"

#include "base/err.h"

#include <string.h>

struct strview strview_of(const char *text, size_t max)
{
	return (struct strview){ text, strnlen(text, max) };
}

bool strview_next(struct strview *rest, char separator, struct strview *ret_part)
{
	if (!rest->text)
		return false;

	const char *end = memchr(rest->text, separator, rest->len);
	if (!end) {
		*ret_part = *rest;
		*rest = (struct strview){ 0 };
		return true;
	}
	*ret_part = (struct strview){ rest->text, (size_t)(end - rest->text) };
	rest->len -= ret_part->len + 1;
	rest->text = end + 1;
	return true;
}

struct strview strview_behind_last(struct strview view, char separator)
{
	const char *last = view.len > 0 ? memrchr(view.text, separator, view.len) : NULL;

	return last ? strview_tail(view, view.len - (size_t)(last + 1 - view.text)) : view;
}

bool strview_is(struct strview view, const char *text)
{
	return view.len == strlen(text) && strview_starts_with(view, text);
}

bool strview_starts_with(struct strview view, const char *prefix)
{
	size_t len = strlen(prefix);

	return view.len >= len && (len == 0 || memcmp(view.text, prefix, len) == 0);
}

bool strview_ends_with(struct strview view, const char *suffix)
{
	size_t len = strlen(suffix);

	return view.len >= len && strview_starts_with(strview_tail(view, len), suffix);
}

struct strview strview_without_prefix(struct strview view, const char *prefix)
{
	return strview_starts_with(view, prefix) ? strview_tail(view, view.len - strlen(prefix))
						 : view;
}

struct strview strview_without_suffix(struct strview view, const char *suffix)
{
	return strview_ends_with(view, suffix) ? strview_head(view, view.len - strlen(suffix))
					       : view;
}

struct strview strview_head(struct strview view, size_t len)
{
	return (struct strview){ view.text, len };
}

struct strview strview_tail(struct strview view, size_t len)
{
	return (struct strview){ view.text + (view.len - len), len };
}

bool strview_has_only(struct strview view, const char *characters)
{
	for (size_t i = 0; i < view.len; i++)
		if (!view.text[i] || !strchr(characters, view.text[i]))
			return false;
	return true;
}

bool strview_is_hex(struct strview view)
{
	return strview_has_only(view, HEX_DIGITS);
}

bool strview_is_uuid(struct strview view)
{
	static const size_t group_lens[] = { 8, 4, 4, 4, 12 };
	struct strview group;

	if (view.len <= group_lens[0])
		return false;
	char separator = view.text[group_lens[0]];
	if (separator != '-' && separator != '_')
		return false;
	for (size_t i = 0; i < array_len(group_lens); i++)
		if (!strview_next(&view, separator, &group) || group.len != group_lens[i] ||
		    !strview_is_hex(group))
			return false;
	return !view.text;
}

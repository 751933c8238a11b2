/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/flame_label.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/printable.h"
#include "base/text.h"
#include "profile/xml.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ELLIPSIS "\xe2\x80\xa6" /* U+2026 */
#define NAME_MAX_BYTES ((size_t)1 << 16)

/* Returns whether a byte of UTF-8 is the first one of a character. */
static bool is_char_begin(char byte)
{
	return ((uint8_t)byte & 0xc0) != 0x80;
}

/* Returns the start of the parameters of a C++ or Java function; the end of a name without
 * parameters. */
static char *find_parameters(char *text)
{
	char *end = text + strlen(text);
	int depth = 0;

	if (end - text > 6 && strcmp(end - 6, " const") == 0)
		end -= 6;
	if (end == text || end[-1] != ')')
		return text + strlen(text);
	for (char *c = end; c > text + 1; c--) {
		depth += c[-1] == ')';
		depth -= c[-1] == '(';
		if (depth == 0)
			return c - 1;
	}
	return text + strlen(text);
}

/* Returns the part after a Go function's package: "(*T).f" of "net/http.(*T).f". */
static const char *find_go_name(const char *text)
{
	const char *slash = strrchr(text, '/');
	const char *dot = strchr(slash ? slash : text, '.');

	return dot ? dot + 1 : NULL;
}

/* Returns the part after a Go method's receiver: "f" of "(*T).f". */
static const char *find_go_method(const char *text)
{
	const char *receiver = strstr(text, ").");

	return receiver ? receiver + 2 : NULL;
}

static bool is_separator(const char *text)
{
	return *text == '/' || strncmp(text, "::", 2) == 0;
}

/* Returns the longest end of a name that consists of whole words and fits after an ellipsis; NULL
 * if there is none. */
static const char *find_tail(const char *text, enum flame_kind kind, size_t max_chars)
{
	const char *go_name = kind == FLAME_GO ? find_go_name(text) : NULL;
	const char *go_method = kind == FLAME_GO ? find_go_method(text) : NULL;

	size_t nr_left = text_columns(text);

	for (const char *c = text; *c; nr_left -= is_char_begin(*c), c++)
		if (c > text && nr_left < max_chars &&
		    (is_separator(c) || c == go_name || c == go_method))
			return c;
	return NULL;
}

static const char *find_last_word(const char *text, enum flame_kind kind)
{
	const char *go_name = kind == FLAME_GO ? find_go_name(text) : NULL;
	const char *go_method = kind == FLAME_GO ? find_go_method(text) : NULL;
	const char *last = text;

	for (const char *c = text; *c; c++)
		if (is_separator(c) && c[1 + (*c == ':')])
			last = c + 1 + (*c == ':');
	if (go_name && go_name > last)
		last = go_name;
	return go_method && go_method > last ? go_method : last;
}

static void append_end(struct strbuf *out, const char *text, enum flame_kind kind, size_t max_chars)
{
	const char *tail = find_tail(text, kind, max_chars);

	if (!tail) {
		xml_append_elided(out, find_last_word(text, kind), max_chars);
		return;
	}
	strbuf_append_str(out, ELLIPSIS);
	xml_append(out, tail);
}

void flame_label_append(struct strbuf *out, const char *name, enum flame_kind kind,
			size_t max_chars)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(NAME_MAX_BYTES);

	printable_append(&text, name);
	if (strbuf_error(&text) == -ENOMEM)
		out->error = -ENOMEM;
	if (strbuf_error(&text) < 0 || text.len == 0 || text_columns(text.data) <= max_chars) {
		xml_append_elided(out, name, max_chars);
		return;
	}
	char *parameters = find_parameters(text.data);
	bool is_cut = *parameters != '\0';
	*parameters = '\0';
	if (is_cut && text_columns(text.data) < max_chars) {
		xml_append(out, text.data);
		strbuf_append_str(out, ELLIPSIS);
	} else {
		append_end(out, text.data, kind, max_chars);
	}
}

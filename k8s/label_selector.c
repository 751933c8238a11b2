/* SPDX-License-Identifier: Apache-2.0 */
/* The grammar; the parser reads one token ahead, and tokens may be separated by blanks:
 *
 *	selector    := [ requirement { "," requirement } ]
 *	requirement := KEY | "!" KEY
 *	             | KEY ( "=" | "==" | "!=" ) [ VALUE ]
 *	             | KEY ( "in" | "notin" ) "(" [ VALUE ] { "," [ VALUE ] } ")"
 *
 * An omitted value is the empty one, but "()" has no value and is refused. "in" and "notin" are
 * words: they may be keys and values, too. The operators ">" and "<" are for nodes' labels and are
 * refused. */
#include "k8s/label_selector.h"

#include "base/arena.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define ALNUM LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS
#define BLANKS " \t\r\n"
#define SYMBOLS "=!(),<>"
#define PREFIX_MAX 253
#define NAME_MAX_BYTES 63 /* of a key's name and of a value */

enum operation {
	KEY_EXISTS,
	KEY_IS_ABSENT,
	VALUE_IN,
	VALUE_NOT_IN,
};

struct requirement {
	enum operation operation;
	const char *key;
	size_t first_value, nr_values; /* in label_selector.values */
};

struct label_selector {
	struct arena arena; /* the strings */
	struct requirement *requirements; /* owned */
	size_t nr_requirements, cap_requirements;
	const char **values; /* owned */
	size_t nr_values, cap_values;
};

enum token_kind {
	TOKEN_END,
	TOKEN_WORD,
	TOKEN_EQUALS, /* "=" and "==" */
	TOKEN_NOT_EQUALS,
	TOKEN_NOT,
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_COMMA,
	TOKEN_UNKNOWN,
};

struct parser {
	const char *text; /* borrowed */
	enum token_kind kind; /* of the current token */
	const char *start; /* of the current token */
	size_t len;
	struct label_selector *selector; /* borrowed */
	struct strbuf *message; /* borrowed */
};

static enum token_kind symbol_kind(const char *text, size_t *ret_len)
{
	*ret_len = 1;
	switch (*text) {
	case '(':
		return TOKEN_OPEN;
	case ')':
		return TOKEN_CLOSE;
	case ',':
		return TOKEN_COMMA;
	case '=':
		*ret_len += text[1] == '=';
		return TOKEN_EQUALS;
	case '!':
		*ret_len += text[1] == '=';
		return text[1] == '=' ? TOKEN_NOT_EQUALS : TOKEN_NOT;
	default:
		return TOKEN_UNKNOWN;
	}
}

/* Moves to the next token. */
static void advance(struct parser *parser)
{
	parser->start += parser->len;
	parser->start += strspn(parser->start, BLANKS);
	parser->len = strcspn(parser->start, BLANKS SYMBOLS);
	if (parser->len > 0)
		parser->kind = TOKEN_WORD;
	else if (*parser->start)
		parser->kind = symbol_kind(parser->start, &parser->len);
	else
		parser->kind = TOKEN_END;
}

static bool token_is_word(const struct parser *parser, const char *word)
{
	return parser->kind == TOKEN_WORD && parser->len == strlen(word) &&
	       memcmp(parser->start, word, parser->len) == 0;
}

static int refuse(struct parser *parser, const char *expected)
{
	strbuf_appendf(parser->message,
		       "character %zu: ", (size_t)(parser->start - parser->text) + 1);
	if (parser->kind == TOKEN_END)
		strbuf_append_str(parser->message, "the selector ends");
	else
		strbuf_appendf(parser->message, "\"%.*s\"", (int)parser->len, parser->start);
	strbuf_appendf(parser->message, "; expected %s", expected);
	return -EINVAL;
}

static int refuse_limit(struct parser *parser)
{
	strbuf_appendf(parser->message, "too long; at most %d bytes and %d requirements",
		       LABEL_SELECTOR_MAX_BYTES, LABEL_SELECTOR_MAX_REQUIREMENTS);
	return -ENOSPC;
}

/* Returns whether it consists of letters, digits and, inside, "-_.". */
static bool is_name(const char *text, size_t len)
{
	return len > 0 && len <= NAME_MAX_BYTES && strspn(text, ALNUM "-_.") >= len &&
	       !strchr("-_.", text[0]) && !strchr("-_.", text[len - 1]);
}

/* Returns whether it is a DNS subdomain: parts between dots that begin and end with a letter or
 * digit. */
static bool is_prefix(const char *text, size_t len)
{
	if (len > PREFIX_MAX)
		return false;
	for (const char *part = text, *end = text + len; part <= end;) {
		size_t part_len = strspn(part, LOWER DIGITS "-");

		if (part_len == 0 || *part == '-' || part[part_len - 1] == '-')
			return false;
		part += part_len;
		if (part != end && *part != '.')
			return false;
		part++;
	}
	return true;
}

static bool is_key(const char *text, size_t len)
{
	const char *slash = memchr(text, '/', len);

	if (!slash)
		return is_name(text, len);
	return is_prefix(text, (size_t)(slash - text)) &&
	       is_name(slash + 1, len - 1 - (size_t)(slash - text));
}

static int take_key(struct parser *parser, const char **ret_key)
{
	if (parser->kind != TOKEN_WORD || !is_key(parser->start, parser->len))
		return refuse(parser, "a label's key, like team or example.com/team");

	const char *key = arena_strndup(&parser->selector->arena, parser->start, parser->len);
	if (!key)
		return -ENOMEM;
	advance(parser);
	*ret_key = key;
	return 0;
}

/* Takes the current token as a value, or the empty value if it is something else. */
static int take_value(struct parser *parser)
{
	struct label_selector *selector = parser->selector;
	size_t len = parser->kind == TOKEN_WORD ? parser->len : 0;

	if (len > 0 && !is_name(parser->start, len))
		return refuse(parser, "a label's value (at most 63 letters, digits and \"-_.\")");

	const char *value = arena_strndup(&selector->arena, parser->start, len);
	if (!value)
		return -ENOMEM;
	int r = array_grow(selector->values, selector->cap_values, selector->nr_values + 1,
			   LABEL_SELECTOR_MAX_BYTES);
	if (r < 0)
		return r;
	selector->values[selector->nr_values++] = value;
	if (len > 0)
		advance(parser);
	return 0;
}

static int parse_one_value(struct parser *parser)
{
	advance(parser);
	if (parser->kind != TOKEN_WORD && parser->kind != TOKEN_COMMA && parser->kind != TOKEN_END)
		return refuse(parser, "a value");
	return take_value(parser);
}

static int parse_value_list(struct parser *parser)
{
	advance(parser);
	if (parser->kind != TOKEN_OPEN)
		return refuse(parser, "\"(\"");
	advance(parser);
	if (parser->kind == TOKEN_CLOSE)
		return refuse(parser, "a value");
	for (;;) {
		int r = take_value(parser);
		if (r < 0)
			return r;
		if (parser->kind != TOKEN_COMMA)
			break;
		advance(parser);
	}
	if (parser->kind != TOKEN_CLOSE)
		return refuse(parser, "\",\" or \")\"");
	advance(parser);
	return 0;
}

/* Parses the part after a key. */
static int parse_operation(struct parser *parser, enum operation *ret_operation)
{
	bool is_negative = parser->kind == TOKEN_NOT_EQUALS || token_is_word(parser, "notin");
	int r;

	if (parser->kind == TOKEN_END || parser->kind == TOKEN_COMMA) {
		*ret_operation = KEY_EXISTS;
		return 0;
	}
	if (parser->kind == TOKEN_EQUALS || parser->kind == TOKEN_NOT_EQUALS)
		r = parse_one_value(parser);
	else if (token_is_word(parser, "in") || token_is_word(parser, "notin"))
		r = parse_value_list(parser);
	else
		r = refuse(parser, "\"=\", \"!=\", \"in\", \"notin\" or \",\"");
	if (r == 0)
		*ret_operation = is_negative ? VALUE_NOT_IN : VALUE_IN;
	return r;
}

static int parse_requirement(struct parser *parser)
{
	struct label_selector *selector = parser->selector;
	struct requirement new = { .operation = KEY_IS_ABSENT, .first_value = selector->nr_values };
	bool is_absent = parser->kind == TOKEN_NOT;

	if (is_absent)
		advance(parser);
	int r = take_key(parser, &new.key);
	if (r == 0 && !is_absent)
		r = parse_operation(parser, &new.operation);
	if (r < 0)
		return r;
	new.nr_values = selector->nr_values - new.first_value;
	r = array_grow(selector->requirements, selector->cap_requirements,
		       selector->nr_requirements + 1, LABEL_SELECTOR_MAX_REQUIREMENTS);
	if (r < 0)
		return r == -ENOSPC ? refuse_limit(parser) : r;
	selector->requirements[selector->nr_requirements++] = new;
	return 0;
}

static int parse_selector(struct parser *parser)
{
	advance(parser);
	if (parser->kind == TOKEN_END)
		return 0;
	for (;;) {
		int r = parse_requirement(parser);
		if (r < 0 || parser->kind == TOKEN_END)
			return r;
		if (parser->kind != TOKEN_COMMA)
			return refuse(parser, "\",\" or the end");
		advance(parser);
	}
}

int label_selector_parse(const char *text, struct strbuf *reterr_msg,
			 struct label_selector **ret_selector)
{
	_cleanup_(label_selector_freep) struct label_selector *selector = calloc(1,
										 sizeof(*selector));
	struct parser parser = {
		.text = text, .start = text, .selector = selector, .message = reterr_msg
	};

	if (!selector)
		return -ENOMEM;
	if (strlen(text) > LABEL_SELECTOR_MAX_BYTES)
		return refuse_limit(&parser);

	int r = parse_selector(&parser);
	if (r < 0)
		return r;
	*ret_selector = take_ptr(selector);
	return 0;
}

void label_selector_free(struct label_selector *selector)
{
	if (!selector)
		return;
	arena_done(&selector->arena);
	free(selector->requirements);
	free(selector->values);
	free(selector);
}

static bool has_value(const struct label_selector *selector, const struct requirement *requirement,
		      const char *value)
{
	const char **values = selector->values + requirement->first_value;

	for (size_t i = 0; i < requirement->nr_values; i++) {
		if (strcmp(values[i], value) == 0)
			return true;
	}
	return false;
}

/* Returns whether a label fulfils a requirement on its key; `value` is NULL if the label is
 * missing. */
static bool fulfils(const struct label_selector *selector, const struct requirement *requirement,
		    const char *value)
{
	switch (requirement->operation) {
	case KEY_EXISTS:
		return value;
	case KEY_IS_ABSENT:
		return !value;
	case VALUE_IN:
		return value && has_value(selector, requirement, value);
	case VALUE_NOT_IN:
		break;
	}
	return !value || !has_value(selector, requirement, value);
}

static const char *find_value(const struct pod_attribute *labels, size_t nr_labels, const char *key)
{
	for (size_t i = 0; i < nr_labels; i++) {
		if (strcmp(labels[i].key, key) == 0)
			return labels[i].value;
	}
	return NULL;
}

bool label_selector_matches(const struct label_selector *selector,
			    const struct pod_attribute *labels, size_t nr_labels)
{
	for (size_t i = 0; i < selector->nr_requirements; i++) {
		const struct requirement *requirement = &selector->requirements[i];

		if (!fulfils(selector, requirement,
			     find_value(labels, nr_labels, requirement->key)))
			return false;
	}
	return true;
}

/* Appends a value as an extended regular expression. Of its characters, only dots are special. */
static void append_value(struct strbuf *out, const char *value)
{
	for (; *value; value++) {
		if (*value == '.')
			strbuf_append_str(out, "[.]");
		else
			strbuf_append_char(out, *value);
	}
}

void label_selector_append_matchers(const struct label_selector *selector, const char *prefix,
				    struct strbuf *out)
{
	static const char *const operators[] = {
		[KEY_EXISTS] = "!=",
		[KEY_IS_ABSENT] = "=",
		[VALUE_IN] = "=~",
		[VALUE_NOT_IN] = "!~",
	};

	for (size_t i = 0; i < selector->nr_requirements; i++) {
		const struct requirement *requirement = &selector->requirements[i];

		strbuf_appendf(out, ",%s%s%s\"", prefix, requirement->key,
			       operators[requirement->operation]);
		for (size_t j = 0; j < requirement->nr_values; j++) {
			strbuf_append_str(out, j > 0 ? "|" : "");
			append_value(out, selector->values[requirement->first_value + j]);
		}
		strbuf_append_char(out, '"');
	}
}

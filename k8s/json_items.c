/* SPDX-License-Identifier: Apache-2.0 */
/* There are two layers. The lexer knows what contains the current byte: nothing, a string, a string
 * right after a backslash, or a literal (number, true, false, null). It keeps this as state,
 * because a piece of text may end anywhere. The grammar knows what may come next, and the depth.
 *
 *	{ "kind" : "PodList" , "items" : [ { … } , { … } ] }
 *	depth 1                          2 3         3
 *
 * An item is a value at depth 2 in "items". Its bytes are appended to a buffer in runs: from its
 * start, or the start of the piece, to its end, or the end of the piece.
 *
 * Keys and kind are compared as they are written, so a key with an escape sequence does not
 * match. */
#include "k8s/json_items.h"

#include <string.h>

#define ITEM_DEPTH 2

enum expected {
	EXPECTED_ROOT,
	EXPECTED_VALUE,
	EXPECTED_VALUE_OR_END, /* after "[" */
	EXPECTED_KEY,
	EXPECTED_KEY_OR_END, /* after "{" */
	EXPECTED_COLON,
	EXPECTED_COMMA_OR_END,
	EXPECTED_NOTHING, /* after the outermost object */
};

enum lexeme {
	LEXEME_NONE,
	LEXEME_STRING,
	LEXEME_ESCAPE,
	LEXEME_LITERAL,
};

/* The current piece of text. */
struct piece {
	const char *at;
	const char *end;
	const char *item_from; /* start of the part of the item that is not in the buffer yet */
};

void json_items_init(struct json_items *items, const struct json_items_opts *opts)
{
	*items = (struct json_items){
		.opts = *opts,
		.item = strbuf_with_max(opts->item_max_bytes),
	};
}

void json_items_done(struct json_items *items)
{
	strbuf_done(&items->item);
}

static bool token_equals(const struct json_token *token, const char *text)
{
	return token->len == strlen(text) && strcmp(token->text, text) == 0;
}

static void append_token(struct json_token *token, const char *text, size_t len)
{
	if (token->len < JSON_TOKEN_MAX) {
		size_t room = JSON_TOKEN_MAX - token->len;
		size_t kept = len < room ? len : room;

		memcpy(token->text + token->len, text, kept);
		token->text[token->len + kept] = '\0';
	}
	token->len += len;
}

/* Appends the run that ends at `end` to the item. Overflow is detected at the item's end. */
static void keep_run(struct json_items *items, struct piece *piece, const char *end)
{
	strbuf_append(&items->item, piece->item_from, (size_t)(end - piece->item_from));
	piece->item_from = end;
}

static int end_item(struct json_items *items, struct piece *piece)
{
	keep_run(items, piece, piece->at);
	items->is_in_item = false;

	int r = strbuf_error(&items->item);
	if (r == -ENOSPC) {
		items->nr_oversized++;
		r = 0;
	} else if (r == 0) {
		r = items->opts.on_item(strbuf_str(&items->item), items->item.len,
					items->opts.data);
	}
	strbuf_clear(&items->item);
	return r;
}

/* Ends a value before the current byte. */
static int end_value(struct json_items *items, struct piece *piece)
{
	items->expected = items->depth > 0 ? EXPECTED_COMMA_OR_END : EXPECTED_NOTHING;
	if (items->is_in_item && items->depth == ITEM_DEPTH)
		return end_item(items, piece);
	return 0;
}

static int open_bracket(struct json_items *items, char closer)
{
	if (items->depth == JSON_DEPTH_MAX)
		return -EBADMSG;
	items->closers[items->depth++] = closer;
	items->expected = closer == '}' ? EXPECTED_KEY_OR_END : EXPECTED_VALUE_OR_END;
	return 0;
}

static int close_bracket(struct json_items *items, char closer, struct piece *piece)
{
	if (items->depth == 0 || items->closers[items->depth - 1] != closer)
		return -EBADMSG;
	items->depth--;
	if (items->depth < ITEM_DEPTH)
		items->is_in_items = false;
	piece->at++;
	return end_value(items, piece);
}

static void begin_token(struct json_items *items, enum lexeme lexeme)
{
	items->token = (struct json_token){ 0 };
	items->lexeme = lexeme;
}

static void begin_string(struct json_items *items, struct piece *piece, bool is_key)
{
	items->is_key = is_key;
	begin_token(items, LEXEME_STRING);
	piece->at++;
}

/* "items" of the outermost object must be an array or null, and must exist once. */
static int begin_items(struct json_items *items, char first)
{
	if (items->has_items || (first != '[' && first != 'n'))
		return -EBADMSG;
	items->has_items = true;
	items->is_in_items = first == '[';
	return 0;
}

static int begin_value(struct json_items *items, struct piece *piece)
{
	char first = *piece->at;

	if (items->depth == 1 && token_equals(&items->key, "items")) {
		int r = begin_items(items, first);
		if (r < 0)
			return r;
	}
	if (items->is_in_items && items->depth == ITEM_DEPTH) {
		items->is_in_item = true;
		piece->item_from = piece->at;
	}
	if (first == '"') {
		begin_string(items, piece, false);
		return 0;
	}
	if (first == '{' || first == '[') {
		piece->at++;
		return open_bracket(items, first == '{' ? '}' : ']');
	}
	begin_token(items, LEXEME_LITERAL);
	return 0;
}

static int begin_key(struct json_items *items, struct piece *piece)
{
	if (*piece->at != '"')
		return -EBADMSG;
	begin_string(items, piece, true);
	return 0;
}

static int read_punctuation(struct json_items *items, struct piece *piece)
{
	char c = *piece->at;

	if (items->expected == EXPECTED_COLON && c == ':')
		items->expected = EXPECTED_VALUE;
	else if (items->expected == EXPECTED_COMMA_OR_END && c == ',')
		items->expected = items->closers[items->depth - 1] == '}' ? EXPECTED_KEY
									  : EXPECTED_VALUE;
	else if (items->expected == EXPECTED_COMMA_OR_END)
		return close_bracket(items, c, piece);
	else
		return -EBADMSG;
	piece->at++;
	return 0;
}

/* Reads the current byte, which is between tokens. */
static int read_between(struct json_items *items, struct piece *piece)
{
	char c = *piece->at;

	if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
		piece->at++;
		return 0;
	}
	switch (items->expected) {
	case EXPECTED_ROOT:
		piece->at++;
		return c == '{' ? open_bracket(items, '}') : -EBADMSG;
	case EXPECTED_VALUE_OR_END:
		return c == ']' ? close_bracket(items, c, piece) : begin_value(items, piece);
	case EXPECTED_VALUE:
		return begin_value(items, piece);
	case EXPECTED_KEY_OR_END:
		return c == '}' ? close_bracket(items, c, piece) : begin_key(items, piece);
	case EXPECTED_KEY:
		return begin_key(items, piece);
	default:
		return read_punctuation(items, piece);
	}
}

static int end_string(struct json_items *items, struct piece *piece)
{
	items->lexeme = LEXEME_NONE;
	if (items->is_key) {
		items->expected = EXPECTED_COLON;
		if (items->depth == 1)
			items->key = items->token;
		return 0;
	}
	if (items->depth == 1 && token_equals(&items->key, "kind"))
		items->kind = items->token;
	return end_value(items, piece);
}

/* Reads on to the end of the string, the next backslash, or the end of the piece. */
static int read_string(struct json_items *items, struct piece *piece)
{
	const char *from = piece->at;
	const char *at = from;

	while (at < piece->end && *at != '"' && *at != '\\' && (unsigned char)*at >= ' ')
		at++;
	append_token(&items->token, from, (size_t)(at - from));
	piece->at = at;
	if (at == piece->end)
		return 0;

	char c = *piece->at++;
	if (c == '"')
		return end_string(items, piece);
	append_token(&items->token, &c, 1);
	items->lexeme = LEXEME_ESCAPE;
	return c == '\\' ? 0 : -EBADMSG;
}

static int read_escaped(struct json_items *items, struct piece *piece)
{
	append_token(&items->token, piece->at, 1);
	items->lexeme = LEXEME_STRING;
	return (unsigned char)*piece->at++ >= ' ' ? 0 : -EBADMSG;
}

static bool is_literal_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '+' ||
	       c == '.' || c == 'E';
}

static bool is_literal(const struct json_token *token)
{
	return token_equals(token, "null") || token_equals(token, "true") ||
	       token_equals(token, "false") || token->text[0] == '-' ||
	       (token->text[0] >= '0' && token->text[0] <= '9');
}

static int read_literal(struct json_items *items, struct piece *piece)
{
	const char *from = piece->at;

	while (piece->at < piece->end && is_literal_char(*piece->at))
		piece->at++;
	append_token(&items->token, from, (size_t)(piece->at - from));
	if (piece->at == piece->end)
		return 0;

	items->lexeme = LEXEME_NONE;
	return is_literal(&items->token) ? end_value(items, piece) : -EBADMSG;
}

static int read_step(struct json_items *items, struct piece *piece)
{
	switch (items->lexeme) {
	case LEXEME_STRING:
		return read_string(items, piece);
	case LEXEME_ESCAPE:
		return read_escaped(items, piece);
	case LEXEME_LITERAL:
		return read_literal(items, piece);
	default:
		return read_between(items, piece);
	}
}

int json_items_feed(struct json_items *items, const char *text, size_t len)
{
	struct piece piece = { .at = text, .end = text + len, .item_from = text };

	while (items->error == 0 && piece.at < piece.end)
		items->error = read_step(items, &piece);
	if (items->error == 0 && items->is_in_item)
		keep_run(items, &piece, piece.end);
	return items->error;
}

int json_items_finish(struct json_items *items)
{
	if (items->error == 0 && (items->expected != EXPECTED_NOTHING || !items->has_items))
		items->error = -EBADMSG;
	return items->error;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/demangle/d_parser.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

/* Names of the D library take up to some hundred steps and are up to 20 deep. */
#define MAX_STEPS 16384
#define MAX_DEPTH 100

bool d_enter(struct d_parser *parser)
{
	parser->depth++;
	if (++parser->nr_steps > MAX_STEPS || parser->depth > MAX_DEPTH)
		parser->is_full = true;
	return !parser->is_full;
}

bool d_leave(struct d_parser *parser, bool result)
{
	parser->depth--;
	return result && !parser->is_full;
}

char d_peek(const struct d_parser *parser)
{
	return parser->name[parser->pos];
}

bool d_take(struct d_parser *parser, char c)
{
	if (d_peek(parser) != c)
		return false;
	parser->pos++;
	return true;
}

void d_put_bytes(struct d_parser *parser, const char *text, size_t len)
{
	if (parser->nr_mute > 0)
		return;
	if (len > parser->max_len - parser->len) {
		parser->is_full = true;
		return;
	}
	memcpy(parser->text + parser->len, text, len);
	parser->len += len;
}

void d_put(struct d_parser *parser, const char *text)
{
	d_put_bytes(parser, text, strlen(text));
}

static void reverse(char *text, size_t len)
{
	for (size_t i = 0; i < len / 2; i++) {
		char c = text[i];

		text[i] = text[len - 1 - i];
		text[len - 1 - i] = c;
	}
}

void d_exchange(struct d_parser *parser, size_t start, size_t middle)
{
	char *text = parser->text;

	reverse(text + start, middle - start);
	reverse(text + middle, parser->len - middle);
	reverse(text + start, parser->len - start);
}

/* No number in a name is longer than the name, so there is nothing larger to represent. */
bool d_parse_number(struct d_parser *parser, size_t *ret_number)
{
	size_t number = 0;
	size_t start = parser->pos;

	while (isdigit((unsigned char)d_peek(parser))) {
		number = number * 10 + (size_t)(d_peek(parser) - '0');
		if (number > UINT32_MAX)
			return false;
		parser->pos++;
	}
	if (parser->pos == start)
		return false;
	*ret_number = number;
	return true;
}

/* The distance back is a number of base 26, in capitals but for the last digit. */
bool d_parse_back_reference(struct d_parser *parser, size_t *ret_target)
{
	size_t start = parser->pos;
	size_t distance = 0;

	if (!d_take(parser, 'Q'))
		return false;
	for (; distance <= start; parser->pos++) {
		char c = d_peek(parser);

		if (c >= 'a' && c <= 'z') {
			distance = distance * 26 + (size_t)(c - 'a');
			break;
		}
		if (c < 'A' || c > 'Z')
			return false;
		distance = distance * 26 + (size_t)(c - 'A');
	}
	if (distance == 0 || distance > start)
		return false;
	parser->pos++;
	*ret_target = start - distance;
	return true;
}

bool d_is_at_name(const struct d_parser *parser)
{
	const char *text = parser->name + parser->pos;
	struct d_parser ahead = *parser;
	size_t target;

	if (isdigit((unsigned char)text[0]))
		return true;
	if (strncmp(text, "__T", 3) == 0 || strncmp(text, "__U", 3) == 0)
		return true;
	return d_parse_back_reference(&ahead, &target) &&
	       isdigit((unsigned char)parser->name[target]);
}

bool d_is_at_function(const struct d_parser *parser)
{
	return d_peek(parser) != '\0' && strchr("FUVWRY", d_peek(parser));
}

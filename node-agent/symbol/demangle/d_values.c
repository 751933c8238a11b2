/* SPDX-License-Identifier: Apache-2.0 */
/* Values in template arguments, as D writes them in a program. */
#include "symbol/demangle/d_parser.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put_digits(struct d_parser *parser, int (*is_digit)(int))
{
	size_t start = parser->pos;

	while (is_digit((unsigned char)d_peek(parser)))
		parser->pos++;
	d_put_bytes(parser, parser->name + start, parser->pos - start);
}

static bool parse_character(struct d_parser *parser, char type)
{
	char text[24];
	size_t value;

	if (!d_parse_number(parser, &value))
		return false;
	if (type == 'a' && value >= 0x20 && value < 0x7f)
		snprintf(text, sizeof(text), "'%c'", (int)value);
	else if (type == 'a')
		snprintf(text, sizeof(text), "'\\x%02zx'", value);
	else if (type == 'u')
		snprintf(text, sizeof(text), "'\\u%04zx'", value);
	else
		snprintf(text, sizeof(text), "'\\U%08zx'", value);
	d_put(parser, text);
	return true;
}

static bool parse_bool(struct d_parser *parser)
{
	size_t value;

	if (!d_parse_number(parser, &value))
		return false;
	d_put(parser, value ? "true" : "false");
	return true;
}

static bool parse_integer(struct d_parser *parser, char type)
{
	if (type != '\0' && strchr("auw", type))
		return parse_character(parser, type);
	if (type == 'b')
		return parse_bool(parser);
	if (!isdigit((unsigned char)d_peek(parser)))
		return false;
	put_digits(parser, isdigit);
	if (type != '\0' && strchr("htk", type))
		d_put(parser, "u");
	else if (type == 'l')
		d_put(parser, "L");
	else if (type == 'm')
		d_put(parser, "uL");
	return true;
}

/* Takes one of the words that are no numbers. */
static bool take_word(struct d_parser *parser, const char *mangled, const char *text)
{
	if (strncmp(parser->name + parser->pos, mangled, strlen(mangled)) != 0)
		return false;
	parser->pos += strlen(mangled);
	d_put(parser, text);
	return true;
}

/* Hexadecimal: "N18P2" is -0x1.8p2. */
static bool parse_real(struct d_parser *parser)
{
	if (take_word(parser, "NAN", "NaN") || take_word(parser, "INF", "Inf") ||
	    take_word(parser, "NINF", "-Inf"))
		return true;
	take_word(parser, "N", "-");
	if (!isxdigit((unsigned char)d_peek(parser)))
		return false;
	d_put(parser, "0x");
	d_put_bytes(parser, parser->name + parser->pos++, 1);
	d_put(parser, ".");
	put_digits(parser, isxdigit);
	if (!take_word(parser, "P", "p"))
		return false;
	take_word(parser, "N", "-");
	put_digits(parser, isdigit);
	return true;
}

static bool parse_complex(struct d_parser *parser)
{
	if (!parse_real(parser) || !take_word(parser, "c", "+") || !parse_real(parser))
		return false;
	d_put(parser, "i");
	return true;
}

static int hex_value(char c)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *found = c ? strchr(digits, c) : NULL;

	return found ? (int)((found - digits) % 16) : -1;
}

static void put_escaped(struct d_parser *parser, char value, const char *hex)
{
	static const char letters[] = "\t\n\r\f\v";
	const char *found = value ? strchr(letters, value) : NULL;
	char text[8];

	if (found)
		snprintf(text, sizeof(text), "\\%c", "tnrfv"[found - letters]);
	else if (value >= 0x20 && value < 0x7f)
		snprintf(text, sizeof(text), "%c", value);
	else
		snprintf(text, sizeof(text), "\\x%.2s", hex);
	d_put(parser, text);
}

/* The length, "_", two digits a byte. */
static bool parse_string(struct d_parser *parser, char type)
{
	size_t len;

	if (!d_parse_number(parser, &len) || !d_take(parser, '_') ||
	    len > (parser->name_len - parser->pos) / 2)
		return false;
	d_put(parser, "\"");
	for (; len > 0; len--) {
		const char *hex = parser->name + parser->pos;
		int high = hex_value(hex[0]);
		int low = hex_value(hex[1]);

		if (high < 0 || low < 0)
			return false;
		put_escaped(parser, (char)(high << 4 | low), hex);
		parser->pos += 2;
	}
	d_put(parser, "\"");
	if (type != 'a')
		d_put_bytes(parser, &type, 1);
	return true;
}

/* Values between brackets, in pairs if they are those of a map. */
static bool parse_values(struct d_parser *parser, const char brackets[static 2], bool is_map)
{
	size_t nr;

	if (!d_parse_number(parser, &nr))
		return false;
	d_put_bytes(parser, brackets, 1);
	for (size_t i = 0; i < nr; i++) {
		if (i > 0)
			d_put(parser, ", ");
		if (!d_parse_value(parser, '\0'))
			return false;
		if (!is_map)
			continue;
		d_put(parser, ":");
		if (!d_parse_value(parser, '\0'))
			return false;
	}
	d_put_bytes(parser, brackets + 1, 1);
	return true;
}

static bool parse_value(struct d_parser *parser, char type)
{
	char letter = d_peek(parser);

	if (isdigit((unsigned char)letter)) /* as compilers wrote it in the beginning */
		return parse_integer(parser, type);
	if (letter == '\0')
		return false;
	parser->pos++;
	switch (letter) {
	case 'n':
		d_put(parser, "null");
		return true;
	case 'N':
		d_put(parser, "-");
		return parse_integer(parser, type);
	case 'i':
		return parse_integer(parser, type);
	case 'e':
		return parse_real(parser);
	case 'c':
		return parse_complex(parser);
	case 'a':
	case 'w':
	case 'd':
		return parse_string(parser, letter);
	case 'A':
		return parse_values(parser, "[]", type == 'H');
	case 'S':
		return parse_values(parser, "()", false);
	default:
		return false;
	}
}

bool d_parse_value(struct d_parser *parser, char type)
{
	return d_leave(parser, d_enter(parser) && parse_value(parser, type));
}

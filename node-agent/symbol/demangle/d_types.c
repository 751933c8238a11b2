/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/demangle/d_parser.h"

#include <ctype.h>
#include <string.h>

struct letter {
	char letter;
	const char *text;
};

static const char *find_letter(const struct letter *letters, size_t nr, char letter)
{
	for (size_t i = 0; i < nr; i++)
		if (letters[i].letter == letter)
			return letters[i].text;
	return NULL;
}

/* One of the letters; its text is written. */
static bool take_letter(struct d_parser *parser, const struct letter *letters, size_t nr)
{
	const char *text = find_letter(letters, nr, d_peek(parser));

	if (!text)
		return false;
	d_put(parser, text);
	parser->pos++;
	return true;
}

bool d_parse_modifiers(struct d_parser *parser)
{
	static const struct letter last[] = { { 'x', " const" }, { 'y', " immutable" } };

	for (;;) {
		if (d_take(parser, 'O')) {
			d_put(parser, " shared");
		} else if (d_take(parser, 'N')) {
			if (!d_take(parser, 'g'))
				return false;
			d_put(parser, " inout");
		} else {
			take_letter(parser, last, array_len(last));
			return d_peek(parser) != '\0';
		}
	}
}

static bool parse_convention(struct d_parser *parser)
{
	static const struct letter conventions[] = {
		{ 'F', "" },
		{ 'U', "extern(C) " },
		{ 'W', "extern(Windows) " },
		{ 'V', "extern(Pascal) " },
		{ 'R', "extern(C++) " },
		{ 'Y', "extern(Objective-C) " },
	};

	return take_letter(parser, conventions, array_len(conventions));
}

/* "N" and a letter each. Other letters behind "N" begin a parameter. */
static bool parse_attributes(struct d_parser *parser)
{
	static const struct letter attributes[] = {
		{ 'a', "pure " },     { 'b', "nothrow " }, { 'c', "ref " },   { 'd', "@property " },
		{ 'e', "@trusted " }, { 'f', "@safe " },   { 'i', "@nogc " }, { 'j', "return " },
		{ 'l', "scope " },    { 'm', "@live " },
	};

	while (d_take(parser, 'N')) {
		if (take_letter(parser, attributes, array_len(attributes)))
			continue;
		if (!d_peek(parser) || !strchr("ghkn", d_peek(parser)))
			return false;
		parser->pos--;
		return true;
	}
	return true;
}

static bool parse_parameter(struct d_parser *parser)
{
	static const struct letter classes[] = {
		{ 'M', "scope " }, { 'I', "in " },   { 'J', "out " },
		{ 'K', "ref " },   { 'L', "lazy " },
	};

	for (;;) {
		if (strncmp(parser->name + parser->pos, "Nk", 2) == 0) {
			parser->pos += 2;
			d_put(parser, "return ");
		} else if (!take_letter(parser, classes, array_len(classes))) {
			return d_parse_type(parser);
		}
	}
}

/* Up to the letter that says whether the function takes more than those. */
static bool parse_list(struct d_parser *parser)
{
	for (size_t nr = 0;; nr++) {
		if (d_take(parser, 'Z'))
			return true;
		if (d_take(parser, 'X')) {
			d_put(parser, "...");
			return true;
		}
		if (nr > 0)
			d_put(parser, ", ");
		if (d_take(parser, 'Y')) {
			d_put(parser, "...");
			return true;
		}
		if (!parse_parameter(parser))
			return false;
	}
}

bool d_parse_parameters(struct d_parser *parser)
{
	parser->nr_mute++;
	bool result = parse_convention(parser) && parse_attributes(parser);
	parser->nr_mute--;
	if (!result)
		return false;
	d_put(parser, "(");
	if (!parse_list(parser))
		return false;
	d_put(parser, ")");
	return true;
}

/* Mangled is convention, attributes, parameters, type; written is convention, type, parameters, attributes. */
static bool parse_function_type(struct d_parser *parser)
{
	size_t start_pos = parser->pos;

	if (!parse_convention(parser))
		return false;
	size_t attributes_pos = parser->pos;
	size_t parameters = parser->len;
	parser->pos = start_pos;
	if (!d_parse_parameters(parser))
		return false;
	size_t type = parser->len;
	if (!d_parse_type(parser))
		return false;
	d_exchange(parser, parameters, type);
	d_put(parser, " ");

	size_t behind = parser->pos;
	parser->pos = attributes_pos;
	bool result = parse_attributes(parser);
	parser->pos = behind;
	return result;
}

/* A type that stands further ahead. In what is referred to, only references still further ahead are followed; so
 * there is no circle. */
static bool parse_type_again(struct d_parser *parser, bool is_function)
{
	size_t saved_last = parser->last_back_reference;
	size_t target;

	if (parser->pos >= saved_last)
		return false;
	parser->last_back_reference = parser->pos;
	if (!d_parse_back_reference(parser, &target))
		return false;

	size_t behind = parser->pos;
	parser->pos = target;
	bool result = is_function ? parse_function_type(parser) : d_parse_type(parser);
	parser->pos = behind;
	parser->last_back_reference = saved_last;
	return result;
}

static bool parse_delegate(struct d_parser *parser)
{
	size_t modifiers_pos = parser->pos;

	parser->nr_mute++;
	bool result = d_parse_modifiers(parser);
	parser->nr_mute--;
	if (!result)
		return false;
	result = d_peek(parser) == 'Q' ? parse_type_again(parser, true)
				       : parse_function_type(parser);
	if (!result)
		return false;
	d_put(parser, "delegate");

	size_t behind = parser->pos;
	parser->pos = modifiers_pos;
	result = d_parse_modifiers(parser);
	parser->pos = behind;
	return result;
}

static bool parse_function(struct d_parser *parser)
{
	if (!parse_function_type(parser))
		return false;
	d_put(parser, "function");
	return true;
}

static bool parse_pointer(struct d_parser *parser)
{
	if (d_is_at_function(parser))
		return parse_function(parser);
	if (!d_parse_type(parser))
		return false;
	d_put(parser, "*");
	return true;
}

static bool parse_array(struct d_parser *parser)
{
	if (!d_parse_type(parser))
		return false;
	d_put(parser, "[]");
	return true;
}

static bool parse_fixed_array(struct d_parser *parser)
{
	size_t number = parser->pos;

	while (isdigit((unsigned char)d_peek(parser)))
		parser->pos++;
	size_t number_len = parser->pos - number;
	if (!d_parse_type(parser))
		return false;
	d_put(parser, "[");
	d_put_bytes(parser, parser->name + number, number_len);
	d_put(parser, "]");
	return true;
}

/* Key and value, written "value[key]". */
static bool parse_map(struct d_parser *parser)
{
	size_t key = parser->len;

	d_put(parser, "[");
	if (!d_parse_type(parser))
		return false;
	d_put(parser, "]");

	size_t value = parser->len;
	if (!d_parse_type(parser))
		return false;
	d_exchange(parser, key, value);
	return true;
}

static bool parse_tuple(struct d_parser *parser)
{
	size_t nr;

	if (!d_parse_number(parser, &nr))
		return false;
	d_put(parser, "Tuple!(");
	for (size_t i = 0; i < nr; i++) {
		if (i > 0)
			d_put(parser, ", ");
		if (!d_parse_type(parser))
			return false;
	}
	d_put(parser, ")");
	return true;
}

static bool parse_wrapped(struct d_parser *parser, const char *name)
{
	d_put(parser, name);
	d_put(parser, "(");
	if (!d_parse_type(parser))
		return false;
	d_put(parser, ")");
	return true;
}

/* The types of two letters. */
static bool parse_n_type(struct d_parser *parser)
{
	if (d_take(parser, 'g'))
		return parse_wrapped(parser, "inout");
	if (d_take(parser, 'h'))
		return parse_wrapped(parser, "__vector");
	d_put(parser, "noreturn");
	return d_take(parser, 'n');
}

static bool parse_z_type(struct d_parser *parser)
{
	static const struct letter types[] = { { 'i', "cent" }, { 'k', "ucent" } };

	return take_letter(parser, types, array_len(types));
}

static bool parse_basic_type(struct d_parser *parser)
{
	static const struct letter types[] = {
		{ 'n', "typeof(null)" }, { 'v', "void" },    { 'g', "byte" },	 { 'h', "ubyte" },
		{ 's', "short" },	 { 't', "ushort" },  { 'i', "int" },	 { 'k', "uint" },
		{ 'l', "long" },	 { 'm', "ulong" },   { 'f', "float" },	 { 'd', "double" },
		{ 'e', "real" },	 { 'o', "ifloat" },  { 'p', "idouble" }, { 'j', "ireal" },
		{ 'q', "cfloat" },	 { 'r', "cdouble" }, { 'c', "creal" },	 { 'b', "bool" },
		{ 'a', "char" },	 { 'u', "wchar" },   { 'w', "dchar" },
	};

	return take_letter(parser, types, array_len(types));
}

/* A type whose first letter, `letter`, is taken. */
static bool parse_composed_type(struct d_parser *parser, char letter)
{
	switch (letter) {
	case 'O':
		return parse_wrapped(parser, "shared");
	case 'x':
		return parse_wrapped(parser, "const");
	case 'y':
		return parse_wrapped(parser, "immutable");
	case 'N':
		return parse_n_type(parser);
	case 'A':
		return parse_array(parser);
	case 'G':
		return parse_fixed_array(parser);
	case 'H':
		return parse_map(parser);
	case 'P':
		return parse_pointer(parser);
	case 'C':
	case 'S':
	case 'E':
	case 'T':
		return d_parse_qualified(parser, false);
	case 'D':
		return parse_delegate(parser);
	case 'B':
		return parse_tuple(parser);
	case 'z':
		return parse_z_type(parser);
	default:
		return false;
	}
}

static bool parse_type(struct d_parser *parser)
{
	char letter = d_peek(parser);

	if (letter == 'Q')
		return parse_type_again(parser, false);
	if (d_is_at_function(parser))
		return parse_function(parser);
	if (letter == '\0' || parse_basic_type(parser))
		return letter != '\0';
	parser->pos++;
	return parse_composed_type(parser, letter);
}

bool d_parse_type(struct d_parser *parser)
{
	return d_leave(parser, d_enter(parser) && parse_type(parser));
}

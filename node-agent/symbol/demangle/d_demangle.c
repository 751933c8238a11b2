/* SPDX-License-Identifier: Apache-2.0 */
/* A mangled name is "_D", the names of the scopes from the module down, and a type. Each scope that is a function has
 * its parameters behind its name, without the type it returns. The grammar is that of https://dlang.org/spec/abi.html
 * (Name Mangling). */
#include "symbol/demangle/d_demangle.h"

#include "symbol/demangle/d_parser.h"

#include <ctype.h>
#include <string.h>

struct special_name {
	const char *mangled;
	const char *prefix; /* of the whole text */
	const char *suffix; /* in place of the name; without it the blank or dot before goes too */
	size_t len; /* of the name proper, which stands in the number before it */
};

static const struct special_name special_names[] = {
	{ "__ctor", "", "this", 6 },
	{ "__dtor", "", "~this", 6 },
	{ "__initZ", "initializer for ", NULL, 6 },
	{ "__vtblZ", "vtable for ", NULL, 6 },
	{ "__ClassZ", "ClassInfo for ", NULL, 7 },
	{ "__postblitMFZ", "", "this(this)", 10 },
	{ "__InterfaceZ", "Interface for ", NULL, 11 },
	{ "__ModuleInfoZ", "ModuleInfo for ", NULL, 12 },
};

bool d_demangle_is_candidate(const char *name)
{
	return name[0] == '_' && name[1] == 'D' &&
	       (isdigit((unsigned char)name[2]) || name[2] == 'Q' || name[2] == '_' ||
		strcmp(name + 2, "main") == 0);
}

/* "foo.Bar." becomes "vtable for foo.Bar". */
static void put_before(struct d_parser *parser, const char *prefix)
{
	size_t middle;

	if (parser->nr_mute > 0)
		return;
	if (parser->len > 0 && parser->text[parser->len - 1] == '.')
		parser->len--;
	middle = parser->len;
	d_put(parser, prefix);
	d_exchange(parser, 0, middle);
}

static void put_special(struct d_parser *parser, const struct special_name *special)
{
	if (special->suffix)
		d_put(parser, special->suffix);
	else
		put_before(parser, special->prefix);
}

static bool parse_plain_name(struct d_parser *parser, size_t len)
{
	const char *text = parser->name + parser->pos;

	if (len > parser->name_len - parser->pos)
		return false;
	for (size_t i = 0; i < array_len(special_names); i++) {
		const struct special_name *special = &special_names[i];
		size_t mangled_len = strlen(special->mangled);

		if (special->len != len || strncmp(text, special->mangled, mangled_len) != 0)
			continue;
		put_special(parser, special);
		/* The "Z" of the artificial symbols is their type. */
		parser->pos += special->suffix ? mangled_len : len;
		return true;
	}
	d_put_bytes(parser, text, len);
	parser->pos += len;
	return true;
}

/* A template's symbol argument: a name, or the whole mangled name of something. */
static bool parse_symbol(struct d_parser *parser)
{
	const char *text = parser->name + parser->pos;

	if (strncmp(text, "_D", 2) == 0)
		return d_parse_mangled(parser);
	return d_is_at_name(parser) && d_parse_qualified(parser, false);
}

/* Compilers until 2017 wrote the symbol's length before it, and its first character can be a digit too: "213foo…" is
 * 13 behind 2, or 3 behind 21, or a symbol that begins with a name of 213 characters. */
static bool parse_symbol_argument(struct d_parser *parser)
{
	size_t first_digit = parser->pos;
	size_t saved_len = parser->len;
	size_t len;

	if (!isdigit((unsigned char)d_peek(parser)))
		return parse_symbol(parser);
	if (!d_parse_number(parser, &len))
		return false;
	for (size_t start = parser->pos; start > first_digit; start--, len /= 10) {
		parser->pos = start;
		parser->len = saved_len;
		if (parse_symbol(parser) && parser->pos - start == len)
			return true;
	}
	parser->pos = first_digit;
	parser->len = saved_len;
	return parse_symbol(parser);
}

/* A value is written without its type, but for structs: "Point(1, 2)". */
static bool parse_value_argument(struct d_parser *parser)
{
	struct d_parser ahead = *parser;
	size_t type_pos = parser->pos;
	char type = d_peek(parser);
	size_t target;

	if (d_parse_back_reference(&ahead, &target))
		type = parser->name[target];
	parser->nr_mute++;
	bool is_type = d_parse_type(parser);
	parser->nr_mute--;
	if (!is_type)
		return false;
	if (d_peek(parser) == 'S') {
		size_t value_pos = parser->pos;

		parser->pos = type_pos;
		if (!d_parse_type(parser))
			return false;
		parser->pos = value_pos;
	}
	return d_parse_value(parser, type);
}

static bool parse_external_argument(struct d_parser *parser)
{
	size_t len;

	if (!d_parse_number(parser, &len) || len > parser->name_len - parser->pos)
		return false;
	d_put_bytes(parser, parser->name + parser->pos, len);
	parser->pos += len;
	return true;
}

static bool parse_argument(struct d_parser *parser)
{
	d_take(parser, 'H'); /* a specialised parameter */
	if (d_take(parser, 'S'))
		return parse_symbol_argument(parser);
	if (d_take(parser, 'T'))
		return d_parse_type(parser);
	if (d_take(parser, 'V'))
		return parse_value_argument(parser);
	return d_take(parser, 'X') && parse_external_argument(parser);
}

static bool parse_arguments(struct d_parser *parser)
{
	size_t nr = 0;

	d_put(parser, "!(");
	while (!d_take(parser, 'Z')) {
		if (nr++ > 0)
			d_put(parser, ", ");
		if (!d_enter(parser) || !d_leave(parser, parse_argument(parser)))
			return false;
	}
	d_put(parser, ")");
	return true;
}

static bool parse_name(struct d_parser *parser);

/* "__T", the template's name, its arguments, "Z". */
static bool parse_template(struct d_parser *parser)
{
	parser->pos += 3;
	if (d_peek(parser) == '0' || !parse_name(parser))
		return false;

	parser->nr_mute += !parser->in_full;
	bool result = parse_arguments(parser);
	parser->nr_mute -= !parser->in_full;
	return result;
}

static bool is_at_template(const struct d_parser *parser)
{
	const char *text = parser->name + parser->pos;

	return strncmp(text, "__T", 3) == 0 || strncmp(text, "__U", 3) == 0;
}

static bool parse_name_behind_number(struct d_parser *parser)
{
	size_t len;

	if (!d_parse_number(parser, &len) || len == 0)
		return false;

	size_t start = parser->pos;
	if (len < 5 || !is_at_template(parser))
		return parse_plain_name(parser, len);
	return parse_template(parser) && parser->pos - start == len;
}

/* A back reference to a name is to its number. */
static bool parse_name_again(struct d_parser *parser)
{
	size_t target;
	size_t len;

	if (!d_parse_back_reference(parser, &target))
		return false;

	size_t behind = parser->pos;
	parser->pos = target;
	if (!d_parse_number(parser, &len) || !parse_plain_name(parser, len))
		return false;
	parser->pos = behind;
	return true;
}

static bool parse_name(struct d_parser *parser)
{
	bool result = false;

	if (!d_enter(parser))
		return d_leave(parser, false);
	if (d_peek(parser) == 'Q')
		result = parse_name_again(parser);
	else if (is_at_template(parser))
		result = parse_template(parser);
	else
		result = parse_name_behind_number(parser);
	return d_leave(parser, result);
}

static bool parse_scope_parameters(struct d_parser *parser, bool with_modifiers)
{
	size_t modifiers_pos = parser->pos + 1;

	if (d_take(parser, 'M')) {
		parser->nr_mute++;
		bool result = d_parse_modifiers(parser);
		parser->nr_mute--;
		if (!result)
			return false;
	} else {
		modifiers_pos = 0;
	}
	if (!d_is_at_function(parser) || !d_parse_parameters(parser) || d_peek(parser) == '\0')
		return false;

	size_t behind = parser->pos;
	if (with_modifiers && modifiers_pos > 0) {
		parser->pos = modifiers_pos;
		if (!d_parse_modifiers(parser))
			return false;
	}
	parser->pos = behind;
	return true;
}

/* What looks like the parameters of a scope can be the type behind the name. It is, if it cannot be read so, or
 * nothing comes behind it. */
static void try_scope_parameters(struct d_parser *parser, bool with_modifiers)
{
	size_t saved_pos = parser->pos;
	size_t saved_len = parser->len;

	if (d_peek(parser) != 'M' && !d_is_at_function(parser))
		return;
	parser->nr_mute += !parser->in_full;
	if (!parse_scope_parameters(parser, with_modifiers)) {
		parser->pos = saved_pos;
		parser->len = saved_len;
	}
	parser->nr_mute -= !parser->in_full;
}

bool d_parse_qualified(struct d_parser *parser, bool with_modifiers)
{
	size_t nr = 0;

	do {
		if (nr++ > 0)
			d_put(parser, ".");
		while (d_take(parser, '0')) /* scopes without a name */
			continue;
		if (!parse_name(parser))
			return false;
		try_scope_parameters(parser, with_modifiers);
	} while (!parser->is_full && d_is_at_name(parser));
	return !parser->is_full;
}

/* The type behind the name is not written. */
bool d_parse_mangled(struct d_parser *parser)
{
	parser->pos += 2;
	if (!d_parse_qualified(parser, true))
		return false;
	if (d_take(parser, 'Z'))
		return true;
	parser->nr_mute++;
	/* The type of a member function, when it is a back reference, has not been taken for parameters. */
	bool result = (!d_take(parser, 'M') || d_parse_modifiers(parser)) && d_parse_type(parser);
	parser->nr_mute--;
	return result;
}

int d_demangle(const char *name, bool in_full, size_t max_len, char *ret_text)
{
	struct d_parser parser = {
		.name = name,
		.name_len = strlen(name),
		.last_back_reference = strlen(name),
		.text = ret_text,
		.max_len = max_len,
		.in_full = in_full,
	};

	if (!d_demangle_is_candidate(name))
		return -EBADMSG;
	if (strcmp(name, "_Dmain") == 0)
		d_put(&parser, "D main");
	else if (!d_parse_mangled(&parser) || d_peek(&parser) != '\0' || parser.len == 0)
		return parser.is_full ? -ENOSPC : -EBADMSG;
	if (parser.is_full)
		return -ENOSPC;
	ret_text[parser.len] = '\0';
	return (int)parser.len;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the text copies the parts of the name and skips other groups in brackets.
 *
 * The difficulty is that "<" and ">" are brackets in some places and operators in others:
 *
 *	operator< <int>		the first "<" belongs to the name; the second one opens arguments
 *	foo<((3)>(4))>		libiberty puts the operator ">" into parentheses
 *	foo<(3)<(4)>		but not the operator "<", which has a parenthesis on both sides
 *	foo<(3)>>(4)>		a shift, between operands; elsewhere ">>" closes two brackets
 *	foo<(a->b)>		an arrow
 *
 * Operands without parentheses (`A<B::x<C::y>`) may be misread. Then the brackets do not match at
 * the end, and the caller uses the long name. */
#include "symbol/demangle/short_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define MAX_NESTING 256

enum language {
	LANGUAGE_CPLUS,
	LANGUAGE_RUST,
	LANGUAGE_GO,
	LANGUAGE_D,
};

struct shortener {
	const char *text;
	size_t pos;
	char *out; /* borrowed */
	size_t len;
	unsigned int nr_braces; /* open braces, of lambdas and unnamed types */
	bool is_in_operator; /* in "operator TYPE" or "operator new", which have blanks */
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool begins(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Returns the length of "operator" and its symbol at `pos`, or 0 if there is no operator. The
 * symbol counts only if it could be mistaken for brackets. */
static size_t operator_length(const char *text, size_t pos)
{
	static const char *const symbols[] = { "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=",
					       ">=",  "->",  "()",  "[]",  "<",	 ">" };
	const size_t word_len = strlen("operator");

	if (text[pos] != 'o' || !begins(text + pos, "operator") ||
	    (pos > 0 && is_word(text[pos - 1])) || is_word(text[pos + word_len]))
		return 0;
	for (size_t i = 0; i < array_len(symbols); i++)
		if (begins(text + pos + word_len, symbols[i]))
			return word_len + strlen(symbols[i]);
	return word_len;
}

/* Brackets that are open while a group is skipped. */
struct group {
	enum language language;
	size_t behind_operator; /* position at which a "<" always opens arguments */
	size_t nesting;
	char open[MAX_NESTING];
};

static bool push(struct group *group, char bracket)
{
	if (group->nesting == MAX_NESTING)
		return false;
	group->open[group->nesting++] = bracket;
	return true;
}

/* Closes a bracket other than ">". Angle brackets that are still open in it were operators. */
static bool close_bracket(struct group *group)
{
	while (group->nesting > 0 && group->open[group->nesting - 1] == '<')
		group->nesting--;
	if (group->nesting == 0)
		return false;
	group->nesting--;
	return true;
}

static bool is_less_than(const struct group *group, const char *text, size_t pos)
{
	return group->language == LANGUAGE_CPLUS && group->nesting > 0 &&
	       pos != group->behind_operator && text[pos - 1] == ')' &&
	       (text[pos + 1] == '(' || text[pos + 1] == '<' || text[pos + 1] == '=');
}

/* ">=" or ">>"; the latter closes two groups unless it stands between operands. */
static bool is_operator_of_two(const char *text, size_t pos)
{
	if (text[pos + 1] == '=')
		return true;
	return text[pos + 1] == '>' && strchr(")}", text[pos - 1]) && text[pos + 2] == '(';
}

/* Rust's legacy names have "." for "-". */
static bool is_arrow(const struct group *group, const char *text, size_t pos)
{
	return text[pos - 1] == '-' || (group->language == LANGUAGE_RUST && text[pos - 1] == '.');
}

/* Takes an angle bracket, or an operator of such characters. Returns its length; 0 if there are too
 * many open brackets. */
static size_t take_angle(struct group *group, const char *text, size_t pos)
{
	if (text[pos] == '<' && is_less_than(group, text, pos))
		return text[pos + 1] == '(' ? 1 : 2;
	if (text[pos] == '<')
		return push(group, '<') ? 1 : 0;
	if (group->language == LANGUAGE_CPLUS && is_operator_of_two(text, pos))
		return 2;
	if (!is_arrow(group, text, pos) && group->nesting > 0 &&
	    group->open[group->nesting - 1] == '<')
		group->nesting--;
	return 1;
}

/* Returns the length of a character literal such as 'A' or '\x41'. */
static size_t character_length(const char *text)
{
	const char *end = text[1] ? strchr(text + 2, '\'') : NULL;

	return end ? (size_t)(end - text) + 1 : 1;
}

/* Returns the length of a literal, in which brackets do not count: the tag of a struct in Go, a
 * character in Rust, both in D. Returns 0 if there is none. */
static size_t literal_length(enum language language, const char *text)
{
	size_t len = 1;

	if (language == LANGUAGE_RUST && text[0] == '\'')
		return text[1] && text[2] == '\'' ? 3 : 1;
	if (language == LANGUAGE_D && text[0] == '\'')
		return character_length(text);
	if ((language != LANGUAGE_GO && language != LANGUAGE_D) || text[0] != '"')
		return 0;
	while (text[len] && text[len] != '"')
		len += text[len] == '\\' && text[len + 1] ? 2 : 1;
	return text[len] ? len + 1 : len;
}

/* Takes a literal, a bracket or another character inside of a group. Returns its length, or 0 if
 * brackets do not match. */
static size_t take_in_group(struct group *group, const char *text, size_t pos)
{
	size_t len = literal_length(group->language, text + pos);

	if (group->language == LANGUAGE_CPLUS)
		len = operator_length(text, pos);
	if (len > 0) {
		group->behind_operator = pos + len;
		return len;
	}
	if (strchr("([{", text[pos]))
		return push(group, text[pos]) ? 1 : 0;
	if (strchr(")]}", text[pos]))
		return close_bracket(group) ? 1 : 0;
	if (strchr("<>", text[pos]) && group->language != LANGUAGE_GO &&
	    group->language != LANGUAGE_D)
		return take_angle(group, text, pos);
	return 1;
}

/* Returns the position behind the bracket that matches the one at `pos`, or 0. */
static size_t skip_group(const char *text, size_t pos, enum language language)
{
	struct group group = { .language = language };

	do {
		size_t len = text[pos] ? take_in_group(&group, text, pos) : 0;

		if (len == 0)
			return 0;
		pos += len;
	} while (group.nesting > 0);
	return pos;
}

static void copy(struct shortener *s, size_t len)
{
	memcpy(s->out + s->len, s->text + s->pos, len);
	s->len += len;
	s->pos += len;
}

static char last_out(const struct shortener *s)
{
	if (s->len == 0)
		return '\0';
	return s->out[s->len - 1];
}

static bool drop_group(struct shortener *s, enum language language)
{
	size_t end = skip_group(s->text, s->pos, language);

	if (end == 0)
		return false;
	s->pos = end;
	return true;
}

static bool copy_group(struct shortener *s, enum language language)
{
	size_t end = skip_group(s->text, s->pos, language);

	if (end == 0)
		return false;
	copy(s, end - s->pos);
	return true;
}

/* Drops a qualifier behind the parameters of a member function:
 * "A::f() const::{lambda()#1}::operator() const". */
static bool drop_qualifier(struct shortener *s)
{
	static const char *const qualifiers[] = { " const",    " volatile", " restrict",  " &&",
						  " noexcept", " &",	    " __restrict" };

	for (size_t i = 0; i < array_len(qualifiers); i++) {
		const char *text = s->text + s->pos;
		size_t len = strlen(qualifiers[i]);

		if (begins(text, qualifiers[i]) && (!text[len] || strchr(" :", text[len]))) {
			s->pos += len;
			return true;
		}
	}
	return false;
}

static bool ends_in(const struct shortener *s, const char *suffix)
{
	size_t len = strlen(suffix);

	return s->len >= len && memcmp(s->out + s->len - len, suffix, len) == 0;
}

/* Parentheses outside of a lambda contain parameters, unless they are part of a type or name. */
static bool shorten_parenthesis(struct shortener *s)
{
	if (begins(s->text + s->pos, "(anonymous ") || s->len == 0 || ends_in(s, "decltype ") ||
	    ends_in(s, "decltype"))
		return copy_group(s, LANGUAGE_CPLUS);
	if (s->is_in_operator && last_out(s) == ' ') /* "operator int (*)(char)" */
		return copy_group(s, LANGUAGE_CPLUS) &&
		       (s->text[s->pos] != '(' || copy_group(s, LANGUAGE_CPLUS));
	s->is_in_operator = false;
	return drop_group(s, LANGUAGE_CPLUS);
}

static bool shorten_angle(struct shortener *s)
{
	if (last_out(s) == ' ')
		s->len--; /* "operator< <int>" */
	return drop_group(s, LANGUAGE_CPLUS);
}

static bool shorten_cplus_at(struct shortener *s)
{
	size_t operator_len = operator_length(s->text, s->pos);
	char c = s->text[s->pos];

	if (operator_len > 0) {
		copy(s, operator_len);
		s->is_in_operator = operator_len == strlen("operator") && s->text[s->pos] == ' ';
		return true;
	}
	if (c == '<')
		return shorten_angle(s);
	if (c == '(' && s->nr_braces == 0)
		return shorten_parenthesis(s);
	if (c == ' ' && s->nr_braces == 0 && !s->is_in_operator && drop_qualifier(s))
		return true;
	if (c == '[' && begins(s->text + s->pos, "[abi:"))
		return drop_group(s, LANGUAGE_CPLUS);
	if (c == '{')
		s->nr_braces++;
	if (c == '}' && s->nr_braces > 0)
		s->nr_braces--;
	copy(s, 1);
	return true;
}

/* "<" can begin arguments, "Vec<T>" and "parse::<T>"; a qualified path, "<T as Trait>::f"; or
 * lifetimes of a type, "for<'a> fn(&'a u8)". */
static bool shorten_rust_at(struct shortener *s)
{
	const char *text = s->text + s->pos;

	if (text[0] != '<' || s->pos == 0) {
		copy(s, 1);
		return true;
	}
	if (ends_in(s, "::") && !begins(text, "<impl ")) {
		s->len -= 2;
		return drop_group(s, LANGUAGE_RUST);
	}
	if (text[-1] == 'r' && begins(text, "<'") && ends_in(s, "for"))
		return copy_group(s, LANGUAGE_RUST);
	if (is_word(text[-1]))
		return drop_group(s, LANGUAGE_RUST);
	copy(s, 1);
	return true;
}

static bool shorten_go_at(struct shortener *s)
{
	if (s->text[s->pos] == '[' && s->pos > 0 && is_word(s->text[s->pos - 1]))
		return drop_group(s, LANGUAGE_GO);
	copy(s, 1);
	return true;
}

/* "foo.Bar!(int).run(char) const.baz"; "foo.this(this)" is the name of a postblit. */
static bool shorten_d_at(struct shortener *s)
{
	const char *text = s->text + s->pos;

	if (begins(text, "!("))
		s->pos++;
	else if (text[0] != '(' || begins(text, "(this)")) {
		copy(s, begins(text, "(this)") ? strlen("(this)") : 1);
		return true;
	}
	if (!drop_group(s, LANGUAGE_D))
		return false;
	/* Skips the attributes of a function. */
	while (s->text[s->pos] && !strchr(".!(", s->text[s->pos]))
		s->pos++;
	return true;
}

static bool shorten(const char *text, char *ret_short, bool (*shorten_at)(struct shortener *))
{
	struct shortener s = { .text = text, .out = ret_short };

	while (s.text[s.pos])
		if (!shorten_at(&s))
			return false;
	s.out[s.len] = '\0';
	return s.len > 0;
}

bool short_name_cplus(const char *text, char *ret_short)
{
	return shorten(text, ret_short, shorten_cplus_at);
}

bool short_name_rust(const char *text, char *ret_short)
{
	return shorten(text, ret_short, shorten_rust_at);
}

bool short_name_d(const char *text, char *ret_short)
{
	return shorten(text, ret_short, shorten_d_at);
}

bool short_name_go(const char *text, char *ret_short)
{
	return shorten(text, ret_short, shorten_go_at);
}

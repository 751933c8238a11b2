/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of D's demangler share: a cursor, and a text that grows until it is full. A part that fails
 * leaves the cursor and the text anywhere. */
#ifndef SYMBOL_DEMANGLE_D_PARSER_H
#define SYMBOL_DEMANGLE_D_PARSER_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct d_parser {
	const char *name; /* ends in NUL */
	size_t name_len;
	size_t pos;
	size_t last_back_reference; /* where the innermost "Q" stands that is being followed */
	char *text; /* the caller's */
	size_t len;
	size_t max_len;
	unsigned int nr_mute; /* above 0: read, but write nothing */
	unsigned int nr_steps;
	unsigned int depth;
	bool in_full;
	bool is_full; /* gave up: too long, too deep or too many steps */
};

/* Counts a step down; false when there were too many. d_leave() returns `result`. */
bool d_enter(struct d_parser *parser) must_check;
bool d_leave(struct d_parser *parser, bool result) must_check;

char d_peek(const struct d_parser *parser);
/* Takes the next character if it is `c`. */
bool d_take(struct d_parser *parser, char c);

void d_put(struct d_parser *parser, const char *text);
void d_put_bytes(struct d_parser *parser, const char *text, size_t len);
/* Exchanges the texts [start, middle) and [middle, now). */
void d_exchange(struct d_parser *parser, size_t start, size_t middle);

bool d_parse_number(struct d_parser *parser, size_t *ret_number) must_check;
/* Follows "Q" and its number; the cursor is behind it then. */
bool d_parse_back_reference(struct d_parser *parser, size_t *ret_target) must_check;

/* Whether a name, and not a type, stands at the cursor. */
bool d_is_at_name(const struct d_parser *parser);
bool d_is_at_function(const struct d_parser *parser);

/* d_demangle.c: the names of a scope and what is in it; a name and its type. The modifiers (`const`) of a member
 * function are written if wanted. */
bool d_parse_qualified(struct d_parser *parser, bool with_modifiers) must_check;
bool d_parse_mangled(struct d_parser *parser) must_check;

/* d_types.c: a type, and the parameters of a function from its calling convention on. */
bool d_parse_type(struct d_parser *parser) must_check;
bool d_parse_modifiers(struct d_parser *parser) must_check;
bool d_parse_parameters(struct d_parser *parser) must_check;

/* d_values.c: a value of a type, of which the first letter tells enough. */
bool d_parse_value(struct d_parser *parser, char type) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What compilers call their functions, made readable:
 *
 *	JS:*add /app/math.js:12:5	*add		file /app/math.js, from line 12 on
 *	JS:~ /app/math.js:3:1		~(anonymous) math.js:3
 *	double Hot$Inner.bar(int)	Hot$Inner::bar
 *	Lcom/foo/Bar;baz(I)V		com.foo.Bar::baz
 *
 * The mark that V8 puts before a name stays, as it tells how the function was compiled: ~
 * interpreted, ^ baseline, + mid tier, * optimised. Classes that the Java VM made at run time lose
 * the address in their names (Hot$$Lambda/0x0000000036040428), which differs in every process.
 * Everything else stays as it is.
 *
 * A worker takes names apart, as whoever compiled them wrote them; the agent has the places of the
 * parts checked and puts them together. */
#ifndef SYMBOL_JIT_JIT_NAMES_H
#define SYMBOL_JIT_JIT_NAMES_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JIT_NAME_MAX_BYTES 4096

enum jit_name_shape {
	JIT_NAME_PLAIN, /* as it is */
	JIT_NAME_SOURCE, /* first: the name, second: its file */
	JIT_NAME_ANONYMOUS, /* first: the mark, second: the file, of which `base` is the name */
	JIT_NAME_METHOD, /* first: the class, second: the method */
	JIT_NAME_SHAPES,
};

/* Where the parts are in a name; sent between processes. */
struct jit_name_parts {
	uint32_t start_line; /* 0: unknown */
	uint16_t first;
	uint16_t first_len;
	uint16_t second;
	uint16_t second_len;
	uint16_t base; /* in the name, too; within the second part or at its end */
	uint8_t shape;
	uint8_t language; /* enum symbol_language: JVM, V8JS or JIT */
};

struct jit_name {
	const char *name;
	const char *filename; /* "" unknown */
	uint32_t start_line; /* 0: unknown */
};

/* Takes a name apart: a Java VM's, or else V8's, or that of any other compiler. */
struct jit_name_parts jit_names_split(const char *system_name, bool is_java);

/* Whether the parts are ones that a name of that length can have. */
bool jit_names_can_have(const struct jit_name_parts *parts, size_t name_len);

/* The readable name; the parts are ones that it can have. What is returned is in `scratch`, whose
 * content is replaced, or is `system_name`. Never fails: without memory the name stays as it is. */
struct jit_name jit_names_join(const char *system_name, const struct jit_name_parts *parts,
			       struct strbuf *scratch);

#endif

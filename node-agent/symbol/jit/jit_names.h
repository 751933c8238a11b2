/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the names readable that compilers give to their functions:
 *
 *	JS:*add /app/math.js:12:5	*add		file /app/math.js, from line 12 on
 *	JS:~ /app/math.js:3:1		~(anonymous) math.js:3
 *	double Hot$Inner.bar(int)	Hot$Inner::bar
 *	Lcom/foo/Bar;baz(I)V		com.foo.Bar::baz
 *
 * The mark that V8 puts before a name is kept. It says how the function was compiled: ~
 * interpreted, ^ baseline, + mid tier, * optimized. The names of classes that the Java VM made at
 * run time lose their address (Hot$$Lambda/0x0000000036040428), which differs in every process. All
 * other names are unchanged.
 *
 * The names are hostile input, so a worker splits them into parts. The agent checks the offsets of
 * the parts and joins them. */
#ifndef SYMBOL_JIT_JIT_NAMES_H
#define SYMBOL_JIT_JIT_NAMES_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JIT_NAME_MAX_BYTES 4096

enum jit_name_shape {
	JIT_NAME_PLAIN, /* unchanged */
	JIT_NAME_SOURCE, /* first: the name, second: its file */
	JIT_NAME_ANONYMOUS, /* first: the mark, second: the file, of which `base` is the name */
	JIT_NAME_METHOD, /* first: the class, second: the method */
	JIT_NAME_SHAPES,
};

/* Offsets and lengths of the parts of a name; sent from the worker to the agent. */
struct jit_name_parts {
	uint32_t start_line; /* 0: unknown */
	uint16_t first;
	uint16_t first_len;
	uint16_t second;
	uint16_t second_len;
	uint16_t base; /* offset in the name; within the second part or at its end */
	uint8_t shape;
	uint8_t language; /* enum symbol_language: JVM, V8JS or JIT */
};

struct jit_name {
	const char *name;
	const char *filename; /* "" unknown */
	uint32_t start_line; /* 0: unknown */
};

/* Splits a name of a Java VM, or else of V8 or any other compiler. */
struct jit_name_parts jit_names_split(const char *system_name, bool is_java);

/* Returns whether the parts are valid for a name of that length. */
bool jit_names_can_have(const struct jit_name_parts *parts, size_t name_len);

/* Returns the readable name. The parts must be valid. The result points into `scratch`, whose
 * content is replaced, or is `system_name`. Never fails: without memory the name is unchanged. */
struct jit_name jit_names_join(const char *system_name, const struct jit_name_parts *parts,
			       struct strbuf *scratch);

#endif

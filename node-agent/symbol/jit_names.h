/* SPDX-License-Identifier: Apache-2.0 */
/* What compilers call their functions, made readable:
 *
 *	JS:*add /app/math.js:12:5	*add		file /app/math.js, from line 12 on
 *	JS:~ /app/math.js:3:1		~(anonymous) math.js:3
 *	double Hot$Inner.bar(int)	Hot$Inner::bar
 *	Lcom/foo/Bar;baz(I)V		com.foo.Bar::baz
 *
 * The mark that V8 puts before a name stays, as it tells how the function was compiled: ~ interpreted, ^ baseline,
 * + mid tier, * optimised. Classes that the Java VM made at run time lose the address in their names
 * (Hot$$Lambda/0x0000000036040428), which differs in every process. Everything else stays as it is. */
#ifndef SYMBOL_JIT_NAMES_H
#define SYMBOL_JIT_NAMES_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

struct jit_name {
	const char *name;
	const char *filename; /* "" unknown */
	uint32_t start_line; /* 0: unknown */
};

/* Whether V8 writes such names ("JS:…", "Builtin:…"). */
bool jit_names_is_v8(const char *system_name);

/* The readable name of V8's or a Java VM's function. What is returned is in `scratch`, whose content is
 * replaced, or is `system_name`. Never fails: without memory the name stays as it is. */
struct jit_name jit_names_read_v8(const char *system_name, struct strbuf *scratch);
struct jit_name jit_names_read_java(const char *system_name, struct strbuf *scratch);

#endif

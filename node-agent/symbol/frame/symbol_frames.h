/* SPDX-License-Identifier: Apache-2.0 */
/* What an address is called: the function it is in and, where debug information tells, the
 * functions that were inlined there and the lines of their sources. Every resolver (ELF files, JIT
 * compilers' lists, the kernel) answers with this. */
#ifndef SYMBOL_FRAME_SYMBOL_FRAMES_H
#define SYMBOL_FRAME_SYMBOL_FRAMES_H

#include <stddef.h>
#include <stdint.h>

/* Functions inlined into each other at one address; those between the innermost and the outermost
 * ones are left out beyond. */
#define SYMBOL_MAX_LINES 64

enum symbol_language {
	LANGUAGE_UNKNOWN, /* native code: C, C++ and what nobody told */
	LANGUAGE_GO,
	LANGUAGE_RUST,
	LANGUAGE_JVM,
	LANGUAGE_V8JS,
	LANGUAGE_JIT, /* made at run time, by something else */
};

struct symbol_line {
	const char *name; /* as people read it: demangled */
	const char *system_name; /* as in the file: any bytes but NUL */
	const char *filename; /* source file; "" when unknown */
	uint32_t line; /* 0: unknown */
	uint32_t start_line; /* of the function; 0: unknown */
};

struct symbol_frames {
	const struct symbol_line *lines; /* innermost first; borrowed */
	size_t nr_lines; /* 0: no name */
	enum symbol_language language;
	/* virtual address, as addr2line takes it; the file offset where the
	 * file's segments are not known */
	uint64_t address;
	uint64_t function; /* in the same way, where the function begins; 0: unknown */
};

#endif

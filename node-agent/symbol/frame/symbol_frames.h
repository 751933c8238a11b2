/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of an address: the function that holds it and, if there is debug information, the
 * functions that were inlined there, and their source lines. Every resolver (ELF files, JIT
 * compilers' lists, the kernel) returns this struct. */
#ifndef SYMBOL_FRAME_SYMBOL_FRAMES_H
#define SYMBOL_FRAME_SYMBOL_FRAMES_H

#include <stddef.h>
#include <stdint.h>

/* Maximum number of frames at one address. If there are more, some between the innermost and the
 * outermost ones are left out. */
#define SYMBOL_MAX_LINES 64

enum symbol_language {
	LANGUAGE_UNKNOWN, /* native code: C, C++, or unknown */
	LANGUAGE_GO,
	LANGUAGE_RUST,
	LANGUAGE_JVM,
	LANGUAGE_V8JS,
	LANGUAGE_CPYTHON,
	LANGUAGE_JIT, /* made at run time by another compiler */
};

struct symbol_line {
	const char *name; /* demangled */
	const char *system_name; /* as in the file; any bytes except NUL */
	const char *filename; /* source file; "" if unknown */
	uint32_t line; /* 0: unknown */
	uint32_t start_line; /* of the function; 0: unknown */
};

struct symbol_frames {
	const struct symbol_line *lines; /* innermost first; borrowed */
	size_t nr_lines; /* 0: no name */
	enum symbol_language language;
	/* The virtual address, as for addr2line, or the file offset if the segments of the file are
	 * not known. */
	uint64_t address;
	uint64_t function; /* beginning of the function, in the same form; 0: unknown */
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Names as programmers know them. What a mangled name becomes:
 *
 *	style	C++					Rust
 *	NONE	_ZN3foo3BarISsE3runIiEEvT_.cold		_RINvNtC3std3mem8align_ofjE
 *	SHORT	foo::Bar::run				std::mem::align_of
 *	FULL	void foo::Bar<…>::run<int>(int) [clone .cold]	std::mem::align_of::<usize>
 *
 * C++ names are those of the Itanium ABI, Rust's are legacy ones and v0. D's are those of its
 * specification (spec/abi.html). Go's names are not mangled; SHORT drops type arguments,
 * `main.Map[go.shape.int]`. Everything else stays as it is.
 *
 * SHORT is without template arguments, parameters, return types, ABI tags, hashes and compiler
 * suffixes (".cold", ".part.0"); see short_name.h. Neither SHORT nor FULL has symbol versions
 * ("@@GLIBC_2.34"). FULL is what c++filt prints for C++ and D, and rustfilt for Rust. */
#ifndef SYMBOL_DEMANGLE_DEMANGLE_H
#define SYMBOL_DEMANGLE_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

#define DEMANGLE_MAX_BYTES 4096

enum demangle_style {
	DEMANGLE_NONE,
	DEMANGLE_SHORT,
	DEMANGLE_FULL,
};

/* The name in a style, malloc'ed. Names over DEMANGLE_MAX_BYTES and those that grow over it are
 * not demangled. NULL only without memory. Uses libiberty; needs 1 MB of stack for hostile names.
 * Some of these take it for ever, and some of D's all memory, whereupon it ends the process: names
 * that are not trusted are for a process of their own. */
char *demangle(const char *name, enum demangle_style style);

/* Whether a name begins as mangled ones do, or may have type arguments or a version. If not,
 * demangle() copies it. */
bool demangle_is_candidate(const char *name);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Demangles the names of functions. The styles are:
 *
 *	style	C++					Rust
 *	NONE	_ZN3foo3BarISsE3runIiEEvT_.cold		_RINvNtC3std3mem8align_ofjE
 *	SHORT	foo::Bar::run				std::mem::align_of
 *	FULL	void foo::Bar<…>::run<int>(int) [clone .cold]	std::mem::align_of::<usize>
 *
 * It supports C++ names of the Itanium ABI, Rust's legacy and v0 names, and D's names as specified
 * (spec/abi.html). Go's names are not mangled, but SHORT drops their type arguments:
 * `main.Map[go.shape.int]`. Other names stay as they are.
 *
 * SHORT has no template arguments, parameters, return types, ABI tags, hashes and compiler suffixes
 * (".cold", ".part.0"); see short_name.h. Neither SHORT nor FULL has symbol versions
 * ("@@GLIBC_2.34"). FULL is the output of c++filt for C++ and D, and of rustfilt for Rust. */
#ifndef SYMBOL_DEMANGLE_DEMANGLE_H
#define SYMBOL_DEMANGLE_DEMANGLE_H

#include <stdbool.h>

#define DEMANGLE_MAX_BYTES 4096

enum demangle_style {
	DEMANGLE_NONE,
	DEMANGLE_SHORT,
	DEMANGLE_FULL,
};

/* Returns the name in a style, from malloc(); NULL without memory. A name is not demangled if it is
 * longer than DEMANGLE_MAX_BYTES, or would be then. Uses libiberty, which needs 1 MB of stack for
 * hostile names. Some of these take forever, and some of D's take all memory, which ends the
 * process. Therefore a separate process must demangle names that are not trusted. */
char *demangle(const char *name, enum demangle_style style);

/* Returns whether a name begins like a mangled one, or may have type arguments or a version. If
 * not, demangle() only copies it. */
bool demangle_is_candidate(const char *name);

#endif

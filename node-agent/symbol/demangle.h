/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYMBOL_DEMANGLE_H
#define SYMBOL_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

#define DEMANGLE_MAX_BYTES 4096

/* The name a C++ (Itanium) or Rust (legacy and v0) programmer knows, in short form: without parameters,
 * return types, hashes and compiler suffixes (".cold"). Anything else is returned as it is. Names over
 * DEMANGLE_MAX_BYTES and those that grow over it are not demangled. Never NULL except without memory; the
 * caller frees it. Uses libiberty; needs 1 MB of stack for hostile names. */
char *demangle(const char *name);

/* Whether a name begins as mangled ones do. If not, demangle() would copy it. */
bool demangle_is_candidate(const char *name);

#endif

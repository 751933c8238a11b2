/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYMBOL_DEMANGLE_H
#define SYMBOL_DEMANGLE_H

#include <stddef.h>

/* The name a C++ (Itanium) or Rust (legacy and v0) programmer knows, in short form: without parameters
 * and return types. Anything else is returned as it is. Names over 4096 bytes and those that grow over it
 * are not demangled. Never NULL except without memory; the caller frees it. Uses libiberty. */
char *demangle(const char *name);

#endif

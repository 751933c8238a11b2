/* SPDX-License-Identifier: Apache-2.0 */
/* Shortens demangled names: leaves out what tells two instances of a function apart. */
#ifndef SYMBOL_DEMANGLE_SHORT_NAME_H
#define SYMBOL_DEMANGLE_SHORT_NAME_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Each writes the short form of `text`, which is never longer, and a NUL. False when brackets do
 * not match; then the text written means nothing.
 *
 * C++: no template arguments, parameters, qualifiers behind those, ABI tags. Parameters of lambdas
 * stay, `{lambda(int)#1}`: they are part of the name. For names that libiberty printed without
 * DMGL_PARAMS, thus without return types. */
bool short_name_cplus(const char *text, char *ret_short) must_check;

/* Rust: no generic arguments. `<Type as Trait>::method` and `<impl Trait for Type>::method` stay,
 * with the arguments of Type and Trait left out. */
bool short_name_rust(const char *text, char *ret_short) must_check;

/* D: no template arguments, parameters, nor what stands behind those. */
bool short_name_d(const char *text, char *ret_short) must_check;

/* Go: no type arguments, `main.Map[go.shape.int]` and `main.(*List[...]).Push`. */
bool short_name_go(const char *text, char *ret_short) must_check;

#endif

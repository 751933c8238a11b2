/* SPDX-License-Identifier: Apache-2.0 */
/* Shortens demangled names: removes the parts that distinguish instances of a function. */
#ifndef SYMBOL_DEMANGLE_SHORT_NAME_H
#define SYMBOL_DEMANGLE_SHORT_NAME_H

#include "base/err.h"

#include <stdbool.h>

/* Each function writes the short form of `text`, which is never longer, and a NUL. Returns false if
 * brackets do not match; then the output is invalid.
 *
 * C++: removes template arguments, parameters, qualifiers behind these, and ABI tags. Parameters of
 * lambdas stay, `{lambda(int)#1}`, because they are part of the name. The input is the output of
 * libiberty without DMGL_PARAMS, which has no return types. */
bool short_name_cplus(const char *text, char *ret_short) must_check;

/* Rust: removes generic arguments. `<Type as Trait>::method` and `<impl Trait for Type>::method`
 * stay, without the arguments of Type and Trait. */
bool short_name_rust(const char *text, char *ret_short) must_check;

/* D: removes template arguments, parameters, and attributes behind these. */
bool short_name_d(const char *text, char *ret_short) must_check;

/* Go: removes type arguments, as in `main.Map[go.shape.int]` and `main.(*List[...]).Push`. */
bool short_name_go(const char *text, char *ret_short) must_check;

#endif

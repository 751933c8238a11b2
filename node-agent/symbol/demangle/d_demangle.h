/* SPDX-License-Identifier: Apache-2.0 */
/* Names of D functions: `_D3std4conv__T2toTAyaZ__TQlTAaZQrFNaNbNfQmZQz` is std.conv.to.to.to, or in full
 * std.conv.to!(immutable(char)[]).to!(char[]).to(char[]).
 *
 * Not libiberty's demangler, which tries each way to read a nested function type and so takes twice the time for
 * every three bytes more, and prints back references without a bound. This one counts its steps. The text is
 * the same. */
#ifndef SYMBOL_DEMANGLE_D_DEMANGLE_H
#define SYMBOL_DEMANGLE_D_DEMANGLE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether a name begins as D's do. */
bool d_demangle_is_candidate(const char *name);

/* Writes the name, at most `max_len` bytes and a NUL; in full with parameters and template arguments. Returns its
 * length. Errors: -EBADMSG it is none; -ENOSPC it becomes too long, or takes too many steps to read. */
int d_demangle(const char *name, bool in_full, size_t max_len, char *ret_text) must_check;

#endif

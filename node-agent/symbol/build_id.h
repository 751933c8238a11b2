/* SPDX-License-Identifier: Apache-2.0 */
/* Build ids as text, as they are in file names and URLs: lower-case hexadecimal. */
#ifndef SYMBOL_BUILD_ID_H
#define SYMBOL_BUILD_ID_H

#include "base/parse.h"

#include <stdbool.h>
#include <string.h>

#define BUILD_ID_MIN_DIGITS 4
#define BUILD_ID_MAX_DIGITS 128

static inline bool build_id_is_valid(const char *text)
{
	size_t len = strnlen(text, BUILD_ID_MAX_DIGITS + 1);

	return len >= BUILD_ID_MIN_DIGITS && len <= BUILD_ID_MAX_DIGITS && len % 2 == 0 &&
	       is_lower_hex(text, len);
}

#endif

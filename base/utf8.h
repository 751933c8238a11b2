/* SPDX-License-Identifier: Apache-2.0 */
/* Names come from programs and may be any bytes; the formats we write want UTF-8. Even honest names go
 * wrong: the kernel cuts a process name after 15 bytes, in the middle of a character if need be. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Bytes of the well-formed character that `text` starts with; 0 when it starts with none. `text` is not
 * empty and ends with a NUL. */
size_t utf8_char_len(const char *text);

bool utf8_is_valid(const char *text);

/* Appends the text with every malformed byte replaced. */
void utf8_append(struct strbuf *out, const char *text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Checks UTF-8. Even harmless names may be invalid: the kernel truncates a process name after 15
 * bytes, possibly inside a character. base/printable.h makes names printable. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the length of the well-formed character that `text` starts with; 0 if there is none.
 * `text` is not empty and ends with a NUL. */
size_t utf8_char_len(const char *text);

bool utf8_is_valid(const char *text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes are UTF-8. Even honest names are not always: the kernel truncates a process name
 * after 15 bytes, in the middle of a character if need be. base/printable.h makes them
 * printable. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the well-formed character that `text` starts with; 0 when it starts with none. `text`
 * is not empty and ends with a NUL. */
size_t utf8_char_len(const char *text);

bool utf8_is_valid(const char *text);

#endif

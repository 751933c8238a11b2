/* SPDX-License-Identifier: Apache-2.0 */
/* Hexadecimal digits, in lower case: of build ids, container IDs and escapes. */
#ifndef BASE_HEX_H
#define BASE_HEX_H

#include <stdbool.h>
#include <stddef.h>

#define HEX_DIGITS "0123456789abcdef"

/* Writes two digits a byte, and no NUL. */
void hex_put(char *to, const void *bytes, size_t len);

/* The value of a digit; -1 if it is none. */
int hex_value(char digit);

/* Whether `text` has exactly `len` characters, all of them digits. */
bool hex_is(const char *text, size_t len);

#endif

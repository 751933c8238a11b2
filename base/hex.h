/* SPDX-License-Identifier: Apache-2.0 */
/* Lower-case hexadecimal digits, as in build ids, container IDs and escapes. */
#ifndef BASE_HEX_H
#define BASE_HEX_H

#include <stdbool.h>
#include <stddef.h>

#define HEX_DIGITS "0123456789abcdef"

/* Writes two digits per byte, without a NUL. */
void hex_put(char *to, const void *bytes, size_t len);

/* Returns the value of a digit; -1 for any other character. */
int hex_value(char digit);

/* Returns whether `text` consists of exactly `len` digits. */
bool hex_is(const char *text, size_t len);

#endif

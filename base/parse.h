/* SPDX-License-Identifier: Apache-2.0 */
/* Strict parsers: the whole text must have the expected form. All return -EINVAL for other text and
 * -ERANGE for a number that does not fit. */
#ifndef BASE_PARSE_H
#define BASE_PARSE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Decimal digits only: no sign, no blanks. */
int parse_u32(const char *text, uint32_t *ret_value) must_check;
int parse_u64(const char *text, uint64_t *ret_value) must_check;

/* "true" / "false" / "yes" / "no" / "on" / "off" / "1" / "0". */
int parse_bool(const char *text, bool *ret_value) must_check;

/* "10s", "500ms", "2m", "1h", "7d"; a bare number is seconds; "1.5s" is allowed. */
int parse_duration_ns(const char *text, uint64_t *ret_ns) must_check;

/* "4096", "64K", "32M", "1G" (powers of 1024; "Ki", "Mi", "Gi" as in Kubernetes mean the same). */
int parse_bytes(const char *text, uint64_t *ret_bytes) must_check;

/* Reads digits of base 10 or 16 at *cursor and moves it behind them; for parsers of kernel text. */
int parse_digits(const char **cursor, const char *end, unsigned int base, uint64_t *ret_value)
	must_check;

/* Edit distance of two short words, for "did you mean". For words longer than 64 bytes, returns
 * 64. */
unsigned int word_distance(const char *a, const char *b);

#endif

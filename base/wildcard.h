/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_WILDCARD_H
#define BASE_WILDCARD_H

#include <stdbool.h>
#include <stddef.h>

/* Returns whether a text equals a pattern. A "*" at the end of the pattern stands for any rest of
 * the text; elsewhere it stands for itself. */
bool wildcard_matches(const char *pattern, const char *text);

/* Returns whether a text matches one of `nr` patterns. */
bool wildcard_matches_any(const char *const *patterns, size_t nr, const char *text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* regcomp(3) copies what is repeated, "a{3}" three times and "a+" twice, and what is nested
 * multiplies: a line of text can take all memory. It also calls itself for each parenthesis. */
#ifndef BASE_REGEX_SIZE_H
#define BASE_REGEX_SIZE_H

#include <stdbool.h>

/* Returns whether an extended regular expression is small enough to be compiled: with all copies it
 * has at most a thousand characters, and few parentheses within each other. Back-references,
 * for which a match may take very long, are not permitted. A malformed one may pass. */
bool regex_size_is_small(const char *text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Build ids as text. GNU build ids, which are part of file names and URLs, are lower-case
 * hexadecimal. */
#ifndef ELF_BUILD_ID_H
#define ELF_BUILD_ID_H

#include "base/hex.h"

#include <stdbool.h>
#include <string.h>

#define BUILD_ID_MIN_DIGITS 4
#define BUILD_ID_MAX_DIGITS 128

/* The identifiers of a file's content. "" stands for one that the file does not have or that is not
 * known yet. */
struct build_ids {
	const char *gnu; /* lower-case hex */
	const char *go; /* text */
	const char *htlhash; /* lower-case hex; known for every file that was read */
};

#define BUILD_IDS_UNKNOWN ((struct build_ids){ "", "", "" })

/* Returns whether a text is a GNU build id. */
static inline bool build_id_is_valid(const char *text)
{
	size_t len = strnlen(text, BUILD_ID_MAX_DIGITS + 1);

	return len >= BUILD_ID_MIN_DIGITS && len <= BUILD_ID_MAX_DIGITS && len % 2 == 0 &&
	       hex_is(text, len);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BEARER_TOKEN_H
#define BASE_BEARER_TOKEN_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stddef.h>

/* Appends "Authorization: Bearer …" with the token that the file holds; blanks and line ends
 * around it do not belong to it. Errors: -EBADMSG when it is none (empty, or with characters
 * that a header cannot have), -ENOSPC (a file of more than max_bytes), -ENOMEM, those of reading
 * the file. */
int bearer_token_read(const char *path, size_t max_bytes, struct strbuf *header) must_check;

#endif

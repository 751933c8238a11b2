/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BEARER_TOKEN_H
#define BASE_BEARER_TOKEN_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stddef.h>

/* Appends "Authorization: Bearer TOKEN" with the token in the file, without the white space around
 * it. Errors: -EBADMSG if the token is empty or has characters that a header cannot contain,
 * -ENOSPC if the file is larger than max_bytes, -ENOMEM, and errors of reading the file. */
int bearer_token_read(const char *path, size_t max_bytes, struct strbuf *header) must_check;

#endif

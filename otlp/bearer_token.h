/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTLP_BEARER_TOKEN_H
#define OTLP_BEARER_TOKEN_H

#include "base/err.h"
#include "base/strbuf.h"

/* Appends "Authorization: Bearer …" with the token that the file holds; blanks and line ends around it do not
 * belong to it. Errors: -EBADMSG when it is none (empty, or with characters that a header cannot have),
 * -ENOSPC, -ENOMEM, those of reading the file. */
int bearer_token_read(const char *path, struct strbuf *header) must_check;

#endif

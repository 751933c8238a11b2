/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 (RFC 4648 section 4): in headers, and in pages of HTML. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/strbuf.h"

#include <stddef.h>

/* Appends the bytes of `data` as base64 with padding. Failures are kept in `out`: -ENOSPC,
 * -ENOMEM. */
void base64_encode(struct strbuf *out, const void *data, size_t len);

/* Appends the decoded bytes of `text`, with or without padding. Failures are kept in `out`:
 * -EBADMSG if `text` is not base64, -ENOSPC, -ENOMEM. */
void base64_decode(struct strbuf *out, const char *text, size_t len);

#endif

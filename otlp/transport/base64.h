/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes base64 in headers (RFC 4648 section 4). */
#ifndef OTLP_TRANSPORT_BASE64_H
#define OTLP_TRANSPORT_BASE64_H

#include "base/strbuf.h"

#include <stddef.h>

/* Appends the decoded bytes of `text`, with or without padding. Failures are kept in `out`:
 * -EBADMSG if `text` is not base64, -ENOSPC, -ENOMEM. */
void base64_append(struct strbuf *out, const char *text, size_t len);

#endif

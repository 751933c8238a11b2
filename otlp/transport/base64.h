/* SPDX-License-Identifier: Apache-2.0 */
/* Binary data in headers (RFC 4648 section 4). */
#ifndef OTLP_TRANSPORT_BASE64_H
#define OTLP_TRANSPORT_BASE64_H

#include "base/strbuf.h"

#include <stddef.h>

/* Appends the bytes that `text` stands for, with or without padding. Failures are kept in `out`:
 * -EBADMSG for anything else than base64, -ENOSPC, -ENOMEM. */
void base64_append(struct strbuf *out, const char *text, size_t len);

#endif

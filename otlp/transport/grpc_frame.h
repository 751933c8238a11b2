/* SPDX-License-Identifier: Apache-2.0 */
/* gRPC's framing of a message in the body of a request or answer: a byte that tells whether it is
 * compressed, four bytes of length in network order, and the message. */
#ifndef OTLP_TRANSPORT_GRPC_FRAME_H
#define OTLP_TRANSPORT_GRPC_FRAME_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/* Appends the message, gzip'ed or plain. Failures are kept in `out`. */
void grpc_frame_append(struct strbuf *out, const void *message, size_t len, bool compress);

/* Appends the one message of a unary call to `out`, uncompressed. `has_gzip`: compressed messages
 * are gzip'ed, by the answer's headers. Errors: -EBADMSG if the body is not exactly one message,
 * -ENOSPC over the limit of `out`, -ENOMEM. */
int grpc_frame_read(const void *body, size_t len, bool has_gzip, struct strbuf *out) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A message as gRPC puts it into the body of a request or an answer: a byte that says whether it is
 * compressed, four bytes of length, most significant first, and the message. */
#ifndef OTLP_TRANSPORT_GRPC_FRAME_H
#define OTLP_TRANSPORT_GRPC_FRAME_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/* Appends the message, gzip'ed or as it is. Failures are kept in `out`. */
void grpc_frame_append(struct strbuf *out, const void *message, size_t len, bool compress);

/* Appends the one message of a unary call to `out`, uncompressed. `has_gzip`: the sender said that
 * compressed messages are gzip'ed. Errors: -EBADMSG when it is anything else than one whole
 * message, -ENOSPC when it is longer than `out` may be, -ENOMEM. */
int grpc_frame_read(const void *body, size_t len, bool has_gzip, struct strbuf *out) must_check;

#endif

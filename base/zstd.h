/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_ZSTD_H
#define BASE_ZSTD_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stddef.h>

/* Appends `len` bytes to `out` as one Zstandard frame (RFC 8878). Failures are kept in `out`:
 * -ENOSPC (its limit must hold the worst case, a little more than `len`), -ENOMEM. */
void zstd_append(struct strbuf *out, const void *data, size_t len);

/* Appends what such a frame holds, which must be exactly `plain_len` bytes; nothing is appended
 * else. Errors: -EBADMSG it is no frame, damaged, or holds another number of bytes; and, kept in
 * `out` as well, -ENOSPC, -ENOMEM. */
int zstd_unpack(struct strbuf *out, const void *data, size_t len, size_t plain_len) must_check;

#endif

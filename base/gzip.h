/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_GZIP_H
#define BASE_GZIP_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/* Appends `len` bytes to `out` as one gzip member (RFC 1952) without name or time, so that equal
 * input gives equal output. Failures are kept in `out`: -ENOSPC (its limit must hold the worst
 * case, a little more than `len`), -ENOMEM. */
void gzip_append(struct strbuf *out, const void *data, size_t len);

/* Returns whether the data begin like a gzip member. */
bool gzip_is(const void *data, size_t len);

/* Appends the uncompressed content of gzip members; `data` must consist of at least one complete
 * member. Failures are kept in `out`, whose content is then unchanged: -EBADMSG, -ENOSPC (its
 * limit), -ENOMEM. */
void gunzip_append(struct strbuf *out, const void *data, size_t len);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_ZSTD_H
#define BASE_ZSTD_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stddef.h>

/* Appends `len` bytes to `out` as one Zstandard frame (RFC 8878). Failures are kept in `out`:
 * -ENOSPC (its limit must hold the worst case, a little more than `len`), -ENOMEM. */
void zstd_append(struct strbuf *out, const void *data, size_t len);

/* Does the same with another level (1 to 19: the higher, the smaller and slower) and a checksum of
 * the content. */
void zstd_append_checked(struct strbuf *out, const void *data, size_t len, int level);

/* Returns the length of a frame's content, as the frame has it. Errors: -EBADMSG it is not a frame,
 * or does not say its length. */
int zstd_content_len(const void *data, size_t len, size_t *ret_len) must_check;

/* Appends the content of such a frame, which must have exactly `plain_len` bytes. Appends nothing
 * on failure. Errors: -EBADMSG it is not a frame, is damaged, or has another length; -ENOSPC and
 * -ENOMEM, which are kept in `out` as well. */
int zstd_unpack(struct strbuf *out, const void *data, size_t len, size_t plain_len) must_check;

/* What is kept from one frame to the next one: to prepare it takes as long as to unpack some
 * kilobytes. Begins as zeros. */
struct zstd_unpacker {
	struct ZSTD_DCtx_s *context; /* owned; NULL: nothing was unpacked yet */
};

void zstd_unpacker_done(struct zstd_unpacker *unpacker);

/* Does the same as zstd_unpack(), for one frame of many. */
int zstd_unpacker_unpack(struct zstd_unpacker *unpacker, struct strbuf *out, const void *data,
			 size_t len, size_t plain_len) must_check;

#endif

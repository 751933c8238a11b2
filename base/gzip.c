/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gzip.h"

#include <limits.h>
#include <zlib.h>

#define GZIP_WINDOW_BITS (15 + 16) /* 16: gzip header instead of zlib's */
#define MEMORY_LEVEL 8
#define LEVEL 6

void gzip_append(struct strbuf *out, const void *data, size_t len)
{
	z_stream stream = { 0 };

	if (len > UINT_MAX / 2) {
		out->error = -ENOSPC;
		return;
	}
	if (deflateInit2(&stream, LEVEL, Z_DEFLATED, GZIP_WINDOW_BITS, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		out->error = -ENOMEM;
		return;
	}

	size_t start = out->len;
	uLong bound = deflateBound(&stream, len);
	char *to = strbuf_extend(out, bound);
	if (to) {
		stream.next_in = (Bytef *)(uintptr_t)data;
		stream.avail_in = (uInt)len;
		stream.next_out = (Bytef *)to;
		stream.avail_out = (uInt)bound;
		deflate(&stream, Z_FINISH);
		out->len = start + stream.total_out;
	}
	deflateEnd(&stream);
}

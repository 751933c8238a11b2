/* SPDX-License-Identifier: Apache-2.0 */
#define ZLIB_CONST
#include "base/gzip.h"

#include <limits.h>
#include <zlib.h>

#define GZIP_WINDOW_BITS (15 + 16) /* 16: gzip header instead of zlib's */
#define MEMORY_LEVEL 8
#define LEVEL 6

/* Room for the worst case is taken first, so that one call compresses all, and given back after it. */
static void deflate_all(z_stream *stream, struct strbuf *out, const void *data, size_t len)
{
	uLong bound = deflateBound(stream, len);
	char *to = strbuf_extend(out, bound);

	if (!to)
		return;
	stream->next_in = data;
	stream->avail_in = (uInt)len;
	stream->next_out = (Bytef *)to;
	stream->avail_out = (uInt)bound;
	deflate(stream, Z_FINISH);
	strbuf_shrink(out, out->len - (bound - stream->total_out));
}

void gzip_append(struct strbuf *out, const void *data, size_t len)
{
	z_stream stream = { 0 };

	if (strbuf_error(out) < 0)
		return;
	if (len > UINT_MAX / 2) {
		out->error = -ENOSPC;
		return;
	}
	if (deflateInit2(&stream, LEVEL, Z_DEFLATED, GZIP_WINDOW_BITS, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		out->error = -ENOMEM;
		return;
	}
	deflate_all(&stream, out, data, len);
	deflateEnd(&stream);
}

/* SPDX-License-Identifier: Apache-2.0 */
#define ZLIB_CONST
#include "base/gzip.h"

#include <limits.h>
#include <string.h>
#include <zlib.h>

#define GZIP_WINDOW_BITS (15 + 16) /* 16: gzip header instead of zlib's */
#define MEMORY_LEVEL 8
#define LEVEL 4 /* of OTLP requests 3 % longer than by 6, zlib's own choice, in 60 % of its time */
#define UNPACK_STEP_BYTES ((size_t)64 << 10)

/* Reserves space for the worst case, so that one call compresses everything, and returns the
 * rest. */
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
	strbuf_truncate(out, out->len - (bound - stream->total_out));
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

bool gzip_is(const void *data, size_t len)
{
	return len >= 2 && memcmp(data, "\x1f\x8b", 2) == 0;
}

/* Inflates the next step, as far as there is room. Without room, a byte on the stack takes the
 * output: if the last byte just fitted, the checksum is still to be read. */
static int inflate_some(z_stream *stream, struct strbuf *out)
{
	size_t room = out->max - out->len;
	size_t step = room < UNPACK_STEP_BYTES ? room : UNPACK_STEP_BYTES;
	unsigned char beyond;
	char *to = strbuf_extend(out, step);

	if (!to)
		return Z_MEM_ERROR;
	stream->next_out = step ? (Bytef *)to : &beyond;
	stream->avail_out = step ? (uInt)step : 1;
	int r = inflate(stream, Z_NO_FLUSH);
	if (step == 0 && stream->avail_out == 0) {
		out->error = -ENOSPC;
		return Z_MEM_ERROR;
	}
	strbuf_truncate(out, out->len - (step ? stream->avail_out : 0));
	return r;
}

/* Inflates all members. */
static int inflate_all(z_stream *stream, struct strbuf *out)
{
	int r = Z_OK;

	while (r == Z_OK) {
		r = inflate_some(stream, out);
		if (r == Z_STREAM_END && stream->avail_in > 0)
			r = inflateReset(stream);
	}
	if (strbuf_error(out) < 0)
		return strbuf_error(out);
	return r == Z_STREAM_END ? 0 : r == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
}

void gunzip_append(struct strbuf *out, const void *data, size_t len)
{
	z_stream stream = { .next_in = data, .avail_in = (uInt)len };
	size_t len_before = out->len;

	if (strbuf_error(out) < 0)
		return;
	if (len > UINT_MAX) {
		out->error = -ENOSPC;
		return;
	}
	if (inflateInit2(&stream, GZIP_WINDOW_BITS) != Z_OK) {
		out->error = -ENOMEM;
		return;
	}
	out->error = inflate_all(&stream, out);
	inflateEnd(&stream);
	if (out->error < 0)
		strbuf_truncate(out, len_before);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/transport/grpc_frame.h"

#include "base/gzip.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define PREFIX_BYTES 5

enum compressed_flag { IS_PLAIN = 0, IS_COMPRESSED = 1 };

void grpc_frame_append(struct strbuf *out, const void *message, size_t len, bool compress)
{
	size_t start = out->len;
	char *prefix = strbuf_extend(out, PREFIX_BYTES);

	if (!prefix)
		return;
	prefix[0] = compress ? IS_COMPRESSED : IS_PLAIN;
	if (compress)
		gzip_append(out, message, len);
	else
		strbuf_append(out, message, len);
	if (strbuf_error(out) < 0)
		return;

	size_t frame_len = out->len - start - PREFIX_BYTES;
	uint32_t length = htobe32((uint32_t)frame_len);
	if (frame_len > UINT32_MAX)
		out->error = -ENOSPC;
	memcpy(out->data + start + 1, &length, sizeof(length));
}

int grpc_frame_read(const void *body, size_t len, bool has_gzip, struct strbuf *out)
{
	const unsigned char *prefix = body;
	uint32_t length;

	if (len < PREFIX_BYTES)
		return -EBADMSG;
	memcpy(&length, prefix + 1, sizeof(length));
	if (be32toh(length) != len - PREFIX_BYTES)
		return -EBADMSG;
	if (prefix[0] == IS_PLAIN)
		strbuf_append(out, prefix + PREFIX_BYTES, len - PREFIX_BYTES);
	else if (prefix[0] == IS_COMPRESSED && has_gzip)
		gunzip_append(out, prefix + PREFIX_BYTES, len - PREFIX_BYTES);
	else
		return -EBADMSG;
	return strbuf_error(out);
}

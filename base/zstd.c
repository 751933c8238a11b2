/* SPDX-License-Identifier: Apache-2.0 */
#include "base/zstd.h"

#include "base/cleanup.h"

#include <zstd.h>
#include <zstd_errors.h>

#define LEVEL 3

/* Converts the result of a call to an error: the memory ran out, or the bytes are invalid. */
static int error_of(size_t result)
{
	if (!ZSTD_isError(result))
		return 0;
	return ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation ? -ENOMEM : -EBADMSG;
}

/* Reserves space for the worst case, so that one call compresses everything, and returns the
 * rest. */
static void append(struct strbuf *out, const void *data, size_t len, ZSTD_CCtx *context)
{
	size_t bound = ZSTD_compressBound(len), start = out->len, result;
	char *to = ZSTD_isError(bound) ? NULL : strbuf_extend(out, bound);

	if (!to) {
		strbuf_fail(out, -ENOSPC);
		return;
	}
	result = context ? ZSTD_compress2(context, to, bound, data, len)
			 : ZSTD_compress(to, bound, data, len, LEVEL);
	if (ZSTD_isError(result)) {
		strbuf_truncate(out, start);
		out->error = -ENOMEM;
		return;
	}
	strbuf_truncate(out, start + result);
}

void zstd_append(struct strbuf *out, const void *data, size_t len)
{
	append(out, data, len, NULL);
}

void zstd_append_checked(struct strbuf *out, const void *data, size_t len, int level)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();

	if (!context ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)))
		strbuf_fail(out, -ENOMEM);
	else
		append(out, data, len, context);
	ZSTD_freeCCtx(context);
}

int zstd_content_len(const void *data, size_t len, size_t *ret_len)
{
	unsigned long long content = ZSTD_getFrameContentSize(data, len);

	if (content == ZSTD_CONTENTSIZE_UNKNOWN || content == ZSTD_CONTENTSIZE_ERROR ||
	    content > SIZE_MAX)
		return -EBADMSG;
	*ret_len = (size_t)content;
	return 0;
}

void zstd_unpacker_done(struct zstd_unpacker *unpacker)
{
	ZSTD_freeDCtx(unpacker->context);
	unpacker->context = NULL;
}

int zstd_unpack(struct strbuf *out, const void *data, size_t len, size_t plain_len)
{
	_cleanup_(zstd_unpacker_done) struct zstd_unpacker unpacker = { 0 };

	return zstd_unpacker_unpack(&unpacker, out, data, len, plain_len);
}

/* The length in the frame is checked before memory is allocated for it. */
int zstd_unpacker_unpack(struct zstd_unpacker *unpacker, struct strbuf *out, const void *data,
			 size_t len, size_t plain_len)
{
	size_t start = out->len, result;
	char *to;
	int r;

	if (ZSTD_getFrameContentSize(data, len) != plain_len)
		return -EBADMSG;
	if (!unpacker->context && !(unpacker->context = ZSTD_createDCtx()))
		return -ENOMEM;
	to = strbuf_extend(out, plain_len);
	if (!to)
		return strbuf_error(out);
	result = ZSTD_decompressDCtx(unpacker->context, to, plain_len, data, len);
	r = error_of(result);
	if (r == 0 && result != plain_len)
		r = -EBADMSG;
	if (r < 0)
		strbuf_truncate(out, start);
	if (r == -ENOMEM)
		out->error = r;
	return r;
}

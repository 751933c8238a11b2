/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_XZ_BYTES_H
#define TESTS_UNIT_XZ_BYTES_H

#include "base/strbuf.h"
#include "unit.h"

#include <lzma.h>

/* Compresses as xz(1) does. The caller frees it. */
static inline struct strbuf xz_compress(const void *data, size_t len)
{
	size_t max = lzma_stream_buffer_bound(len);
	struct strbuf out = strbuf_with_max(max);
	size_t pos = 0;

	uint8_t *to = (uint8_t *)strbuf_extend(&out, max);
	assert_non_null(to);
	assert_int_equal(
		lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, data, len, to, &pos, max),
		LZMA_OK);
	strbuf_truncate(&out, pos);
	return out;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/worker/symbol_worker.h"

#include "base/cleanup.h"
#include "base/cold_file.h"

#include <zlib.h>

#define READ_BYTES ((size_t)1 << 18)

static int checksum(int fd, uint32_t *ret_crc)
{
	_cleanup_free_ unsigned char *bytes = malloc(READ_BYTES);
	_cleanup_(cold_file_done) struct cold_file file = { 0 };
	uLong crc = crc32(0, NULL, 0);

	if (!bytes)
		return -ENOMEM;
	cold_file_init(&file, fd);
	for (uint64_t at = 0;;) {
		ssize_t n = cold_file_pread(&file, bytes, READ_BYTES, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		crc = crc32(crc, bytes, (uInt)n);
		at += (uint64_t)n;
	}
	*ret_crc = (uint32_t)crc;
	return 0;
}

int symbol_worker_crc(const struct worker_call *call, struct strbuf *reply)
{
	uint32_t crc;

	if (call->nr_fds != 1)
		return -EINVAL;
	int r = checksum(call->fds[0], &crc);
	if (r < 0)
		return r;
	strbuf_append(reply, &crc, sizeof(crc));
	return strbuf_error(reply);
}

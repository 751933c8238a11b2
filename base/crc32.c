/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crc32.h"

#include "base/cleanup.h"
#include "base/cold_file.h"

#include <zlib.h>

#define READ_BYTES ((size_t)1 << 18)

int crc32_of_file(int fd, uint64_t max_bytes, uint32_t *ret_crc)
{
	_cleanup_free_ unsigned char *bytes = malloc(READ_BYTES);
	_cleanup_(cold_file_done) struct cold_file file = { 0 };
	uLong crc = crc32(0, NULL, 0);

	if (!bytes)
		return -ENOMEM;
	cold_file_init(&file, fd);
	for (uint64_t done = 0; done <= max_bytes;) {
		ssize_t n = cold_file_pread(&file, bytes, READ_BYTES, done);

		if (n < 0)
			return (int)n;
		if (n == 0) {
			*ret_crc = (uint32_t)crc;
			return 0;
		}
		crc = crc32(crc, bytes, (uInt)n);
		done += (uint64_t)n;
	}
	return -ENOSPC;
}

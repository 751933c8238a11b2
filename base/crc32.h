/* SPDX-License-Identifier: Apache-2.0 */
/* The checksum by which .gnu_debuglink names a debug file: the CRC-32 of gzip (RFC 1952). */
#ifndef BASE_CRC32_H
#define BASE_CRC32_H

#include "base/err.h"

#include <stdint.h>

/* The checksum of all of a file, which is read as base/cold_file.h does. Errors: -ENOSPC the
 * file is longer than `max_bytes`; -ENOMEM; what pread(2) says. */
int crc32_of_file(int fd, uint64_t max_bytes, uint32_t *ret_crc) must_check;

#endif

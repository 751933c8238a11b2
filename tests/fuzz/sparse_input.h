/* SPDX-License-Identifier: Apache-2.0 */
/* A few bytes that stand for a file of megabytes, so that a fuzzer whose inputs are short finds
 * what only large tables bring about. The first byte of an input says what the others are: even,
 * the file as it is; odd, pieces of it. A piece is
 *
 *	u32 offset in the file, u32 how often the bytes are repeated, u16 how many bytes, the bytes
 *
 * in this machine's order. What is not covered is zero. */
#ifndef FUZZ_SPARSE_INPUT_H
#define FUZZ_SPARSE_INPUT_H

#include <stddef.h>
#include <stdint.h>

#define SPARSE_INPUT_MAX_BYTES ((size_t)24 << 20)
#define SPARSE_INPUT_MAX_COPIES                                                                    \
	(1U << 20) /* of all pieces; more would take a second by themselves */

/* The file, in memory; the caller closes it. Pieces beyond both limits are left out.
 * Errors: -EINVAL an empty input, what memfd_create(), write() and mmap() say. */
int sparse_input_open(const uint8_t *data, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* OpenTelemetry's hash of a file's content ("process.executable.build_id.htlhash"): the first half
 * of the SHA-256 of its first 4096 bytes, its last 4096 bytes (they may overlap), and its length as
 * 8 bytes, the most significant first. */
#ifndef SYMBOL_ELF_HTLHASH_H
#define SYMBOL_ELF_HTLHASH_H

#include "base/err.h"
#include "elf/elf_reader.h"

#include <stddef.h>
#include <stdint.h>

#define HTLHASH_CHUNK_BYTES 4096
#define HTLHASH_DIGITS 32 /* half of 256 bits */

/* The bytes that are hashed. */
struct htlhash_input {
	uint8_t bytes[2 * HTLHASH_CHUNK_BYTES + sizeof(uint64_t)];
	size_t len;
};

/* Reads the bytes that are hashed. Errors: -EBADMSG the file has become shorter, those of
 * pread(2). */
int htlhash_read(const struct elf_reader *reader, struct htlhash_input *ret_input) must_check;

/* Hashes them. The result is lower-case hex. */
void htlhash_of(const struct htlhash_input *input, char ret_hex[static HTLHASH_DIGITS + 1]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/elf/htlhash.h"

#include "base/hex.h"

#include <endian.h>
#include <nettle/sha2.h>
#include <string.h>

int htlhash_read(const struct elf_reader *reader, struct htlhash_input *ret_input)
{
	size_t len = reader->size < HTLHASH_CHUNK_BYTES ? (size_t)reader->size
							: HTLHASH_CHUNK_BYTES;
	uint64_t size = htobe64(reader->size);

	int r = elf_reader_read(reader, 0, ret_input->bytes, len);
	if (r == 0)
		r = elf_reader_read(reader, reader->size - len, ret_input->bytes + len, len);
	if (r < 0)
		return r;
	memcpy(ret_input->bytes + 2 * len, &size, sizeof(size));
	ret_input->len = 2 * len + sizeof(size);
	return 0;
}

void htlhash_of(const struct htlhash_input *input, char ret_hex[static HTLHASH_DIGITS + 1])
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx sha256;

	sha256_init(&sha256);
	sha256_update(&sha256, input->len, input->bytes);
	sha256_digest(&sha256, sizeof(digest), digest);
	hex_put(ret_hex, digest, HTLHASH_DIGITS / 2);
	ret_hex[HTLHASH_DIGITS] = '\0';
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/elf_fingerprint.h"

#include "base/hash.h"
#include "unwind/elf_reader.h"
#include "symbol/elf_symbol_list.h"

#include <string.h>

#define CHUNK_BYTES ((size_t)64 * 1024)

/* A hash over many pieces: of the hash so far and that of the piece. */
static uint32_t chain(uint32_t hash, const void *data, size_t len)
{
	return hash_u64((uint64_t)hash << 32 | hash_bytes(data, len));
}

static int chain_section(const struct elf_reader *reader, const GElf_Shdr *section,
			 uint64_t max_bytes, uint32_t *hash)
{
	_cleanup_free_ char *chunk = malloc(CHUNK_BYTES);

	if (!chunk)
		return -ENOMEM;
	if (section->sh_size > max_bytes)
		return -ENOSPC;
	for (uint64_t pos = 0; pos < section->sh_size; pos += CHUNK_BYTES) {
		uint64_t left = section->sh_size - pos;
		size_t len = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;

		int r = elf_reader_read(reader, section->sh_offset + pos, chunk, len);
		if (r < 0)
			return r;
		*hash = chain(*hash, chunk, len);
	}
	return 0;
}

static int chain_table(const struct elf_reader *reader, uint32_t type, size_t max_bytes,
		       uint32_t *hash)
{
	const GElf_Shdr *table = elf_reader_find_section(reader, type);

	if (!table)
		return 0;
	if (table->sh_link >= reader->nr_sections)
		return -EBADMSG;

	int r = chain_section(reader, table, ELF_MAX_SYMBOLS * sizeof(GElf_Sym), hash);
	if (r < 0)
		return r;
	return chain_section(reader, &reader->sections[table->sh_link], max_bytes, hash);
}

int elf_fingerprint_take(int fd, size_t max_bytes, struct elf_fingerprint *ret_print)
{
	_cleanup_(elf_reader_done) struct elf_reader reader = { .fd = -EBADF };
	struct elf_fingerprint print = { 0 };

	int r = elf_reader_init(&reader, fd);
	if (r < 0)
		return r;
	print.size = reader.size;
	elf_reader_build_id(&reader, print.build_id);
	print.hash = chain(0, reader.segments, reader.nr_segments * sizeof(GElf_Phdr));
	print.hash = chain(print.hash, reader.sections, reader.nr_sections * sizeof(GElf_Shdr));

	r = chain_table(&reader, SHT_SYMTAB, max_bytes, &print.hash);
	if (r < 0)
		return r;

	r = chain_table(&reader, SHT_DYNSYM, max_bytes, &print.hash);
	if (r < 0)
		return r;
	*ret_print = print;
	return 0;
}

bool elf_fingerprint_is_equal(const struct elf_fingerprint *a, const struct elf_fingerprint *b)
{
	return a->hash == b->hash && a->size == b->size && strcmp(a->build_id, b->build_id) == 0;
}

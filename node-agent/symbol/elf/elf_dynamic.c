/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the dynamic symbols of a file whose section headers were removed, by the entries for the
 * dynamic linker (gABI, "Dynamic Section"). They do not include the number of symbols. With
 * DT_HASH, it is the number of chains. DT_GNU_HASH has the defined symbols sorted by bucket; the
 * chain of the last bucket ends with a hash whose lowest bit is set. */
#include "elf/elf_dynamic_section.h"
#include "symbol/elf/elf_symbol_table.h"

#include <string.h>

#define MAX_CHAIN 65536 /* symbols in a bucket; linkers aim at few */

/* Words at the beginning of DT_GNU_HASH: the number of buckets, the index of the first symbol in
 * them, and the number of words of a Bloom filter. */
enum { GNU_HASH_BUCKETS, GNU_HASH_FIRST, GNU_HASH_BLOOM, GNU_HASH_WORDS = 4 };

static int read_words(struct elf_reader *reader, uint64_t address, size_t nr, uint32_t *ret_words)
{
	uint64_t offset;

	int r = elf_dynamic_section_find_offset(reader, address, nr * sizeof(*ret_words), &offset);
	return r < 0 ? r : elf_reader_read(reader, offset, ret_words, nr * sizeof(*ret_words));
}

/* Counts the symbols up to the end of the chain that begins with symbol `index`. The segment of the
 * chain is searched for only once, because there may be thousands. */
static int find_chain_end(struct elf_reader *reader, uint64_t chains, uint32_t first,
			  uint32_t index, uint64_t *ret_nr)
{
	uint64_t address = chains + (uint64_t)(index - first) * sizeof(uint32_t);
	uint64_t offset;
	uint32_t hash;

	int r = elf_dynamic_section_find_offset(reader, address, sizeof(hash), &offset);
	for (uint64_t i = index; r == 0 && i - index < MAX_CHAIN; i++) {
		r = elf_reader_read(reader, offset + (i - index) * sizeof(hash), &hash,
				    sizeof(hash));
		if (r < 0)
			return r;
		if (hash & 1) {
			*ret_nr = i + 1;
			return 0;
		}
	}
	return r < 0 ? r : -ENOSPC;
}

static int count_by_gnu_hash(struct elf_reader *reader, uint64_t address, uint64_t *ret_nr)
{
	uint32_t header[GNU_HASH_WORDS] = { 0 };
	size_t bloom_bytes = elf_reader_entry_bytes(reader, ELF_T_ADDR);
	const uint8_t *buckets;
	uint64_t offset;
	uint32_t last = 0;

	int r = read_words(reader, address, GNU_HASH_WORDS, header);
	if (r < 0)
		return r;
	if (header[GNU_HASH_BUCKETS] > ELF_MAX_SYMBOLS)
		return -ENOSPC;
	address += sizeof(header) + header[GNU_HASH_BLOOM] * bloom_bytes;

	uint64_t len = (uint64_t)header[GNU_HASH_BUCKETS] * sizeof(last);
	r = elf_dynamic_section_find_offset(reader, address, len, &offset);
	if (r < 0)
		return r;

	r = elf_reader_bytes(reader, offset, len, &buckets);
	if (r < 0)
		return r;
	for (uint64_t pos = 0; pos < len; pos += sizeof(last)) {
		uint32_t bucket;

		memcpy(&bucket, buckets + pos, sizeof(bucket));
		last = bucket > last ? bucket : last;
	}
	if (last < header[GNU_HASH_FIRST]) {
		*ret_nr = header[GNU_HASH_FIRST];
		return 0;
	}
	return find_chain_end(reader, address + len, header[GNU_HASH_FIRST], last, ret_nr);
}

static int count_symbols(struct elf_reader *reader, const struct elf_dynamic_section *dynamic,
			 uint64_t *ret_nr)
{
	uint32_t header[2]; /* numbers of buckets, of chains */

	if (dynamic->hash == 0)
		return count_by_gnu_hash(reader, dynamic->gnu_hash, ret_nr);

	int r = read_words(reader, dynamic->hash, 2, header);
	if (r < 0)
		return r;
	*ret_nr = header[1];
	return 0;
}

int elf_symbol_table_find_dynamic(struct elf_reader *reader, struct elf_symbol_table *ret_table)
{
	struct elf_symbol_table table;
	struct elf_dynamic_section dynamic;
	uint64_t nr_symbols = 0;

	int r = elf_dynamic_section_read(reader, &dynamic);
	if (r == 0 && (dynamic.symbols == 0 || (dynamic.hash == 0 && dynamic.gnu_hash == 0)))
		return -ENOENT;
	if (r == 0)
		r = count_symbols(reader, &dynamic, &nr_symbols);
	if (r < 0)
		return r;
	if (nr_symbols > ELF_MAX_SYMBOLS)
		return -ENOSPC;
	table.symbols_len = nr_symbols * elf_reader_entry_bytes(reader, ELF_T_SYM);
	table.names_len = dynamic.strings_bytes;
	r = elf_dynamic_section_find_offset(reader, dynamic.symbols, table.symbols_len,
					    &table.symbols_offset);
	if (r == 0)
		r = elf_dynamic_section_find_offset(reader, dynamic.strings, table.names_len,
						    &table.names_offset);
	if (r == 0)
		*ret_table = table;
	return r;
}

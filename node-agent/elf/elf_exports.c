/* SPDX-License-Identifier: Apache-2.0 */
/* Both hash tables have buckets, each of which holds the index of the first symbol of its chain.
 * In DT_HASH, chains are linked lists of indexes. In DT_GNU_HASH, the symbols of a bucket follow
 * each other in the symbol table, and each has a word with its hash, whose lowest bit ends the
 * chain. Before them is a Bloom filter: a symbol with hash h sets bits h and h >> shift, modulo 64,
 * of word h / 64.
 *
 * Only the addresses of the tables are looked up in the segments, as a table lies in one segment.
 * Indexes in a damaged table may lead beyond that segment. All reads are checked against the size
 * of the file, so this finds at worst a wrong symbol or none. */
#include "elf/elf_exports.h"

#include "elf/elf_dynamic_section.h"

#include <string.h>

#define MAX_CHAIN 4096 /* symbols in a bucket; linkers aim at few */
#define BLOOM_WORD_BITS 64

/* Words at the beginning of DT_GNU_HASH. */
enum {
	GNU_HASH_BUCKETS, /* their number */
	GNU_HASH_FIRST, /* index of the first symbol that has a chain */
	GNU_HASH_BLOOM, /* number of words of the filter */
	GNU_HASH_SHIFT,
	GNU_HASH_WORDS,
};

/* Words at the beginning of DT_HASH. */
enum { HASH_BUCKETS, HASH_CHAINS, HASH_WORDS };

static uint32_t gnu_hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name != '\0'; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 0;

	for (; *name != '\0'; name++) {
		hash = (hash << 4) + (uint8_t)*name;
		hash ^= (hash >> 24) & 0xf0;
		hash &= 0x0fffffff;
	}
	return hash;
}

/* Returns the segment that has `len` bytes from a virtual address on, or NULL. */
static const GElf_Phdr *find_segment(const struct elf_reader *reader, uint64_t address,
				     uint64_t len)
{
	for (size_t i = 0; i < reader->nr_segments; i++) {
		const GElf_Phdr *segment = &reader->segments[i];
		uint64_t skipped = address - segment->p_vaddr;

		if (segment->p_type == PT_LOAD && skipped < segment->p_memsz &&
		    len <= segment->p_memsz - skipped)
			return segment;
	}
	return NULL;
}

static int read_at(const struct elf_exports *exports, uint64_t offset, void *to, size_t len)
{
	const uint8_t *bytes;

	int r = elf_reader_bytes(exports->reader, offset, len, &bytes);
	if (r == 0)
		memcpy(to, bytes, len);
	return r;
}

static int read_word(const struct elf_exports *exports, uint64_t table, uint32_t index,
		     uint32_t *ret_word)
{
	return read_at(exports, table + (uint64_t)index * sizeof(*ret_word), ret_word,
		       sizeof(*ret_word));
}

/* Reads the words at the beginning of a hash table, and finds the offset in the file of what
 * follows them. */
static int read_head(const struct elf_exports *exports, uint64_t address, uint32_t *ret_words,
		     size_t len, uint64_t *ret_behind)
{
	uint64_t offset;

	int r = elf_dynamic_section_find_offset(exports->reader, address, len, &offset);
	if (r == 0)
		r = read_at(exports, offset, ret_words, len);
	if (r == 0)
		*ret_behind = offset + len;
	return r;
}

static int init_gnu_hash(struct elf_exports *exports, uint64_t address)
{
	uint32_t words[GNU_HASH_WORDS] = { 0 };

	int r = read_head(exports, address, words, sizeof(words), &exports->bloom);
	if (r < 0)
		return r;
	exports->is_gnu = true;
	exports->nr_buckets = words[GNU_HASH_BUCKETS];
	exports->first_symbol = words[GNU_HASH_FIRST];
	exports->nr_bloom = words[GNU_HASH_BLOOM];
	exports->bloom_shift = words[GNU_HASH_SHIFT];
	exports->buckets = exports->bloom + (uint64_t)exports->nr_bloom * sizeof(uint64_t);
	return 0;
}

static int init_hash(struct elf_exports *exports, uint64_t address)
{
	uint32_t words[HASH_WORDS] = { 0 };

	int r = read_head(exports, address, words, sizeof(words), &exports->buckets);
	if (r == 0)
		exports->nr_buckets = words[HASH_BUCKETS];
	return r;
}

static int init_tables(struct elf_exports *exports, const struct elf_dynamic_section *dynamic)
{
	int r = elf_dynamic_section_find_offset(exports->reader, dynamic->symbols, 1,
						&exports->symbols);
	if (r == 0)
		r = elf_dynamic_section_find_offset(exports->reader, dynamic->strings, 1,
						    &exports->strings);
	if (r < 0)
		return r;
	exports->strings_bytes = dynamic->strings_bytes;
	r = dynamic->gnu_hash > 0 ? init_gnu_hash(exports, dynamic->gnu_hash)
				  : init_hash(exports, dynamic->hash);
	exports->chains = exports->buckets + (uint64_t)exports->nr_buckets * sizeof(uint32_t);
	return r;
}

int elf_exports_init(struct elf_exports *exports, struct elf_reader *reader)
{
	struct elf_exports fresh = { .reader = reader };
	struct elf_dynamic_section dynamic = { 0 };

	if (elf_reader_entry_bytes(reader, ELF_T_ADDR) != sizeof(Elf64_Addr))
		return -ENOENT;

	int r = elf_dynamic_section_read(reader, &dynamic);
	if (r < 0)
		return r;
	if (dynamic.symbols == 0 || dynamic.strings == 0 ||
	    (dynamic.gnu_hash == 0 && dynamic.hash == 0))
		return -ENOENT;
	r = init_tables(&fresh, &dynamic);
	if (r == 0)
		*exports = fresh;
	return r;
}

/* Returns 1 if the symbol is defined under that name, else 0. */
static int read_symbol(const struct elf_exports *exports, uint32_t index, const char *name,
		       struct elf_export *ret_export)
{
	size_t len = strlen(name) + 1;
	Elf64_Sym symbol = { 0 };
	const uint8_t *own_name;

	int r = read_at(exports, exports->symbols + (uint64_t)index * sizeof(symbol), &symbol,
			sizeof(symbol));
	if (r < 0)
		return r;
	if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= exports->strings_bytes ||
	    len > exports->strings_bytes - symbol.st_name)
		return 0;
	r = elf_reader_bytes(exports->reader, exports->strings + symbol.st_name, len, &own_name);
	if (r < 0)
		return r;
	if (memcmp(own_name, name, len) != 0)
		return 0;
	*ret_export = (struct elf_export){
		.address = symbol.st_value,
		.size = symbol.st_size,
		.type = ELF64_ST_TYPE(symbol.st_info),
	};
	return 1;
}

/* Returns 1 if the filter does not exclude the hash, else 0. */
static int bloom_has(const struct elf_exports *exports, uint32_t hash)
{
	uint64_t word = 0;
	uint32_t index;

	if (exports->nr_bloom == 0)
		return 1;
	index = hash / BLOOM_WORD_BITS % exports->nr_bloom;

	int r = read_at(exports, exports->bloom + (uint64_t)index * sizeof(word), &word,
			sizeof(word));
	if (r < 0)
		return r;
	uint32_t second = exports->bloom_shift < 32 ? hash >> exports->bloom_shift : 0;
	return (word >> hash % BLOOM_WORD_BITS & word >> second % BLOOM_WORD_BITS & 1) != 0;
}

static int find_by_gnu_hash(const struct elf_exports *exports, const char *name,
			    struct elf_export *ret_export)
{
	uint32_t hash = gnu_hash_of(name);
	uint32_t index = 0, own_hash = 0;

	int r = bloom_has(exports, hash);
	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	r = read_word(exports, exports->buckets, hash % exports->nr_buckets, &index);
	if (r < 0)
		return r;
	if (index == 0)
		return -ENOENT;
	if (index < exports->first_symbol)
		return -EBADMSG;
	for (uint32_t i = 0; i < MAX_CHAIN; i++) {
		r = read_word(exports, exports->chains, index + i - exports->first_symbol,
			      &own_hash);
		if (r == 0 && (own_hash | 1) == (hash | 1))
			r = read_symbol(exports, index + i, name, ret_export);
		if (r != 0)
			return r < 0 ? r : 0;
		if (own_hash & 1)
			return -ENOENT;
	}
	return -EBADMSG;
}

static int find_by_hash(const struct elf_exports *exports, const char *name,
			struct elf_export *ret_export)
{
	uint32_t index;

	int r = read_word(exports, exports->buckets, hash_of(name) % exports->nr_buckets, &index);
	for (uint32_t i = 0; r == 0 && i < MAX_CHAIN; i++) {
		if (index == 0)
			return -ENOENT;
		r = read_symbol(exports, index, name, ret_export);
		if (r == 0)
			r = read_word(exports, exports->chains, index, &index);
		else if (r > 0)
			return 0;
	}
	return r < 0 ? r : -EBADMSG;
}

int elf_exports_find(const struct elf_exports *exports, const char *name,
		     struct elf_export *ret_export)
{
	if (exports->nr_buckets == 0)
		return -ENOENT;
	return exports->is_gnu ? find_by_gnu_hash(exports, name, ret_export)
			       : find_by_hash(exports, name, ret_export);
}

int elf_exports_read(const struct elf_exports *exports, uint64_t address, void *to, size_t len)
{
	const GElf_Phdr *segment = find_segment(exports->reader, address, len);
	uint64_t skipped, nr_in_file;

	if (!segment)
		return -ENOENT;
	skipped = address - segment->p_vaddr;
	nr_in_file = segment->p_filesz > skipped ? segment->p_filesz - skipped : 0;
	if (nr_in_file > len)
		nr_in_file = len;
	if (segment->p_offset > exports->reader->size)
		return -EBADMSG;
	memset(to, 0, len);
	return nr_in_file == 0 ? 0
			       : elf_reader_read(exports->reader, segment->p_offset + skipped, to,
						 (size_t)nr_in_file);
}

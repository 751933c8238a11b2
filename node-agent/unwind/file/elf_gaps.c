/* SPDX-License-Identifier: Apache-2.0 */
/* The code is that of executable sections, or of executable segments if there are no sections.
 * What is known of the functions in the gaps comes from symbols.
 *
 * Procedure linkage tables have CFI on x86-64, and of a kind that no scan finds. On arm64 they
 * have none. */
#include "unwind/file/elf_gaps.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/search.h"
#include "unwind/code/code_insn.h"
#include "unwind/code/code_scan.h"
#include "unwind/file/elf_sections.h"

#include <string.h>

#define MAX_SYMBOL_BYTES ((uint64_t)64 << 20) /* of a symbol table; a larger one is not read */
#define SYMBOLS_AT_ONCE 1024
#define MAX_STARTS ((size_t)1 << 20)

struct scan_builder {
	const struct elf_gaps *gaps;
	struct unwind_functions functions; /* of all sources */
	struct code_segment *texts; /* owned; executable parts of the file, ascending */
	size_t nr_texts;
	size_t cap_texts;
	struct scan_code *codes; /* owned */
	size_t nr_codes;
	size_t cap_codes;
	size_t nr_bytes; /* of all codes */
	struct scan_start *starts; /* owned */
	size_t nr_starts;
	size_t cap_starts;
	size_t nr_charged; /* to the budget, for the functions */
};

/* Gives back everything but the memory of the scan itself, which stays charged. */
static void done(struct scan_builder *builder)
{
	elf_budget_give(builder->gaps->budget,
			builder->nr_charged + builder->cap_texts * sizeof(*builder->texts) +
				builder->cap_codes * sizeof(*builder->codes) +
				builder->cap_starts * sizeof(*builder->starts));
	unwind_functions_done(&builder->functions);
	free(builder->texts);
	free(builder->codes);
	free(builder->starts);
}

static int list_functions(struct scan_builder *builder)
{
	const struct elf_gaps *gaps = builder->gaps;
	struct unwind_losses losses = { 0 };

	unwind_functions_limit(&builder->functions, gaps->budget, gaps->max_functions);
	int r = unwind_functions_collect(&builder->functions, gaps->sources, gaps->nr_sources,
					 &gaps->segments, &losses);
	if (r < 0)
		return r;
	return unwind_functions_charge(&builder->functions, gaps->budget, &builder->nr_charged);
}

/* Adds the part of a range of addresses that is in the segment where it begins. */
static int add_text(struct scan_builder *builder, uint64_t address, uint64_t len)
{
	const struct elf_gaps *gaps = builder->gaps;

	for (size_t i = 0; i < gaps->segments.nr_items; i++) {
		const struct code_segment *segment = &gaps->segments.items[i];
		uint64_t skipped = address - segment->address;

		if (skipped >= segment->len)
			continue;

		int r = elf_budget_grow(gaps->budget, builder->texts, builder->cap_texts,
					builder->nr_texts + 1,
					ELF_MAX_SECTIONS + gaps->segments.nr_items);
		if (r < 0)
			return r;
		if (len > segment->len - skipped)
			len = segment->len - skipped;
		builder->texts[builder->nr_texts++] =
			(struct code_segment){ address, len, segment->offset + skipped };
		return 0;
	}
	return 0;
}

static bool is_plt_with_cfi(const struct elf_section_names *names, const GElf_Shdr *section)
{
	return !CFI_IS_ARM64 && section->sh_name < names->len &&
	       strncmp(names->names + section->sh_name, ".plt", 4) == 0;
}

static int find_texts_by_section(struct scan_builder *builder)
{
	_cleanup_(elf_section_names_done) struct elf_section_names names = { 0 };
	struct elf_reader *reader = builder->gaps->reader;
	int r = elf_section_names_load(&names, reader);

	for (size_t i = 0; i < reader->nr_sections && r == 0; i++) {
		const GElf_Shdr *section = &reader->sections[i];

		if (section->sh_type == SHT_PROGBITS && section->sh_flags & SHF_EXECINSTR &&
		    !is_plt_with_cfi(&names, section))
			r = add_text(builder, section->sh_addr, section->sh_size);
	}
	return r;
}

static int compare_texts(const void *left, const void *right)
{
	const struct code_segment *a = left;
	const struct code_segment *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

static int find_texts(struct scan_builder *builder)
{
	const struct elf_gaps *gaps = builder->gaps;
	int r = find_texts_by_section(builder);

	for (size_t i = 0; i < gaps->segments.nr_items && gaps->reader->nr_sections == 0 && r == 0;
	     i++)
		r = add_text(builder, gaps->segments.items[i].address, gaps->segments.items[i].len);
	if (r == 0 && builder->nr_texts > 0)
		qsort(builder->texts, builder->nr_texts, sizeof(*builder->texts), compare_texts);
	return r;
}

static bool is_padding(const uint8_t *bytes, size_t len)
{
	struct code_insn insn;

	for (size_t at = 0; at < len; at += insn.len)
		if (code_insn_decode(bytes + at, len - at, &insn) < 0 || !insn.is_padding)
			return false;
	return true;
}

/* Adds a gap, unless it is padding. Errors: -E2BIG more code than is scanned. */
static int add_code(struct scan_builder *builder, const struct code_segment *text, uint64_t start,
		    uint64_t end)
{
	const uint8_t *bytes;

	if (start >= end || end - start <= ROW_BUILDER_PADDING)
		return 0;
	if (end - start > CODE_SCAN_MAX_BYTES - builder->nr_bytes)
		return -E2BIG;

	int r = elf_reader_bytes(builder->gaps->reader, text->offset + (start - text->address),
				 end - start, &bytes);
	if (r == 0 && is_padding(bytes, (size_t)(end - start)))
		return 0;
	if (r == 0)
		r = elf_budget_grow(builder->gaps->budget, builder->codes, builder->cap_codes,
				    builder->nr_codes + 1, CODE_SCAN_MAX_BYTES);
	if (r < 0)
		return r;
	builder->codes[builder->nr_codes++] = (struct scan_code){ bytes, (size_t)(end - start),
								  start };
	builder->nr_bytes += (size_t)(end - start);
	return 0;
}

/* Adds the gaps between the functions of a text, from an address on. Bytes that texts share
 * belong to the first one. */
static int add_gaps(struct scan_builder *builder, const struct code_segment *text, uint64_t start)
{
	const struct unwind_functions *functions = &builder->functions;
	uint64_t end = text->address + text->len;
	int r = 0;

	for (size_t i = unwind_functions_find(functions, start); i < functions->nr_items; i++) {
		const struct unwind_function *function = &functions->items[i];

		if (function->start >= end)
			break;
		r = add_code(builder, text, start, function->start);
		if (r < 0)
			return r;
		start = function->end;
	}
	return add_code(builder, text, start, end);
}

static int find_codes(struct scan_builder *builder)
{
	uint64_t end = 0;
	int r = 0;

	for (size_t i = 0; i < builder->nr_texts && r == 0; i++) {
		const struct code_segment *text = &builder->texts[i];

		r = add_gaps(builder, text, text->address > end ? text->address : end);
		if (text->address + text->len > end)
			end = text->address + text->len;
	}
	return r;
}

static bool is_code(const struct scan_builder *builder, uint64_t address)
{
	const struct scan_code *codes = builder->codes;
	size_t nr_up_to = search_count(builder->nr_codes, i, codes[i].address <= address);

	return nr_up_to > 0 && address - codes[nr_up_to - 1].address < codes[nr_up_to - 1].len;
}

/* A local symbol may be the cold part of a function. */
static int add_symbol(struct scan_builder *builder, const Elf64_Sym *symbol)
{
	uint8_t type = ELF64_ST_TYPE(symbol->st_info);

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF ||
	    !is_code(builder, symbol->st_value))
		return 0;

	int r = elf_budget_grow(builder->gaps->budget, builder->starts, builder->cap_starts,
				builder->nr_starts + 1, MAX_STARTS);
	if (r < 0)
		return r;
	builder->starts[builder->nr_starts++] = (struct scan_start){
		symbol->st_value, ELF64_ST_BIND(symbol->st_info) == STB_LOCAL
	};
	return 0;
}

/* Adds the symbols of a table, which is read piece by piece because it is not needed afterwards. */
static int add_symbols(struct scan_builder *builder, uint32_t table_type)
{
	_cleanup_free_ Elf64_Sym *symbols = calloc(SYMBOLS_AT_ONCE, sizeof(*symbols));
	const struct elf_reader *reader = builder->gaps->reader;
	const GElf_Shdr *section = elf_reader_find_section(reader, table_type);
	uint64_t nr = section ? section->sh_size / sizeof(*symbols) : 0;
	int r = 0;

	if (!symbols)
		return -ENOMEM;
	if (!section || section->sh_size > MAX_SYMBOL_BYTES)
		return 0;
	for (uint64_t first = 0; first < nr && r == 0; first += SYMBOLS_AT_ONCE) {
		size_t left = nr - first < SYMBOLS_AT_ONCE ? (size_t)(nr - first) : SYMBOLS_AT_ONCE;

		r = elf_reader_read(reader, section->sh_offset + first * sizeof(*symbols), symbols,
				    left * sizeof(*symbols));
		for (size_t i = 0; i < left && r == 0; i++)
			r = add_symbol(builder, &symbols[i]);
	}
	return r;
}

/* Hashes also facts that do not become rows: where functions begin, or end for better sources. */
static void make_hash(const struct scan_builder *builder, uint64_t ret_hash[static 2])
{
	uint64_t seed = builder->gaps->hash_seed;
	uint64_t words[6] = { 0 };

	for (size_t i = 0; i < builder->nr_codes; i++) {
		const struct scan_code *code = &builder->codes[i];

		words[2] = code->address;
		words[3] = code->len;
		hash_128_seeded(code->bytes, code->len, seed, &words[4]);
		hash_128_seeded(words, sizeof(words), seed, words);
	}
	for (size_t i = 0; i < builder->nr_starts; i++) {
		words[2] = builder->starts[i].address;
		words[3] = builder->starts[i].is_likely;
		hash_128_seeded(words, 4 * sizeof(words[0]), seed, words);
	}
	ret_hash[0] = words[0];
	ret_hash[1] = words[1];
}

static int find_all(struct scan_builder *builder)
{
	int r = list_functions(builder);

	if (r == 0)
		r = find_texts(builder);
	if (r == 0)
		r = find_codes(builder);
	if (r == 0 && builder->nr_codes > 0)
		r = add_symbols(builder, SHT_DYNSYM);
	if (r == 0 && builder->nr_codes > 0)
		r = add_symbols(builder, SHT_SYMTAB);
	return r;
}

int elf_gaps_source_new(const struct elf_gaps *gaps, struct unwind_source **ret_source,
			uint64_t ret_hash[static 2])
{
	_cleanup_(done) struct scan_builder builder = { .gaps = gaps };
	int r = find_all(&builder);

	if (r == -E2BIG || (r == 0 && builder.nr_codes == 0)) {
		*ret_source = NULL;
		return 0;
	}
	if (r < 0)
		return r;

	const struct code_scan_input input = {
		.codes = builder.codes,
		.nr_codes = builder.nr_codes,
		.starts = builder.starts,
		.nr_starts = builder.nr_starts,
		.entry = gaps->entry,
	};
	r = elf_budget_take(gaps->budget, code_scan_max_held(&input));
	if (r == 0)
		r = code_scan_source_new(&input, ret_source);
	if (r == 0)
		make_hash(&builder, ret_hash);
	return r;
}

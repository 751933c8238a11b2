/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/elf/elf_symbol_list.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

/* The names of all symbols together may be this many times larger than the names of a source, as
 * names may share bytes. The limit bounds the time that is spent on names. */
#define MAX_NAMES_RATIO 4

/* If more than 1/8 of the code is uncovered, functions are missing: padding between functions takes
 * less, and the functions that a stripped library does not export take more. */
#define MAX_UNCOVERED_PART 8

static int compare_ranges(const void *a, const void *b)
{
	const struct elf_code_range *left = a;
	const struct elf_code_range *right = b;

	return (left->start > right->start) - (left->start < right->start);
}

static void add_range(struct elf_symbol_list *list, uint64_t start, uint64_t size)
{
	if (size > 0 && size <= UINT64_MAX - start)
		list->ranges[list->nr_ranges++] = (struct elf_code_range){ start, start + size };
}

static void add_ranges(struct elf_symbol_list *list, const struct elf_reader *reader)
{
	const uint64_t code = SHF_EXECINSTR | SHF_ALLOC;

	for (size_t i = 0; i < reader->nr_sections; i++) {
		const GElf_Shdr *section = &reader->sections[i];

		if ((section->sh_flags & code) == code)
			add_range(list, section->sh_addr, section->sh_size);
	}
	for (size_t i = 0; i < reader->nr_segments && reader->nr_sections == 0; i++) {
		const GElf_Phdr *segment = &reader->segments[i];

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X)
			add_range(list, segment->p_vaddr, segment->p_filesz);
	}
}

int elf_symbol_list_init(struct elf_symbol_list *list, const struct elf_reader *reader,
			 size_t max_bytes)
{
	struct elf_symbol_list fresh = { .max_bytes = max_bytes };

	fresh.ranges = calloc(reader->nr_sections + reader->nr_segments + 1, sizeof(*fresh.ranges));
	if (!fresh.ranges)
		return -ENOMEM;
	add_ranges(&fresh, reader);
	qsort(fresh.ranges, fresh.nr_ranges, sizeof(*fresh.ranges), compare_ranges);
	fresh.base = fresh.nr_ranges ? fresh.ranges[0].start : 0;
	*list = fresh;
	return 0;
}

void elf_symbol_list_done(struct elf_symbol_list *list)
{
	free(list->ranges);
	free(list->symbols);
	*list = (struct elf_symbol_list){ 0 };
}

/* Returns the range of code that holds an address, or NULL. */
static const struct elf_code_range *find_range(const struct elf_symbol_list *list, uint64_t address)
{
	const struct elf_code_range *ranges = list->ranges;
	size_t next = search_count(list->nr_ranges, i, ranges[i].start <= address);

	return next > 0 && address < ranges[next - 1].end ? &ranges[next - 1] : NULL;
}

static uint32_t clamp_u32(uint64_t value)
{
	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

const char *elf_symbol_list_name(const struct elf_symbol_list *list,
				 const struct elf_listed_symbol *symbol)
{
	return list->sources[symbol->source].text + symbol->name;
}

int elf_symbol_list_begin(struct elf_symbol_list *list, const char *names, size_t len)
{
	if (list->nr_sources == ELF_MAX_SOURCES || len > list->max_bytes || len >= UINT32_MAX)
		return -ENOSPC;
	list->sources[list->nr_sources++] = (struct elf_names){ names, len };
	return 0;
}

void elf_symbol_list_cut(struct elf_symbol_list *list, size_t nr_symbols, size_t nr_sources)
{
	while (list->nr_symbols > nr_symbols) {
		const struct elf_listed_symbol *last = &list->symbols[--list->nr_symbols];

		if (last->rank != RANK_NAMELESS)
			list->name_bytes -= (size_t)last->name_len + 1;
	}
	list->nr_sources = nr_sources;
}

static size_t measure_name(const struct elf_symbol_list *list, uint64_t name)
{
	const struct elf_names *names = &list->sources[list->nr_sources - 1];

	if (name >= names->len)
		return 0;

	size_t left = names->len - (size_t)name;
	return strnlen(names->text + name, left < ELF_MAX_NAME_BYTES ? left : ELF_MAX_NAME_BYTES);
}

/* Returns whether an address is in code and fits into the list. */
static bool is_in_reach(const struct elf_symbol_list *list, uint64_t address)
{
	return find_range(list, address) && address - list->base < UINT32_MAX;
}

static int append(struct elf_symbol_list *list, const struct elf_listed_symbol *symbol)
{
	int r = array_grow(list->symbols, list->cap_symbols, list->nr_symbols + 1,
			   list->max_bytes / sizeof(*list->symbols));

	if (r == 0)
		list->symbols[list->nr_symbols++] = *symbol;
	list->is_sorted = false;
	return r;
}

int elf_symbol_list_add(struct elf_symbol_list *list, const struct elf_found_symbol *found)
{
	if (!is_in_reach(list, found->address))
		return 0;

	size_t name_len = measure_name(list, found->name);
	if (name_len == 0)
		return 0;
	if (list->name_bytes / MAX_NAMES_RATIO > list->max_bytes)
		return -ENOSPC;

	const struct elf_listed_symbol symbol = {
		.delta = (uint32_t)(found->address - list->base),
		.size = clamp_u32(found->size),
		.name = (uint32_t)found->name,
		.name_len = (uint16_t)name_len,
		.source = (uint8_t)(list->nr_sources - 1),
		.rank = (uint8_t)found->rank,
	};
	int r = append(list, &symbol);
	if (r == 0)
		list->name_bytes += name_len + 1;
	return r;
}

int elf_symbol_list_add_nameless(struct elf_symbol_list *list, uint64_t start, uint64_t end)
{
	if (!is_in_reach(list, start))
		return 0;
	const struct elf_listed_symbol symbol = {
		.delta = (uint32_t)(start - list->base),
		.size = clamp_u32(end - start),
		.rank = RANK_NAMELESS,
	};
	return append(list, &symbol);
}

/* Of two symbols with the same address, the first one in this order is kept. The last criterion
 * makes the order total. */
static int compare_symbols(const void *a, const void *b)
{
	const struct elf_listed_symbol *left = a;
	const struct elf_listed_symbol *right = b;

	if (left->delta != right->delta)
		return left->delta < right->delta ? -1 : 1;
	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	if (left->name_len != right->name_len)
		return left->name_len < right->name_len ? -1 : 1;
	if (left->source != right->source)
		return left->source < right->source ? -1 : 1;
	if (left->name != right->name)
		return left->name < right->name ? -1 : 1;
	return (left->size > right->size) - (left->size < right->size);
}

static void drop_duplicates(struct elf_symbol_list *list)
{
	size_t nr_kept = 0;

	for (size_t i = 0; i < list->nr_symbols; i++) {
		const struct elf_listed_symbol *symbol = &list->symbols[i];
		struct elf_listed_symbol *last = nr_kept ? &list->symbols[nr_kept - 1] : NULL;

		if (!last || last->delta != symbol->delta)
			list->symbols[nr_kept++] = *symbol;
		else if (last->size == 0)
			last->size = symbol->size;
	}
	list->nr_symbols = nr_kept;
}

static uint32_t bytes_to_end(const struct elf_symbol_list *list,
			     const struct elf_listed_symbol *symbol)
{
	uint64_t address = list->base + symbol->delta;

	return clamp_u32(find_range(list, address)->end - address);
}

static void shorten(struct elf_listed_symbol *symbol, uint32_t size)
{
	if (symbol->size == 0 || symbol->size > size)
		symbol->size = size;
}

/* A function without a size ends where the next function begins. Labels in between do not count. */
static void size_functions(struct elf_symbol_list *list)
{
	const struct elf_listed_symbol *next = NULL;

	for (size_t i = list->nr_symbols; i-- > 0;) {
		struct elf_listed_symbol *symbol = &list->symbols[i];

		if (symbol->rank == RANK_LABEL)
			continue;
		if (symbol->size == 0 && next)
			symbol->size = next->delta - symbol->delta;
		shorten(symbol, bytes_to_end(list, symbol));
		next = symbol;
	}
}

/* Drops labels and nameless functions that begin within functions. Other labels end where the next
 * symbol begins. */
static void size_labels(struct elf_symbol_list *list)
{
	uint64_t covered_up_to = 0;
	size_t nr_kept = 0;

	for (size_t i = 0; i < list->nr_symbols; i++) {
		struct elf_listed_symbol symbol = list->symbols[i];
		struct elf_listed_symbol *last = nr_kept ? &list->symbols[nr_kept - 1] : NULL;
		bool is_function = symbol.rank < RANK_LABEL;

		if (!is_function && symbol.delta < covered_up_to)
			continue;
		if (last && last->rank == RANK_LABEL)
			shorten(last, symbol.delta - last->delta);
		if (symbol.rank == RANK_LABEL)
			shorten(&symbol, bytes_to_end(list, &symbol));
		else if (is_function && (uint64_t)symbol.delta + symbol.size > covered_up_to)
			covered_up_to = (uint64_t)symbol.delta + symbol.size;
		list->symbols[nr_kept++] = symbol;
	}
	list->nr_symbols = nr_kept;
}

static void sort(struct elf_symbol_list *list)
{
	if (list->is_sorted || list->nr_symbols == 0)
		return;
	qsort(list->symbols, list->nr_symbols, sizeof(*list->symbols), compare_symbols);
	drop_duplicates(list);
	list->is_sorted = true;
}

static uint64_t count_code_bytes(const struct elf_symbol_list *list)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < list->nr_ranges; i++)
		nr += list->ranges[i].end - list->ranges[i].start;
	return nr;
}

bool elf_symbol_list_is_sparse(struct elf_symbol_list *list)
{
	uint64_t nr_code = count_code_bytes(list);
	uint64_t nr_covered = 0;
	uint64_t covered_up_to = 0;

	sort(list);
	for (size_t i = 0; i < list->nr_symbols; i++) {
		uint64_t start = list->symbols[i].delta;
		uint64_t end = start + list->symbols[i].size;

		start = start > covered_up_to ? start : covered_up_to;
		if (end <= start)
			continue;
		nr_covered += end - start;
		covered_up_to = end;
	}
	return nr_covered < nr_code - nr_code / MAX_UNCOVERED_PART;
}

void elf_symbol_list_seal(struct elf_symbol_list *list)
{
	sort(list);
	size_functions(list);
	size_labels(list);
}

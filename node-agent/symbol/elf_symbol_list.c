/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/elf_symbol_list.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

static int compare_ranges(const void *a, const void *b)
{
	const struct elf_code_range *left = a;
	const struct elf_code_range *right = b;

	return (left->start > right->start) - (left->start < right->start);
}

static bool is_code_section(const GElf_Shdr *section)
{
	return section->sh_flags & SHF_EXECINSTR && section->sh_flags & SHF_ALLOC &&
	       section->sh_size > 0 && section->sh_size <= UINT64_MAX - section->sh_addr;
}

int elf_symbol_list_init(struct elf_symbol_list *list, const struct elf_reader *reader,
			 size_t max_bytes)
{
	struct elf_symbol_list fresh = { .max_bytes = max_bytes };

	fresh.ranges = calloc(reader->nr_sections + 1, sizeof(*fresh.ranges));
	if (!fresh.ranges)
		return -ENOMEM;
	for (size_t i = 0; i < reader->nr_sections; i++) {
		const GElf_Shdr *section = &reader->sections[i];

		if (is_code_section(section))
			fresh.ranges[fresh.nr_ranges++] = (struct elf_code_range){
				.start = section->sh_addr,
				.end = section->sh_addr + section->sh_size,
			};
	}
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

/* The code section that holds an address, or NULL: the last one that starts at or below it. */
static const struct elf_code_range *find_range(const struct elf_symbol_list *list, uint64_t address)
{
	size_t low = 0;
	size_t high = list->nr_ranges;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && address < list->ranges[low - 1].end ? &list->ranges[low - 1] : NULL;
}

static bool is_function(const GElf_Sym *symbol)
{
	switch (GELF_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return symbol->st_shndx != SHN_UNDEF;
	case STT_NOTYPE: /* assembler code without .type; labels have no size */
		return symbol->st_shndx != SHN_UNDEF && symbol->st_size > 0;
	default:
		return false;
	}
}

static uint8_t rank_of(const GElf_Sym *symbol)
{
	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
	case STB_GNU_UNIQUE:
		return 0;
	case STB_WEAK:
		return 1;
	default:
		return 2;
	}
}

static uint32_t clamp_u32(uint64_t value)
{
	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

const char *elf_symbol_list_name(const struct elf_symbol_list *list,
				 const struct elf_listed_symbol *symbol)
{
	return list->tables[symbol->table].text + symbol->name;
}

/* Adds one symbol of the table at hand if it is a function. */
static int add_symbol(struct elf_symbol_list *list, const struct elf_reader *reader,
		      const GElf_Sym *symbol)
{
	const struct elf_names *names = &list->tables[list->nr_tables];
	uint64_t address = symbol->st_value;

	if (!is_function(symbol) || symbol->st_name >= names->len)
		return 0;
	if (reader->machine == EM_ARM)
		address &= ~UINT64_C(1); /* set for Thumb code */
	if (!find_range(list, address) || address - list->base >= UINT32_MAX)
		return 0;

	size_t left = names->len - symbol->st_name;
	size_t name_len = strnlen(names->text + symbol->st_name,
				  left < ELF_MAX_NAME_BYTES ? left : ELF_MAX_NAME_BYTES);
	if (name_len == 0)
		return 0;

	int r = array_grow(list->symbols, list->cap_symbols, list->nr_symbols + 1,
			   list->max_bytes / sizeof(*list->symbols));
	if (r < 0)
		return r;
	list->symbols[list->nr_symbols++] = (struct elf_listed_symbol){
		.delta = (uint32_t)(address - list->base),
		.size = clamp_u32(symbol->st_size),
		.name = symbol->st_name,
		.name_len = (uint16_t)name_len,
		.table = (uint8_t)list->nr_tables,
		.rank = rank_of(symbol),
	};
	return 0;
}

static int add_symbols(struct elf_symbol_list *list, struct elf_reader *reader,
		       const GElf_Shdr *table)
{
	size_t symbol_bytes = elf_reader_entry_bytes(reader, ELF_T_SYM);
	uint64_t nr_symbols = table->sh_size / symbol_bytes;
	GElf_Sym symbol;
	Elf_Data *data;

	if (nr_symbols > ELF_MAX_SYMBOLS)
		return -ENOSPC;

	int r = elf_reader_data(reader, table->sh_offset, nr_symbols * symbol_bytes, ELF_T_SYM,
				&data);
	for (int i = 0; r == 0 && gelf_getsym(data, i, &symbol); i++)
		r = add_symbol(list, reader, &symbol);
	return r;
}

static int read_names(struct elf_symbol_list *list, struct elf_reader *reader,
		      const GElf_Shdr *strings)
{
	Elf_Data *data;

	if (strings->sh_offset > reader->size ||
	    strings->sh_size > reader->size - strings->sh_offset)
		return -EBADMSG;
	if (list->max_bytes - list->names_len <= strings->sh_size || strings->sh_size >= UINT32_MAX)
		return -ENOSPC;

	int r = elf_reader_data(reader, strings->sh_offset, strings->sh_size, ELF_T_BYTE, &data);
	if (r < 0)
		return r;
	list->tables[list->nr_tables] = (struct elf_names){ data->d_buf, data->d_size };
	list->names_len += data->d_size;
	return 0;
}

int elf_symbol_list_add_table(struct elf_symbol_list *list, struct elf_reader *reader,
			      uint32_t type)
{
	const GElf_Shdr *table = elf_reader_find_section(reader, type);

	if (!table || list->nr_ranges == 0)
		return 0;
	if (list->nr_tables == ELF_MAX_TABLES)
		return -ENOSPC;
	if (table->sh_link >= reader->nr_sections || table->sh_offset > reader->size ||
	    table->sh_size > reader->size - table->sh_offset)
		return -EBADMSG;

	const GElf_Shdr *strings = &reader->sections[table->sh_link];
	if (strings->sh_type != SHT_STRTAB)
		return -EBADMSG;

	int r = read_names(list, reader, strings);
	if (r == 0)
		r = add_symbols(list, reader, table);
	if (r == 0)
		list->nr_tables++;
	return r;
}

/* The order of two symbols of one address says which is kept. The last criterion makes it a total one. */
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
	if (left->table != right->table)
		return left->table < right->table ? -1 : 1;
	return (left->name > right->name) - (left->name < right->name);
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

void elf_symbol_list_seal(struct elf_symbol_list *list)
{
	if (list->nr_symbols == 0)
		return;
	qsort(list->symbols, list->nr_symbols, sizeof(*list->symbols), compare_symbols);
	drop_duplicates(list);
	for (size_t i = 0; i < list->nr_symbols; i++) {
		struct elf_listed_symbol *symbol = &list->symbols[i];
		uint64_t address = list->base + symbol->delta;
		uint32_t to_end = clamp_u32(find_range(list, address)->end - address);

		if (symbol->size > to_end)
			symbol->size = to_end;
		if (symbol->size > 0)
			continue;
		symbol->size = to_end;
		if (i + 1 < list->nr_symbols && symbol[1].delta - symbol->delta < to_end)
			symbol->size = symbol[1].delta - symbol->delta;
	}
}

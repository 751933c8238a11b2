/* SPDX-License-Identifier: Apache-2.0 */
/* A symbol is a function if it has the type of one, or, as in some assembler code, a size but no
 * type. Labels, which have neither type nor size, may also name functions; but they may as well
 * name loops, ends of sections, mapping symbols ("$x" marks the beginning of code on ARM and
 * RISC-V), or marks of annobin(1). perf and addr2line accept them. Here the labels of .symtab name
 * code that is in no function. */
#include "symbol/elf/elf_symbol_table.h"

static bool is_within(const struct elf_reader *reader, const GElf_Shdr *section)
{
	return section->sh_offset <= reader->size &&
	       section->sh_size <= reader->size - section->sh_offset;
}

int elf_symbol_table_find(struct elf_reader *reader, uint32_t type,
			  struct elf_symbol_table *ret_table)
{
	const GElf_Shdr *table = elf_reader_find_section(reader, type);
	size_t symbol_bytes = elf_reader_entry_bytes(reader, ELF_T_SYM);

	if (!table && reader->nr_sections == 0 && type == SHT_DYNSYM)
		return elf_symbol_table_find_dynamic(reader, ret_table);
	if (!table)
		return -ENOENT;
	if (table->sh_link >= reader->nr_sections || !is_within(reader, table))
		return -EBADMSG;

	const GElf_Shdr *names = &reader->sections[table->sh_link];
	if (names->sh_type != SHT_STRTAB || !is_within(reader, names))
		return -EBADMSG;
	if (table->sh_size / symbol_bytes > ELF_MAX_SYMBOLS)
		return -ENOSPC;
	*ret_table = (struct elf_symbol_table){
		.symbols_offset = table->sh_offset,
		.symbols_len = table->sh_size - table->sh_size % symbol_bytes,
		.names_offset = names->sh_offset,
		.names_len = names->sh_size,
	};
	return 0;
}

static bool is_function(const GElf_Sym *symbol)
{
	switch (GELF_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return symbol->st_shndx != SHN_UNDEF;
	case STT_NOTYPE:
		return symbol->st_shndx != SHN_UNDEF && symbol->st_size > 0;
	default:
		return false;
	}
}

/* Hidden labels come from annobin. */
static bool is_label(const GElf_Sym *symbol, char first)
{
	return GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE && symbol->st_size == 0 &&
	       symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS && first != '$' &&
	       first != '.' &&
	       (GELF_ST_BIND(symbol->st_info) != STB_LOCAL ||
		GELF_ST_VISIBILITY(symbol->st_other) == STV_DEFAULT);
}

static enum elf_symbol_rank rank_of(const GElf_Sym *symbol)
{
	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
	case STB_GNU_UNIQUE:
		return RANK_GLOBAL;
	case STB_WEAK:
		return RANK_WEAK;
	default:
		return RANK_LOCAL;
	}
}

static int list_symbol(struct elf_symbol_list *list, const struct elf_reader *reader,
		       const GElf_Sym *symbol, bool has_labels)
{
	const struct elf_names *names = &list->sources[list->nr_sources - 1];
	struct elf_found_symbol found = {
		.address = symbol->st_value,
		.size = symbol->st_size,
		.name = symbol->st_name,
		.rank = rank_of(symbol),
	};

	if (symbol->st_name >= names->len)
		return 0;
	if (!is_function(symbol)) {
		if (!has_labels || !is_label(symbol, names->text[symbol->st_name]))
			return 0;
		found.rank = RANK_LABEL;
	}
	if (reader->machine == EM_ARM)
		found.address &= ~UINT64_C(1); /* bit 0 marks Thumb code */
	return elf_symbol_list_add(list, &found);
}

int elf_symbol_table_list(const struct elf_symbol_table *table, struct elf_reader *reader,
			  bool has_labels, struct elf_symbol_list *list)
{
	const uint8_t *names;
	GElf_Sym symbol;
	Elf_Data *data;

	if (table->names_len > list->max_bytes || table->symbols_len > list->max_bytes)
		return -ENOSPC;

	int r = elf_reader_bytes(reader, table->names_offset, table->names_len, &names);
	if (r == 0)
		r = elf_symbol_list_begin(list, (const char *)names, (size_t)table->names_len);
	if (r == 0)
		r = elf_reader_data(reader, table->symbols_offset, table->symbols_len, ELF_T_SYM,
				    &data);
	for (int i = 0; r == 0 && gelf_getsym(data, i, &symbol); i++)
		r = list_symbol(list, reader, &symbol, has_labels);
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a Go program by its function table (.gopclntab). strip(1) and `-ldflags=-s` do
 * not remove it, as Go itself needs it. Names are those of the symbol table, such as
 * "main.(*T).Run", but type arguments are "[...]".
 *
 * A table can have many megabytes, so only some of its parts are read. Since Go 1.16 they are:
 *
 *	header
 *	names		and behind them the names of source files
 *	pctab		lines and stack pointers; not read
 *	functab		with the records behind it
 *
 * In the oldest format they are mixed. */
#include "elf/gopclntab_table.h"
#include "symbol/elf/symbol_source.h"

#define MAX_HEADER_BYTES 128

/* Finds Go's code, from runtime.text to runtime.etext: from the beginning of the first function to
 * the end of the last one. Both are 0 if the table does not have them. */
static void find_code(const struct gopclntab_table *table, uint64_t *ret_start, uint64_t *ret_end)
{
	struct gopclntab_function first;
	struct gopclntab_function last;
	bool is_known = gopclntab_table_get(table, 0, &first) == 0 &&
			gopclntab_table_get(table, table->nr_functions - 1, &last) == 0 &&
			first.start < last.end;

	*ret_start = is_known ? first.start : 0;
	*ret_end = is_known ? last.end : 0;
}

/* Finds the part of the table with the names; in the oldest format, that is all of it. */
static void find_names(const struct gopclntab_table *table, uint64_t *ret_start, uint64_t *ret_end)
{
	bool is_apart = table->names_offset > 0 && table->names_offset < table->pctab_offset;

	*ret_start = is_apart ? table->names_offset : 0;
	*ret_end = is_apart ? table->pctab_offset : table->len;
}

/* Appends all functions as a source. The table's data must outlive the list. Errors: -ENOSPC,
 * -ENOMEM. */
static int list_functions(const struct gopclntab_table *table, struct elf_symbol_list *list)
{
	uint64_t start;
	uint64_t end;

	find_names(table, &start, &end);

	const char *names = (const char *)table->data + start;
	int r = elf_symbol_list_begin(list, names, (size_t)(end - start));
	for (size_t i = 0; r == 0 && i < table->nr_functions; i++) {
		struct gopclntab_function function;

		if (gopclntab_table_get(table, i, &function) < 0)
			continue;
		r = elf_symbol_list_add(list, &(struct elf_found_symbol){
						      .address = function.start,
						      .size = function.end - function.start,
						      .name = (uint64_t)(function.name - names),
						      .rank = RANK_GLOBAL,
					      });
	}
	return r;
}

static int load_part(struct symbol_file *file, const GElf_Shdr *section, uint64_t start,
		     uint64_t end)
{
	const uint8_t *bytes;

	if (start > end || end > section->sh_size)
		return -EBADMSG;
	if (end - start > file->max_bytes)
		return -ENOSPC;
	return elf_reader_bytes(&file->reader, section->sh_offset + start, end - start, &bytes);
}

/* Opens the table of a file, but reads only its header. */
static int open_table(struct symbol_file *file, const GElf_Shdr *section,
		      struct gopclntab_table *ret_table)
{
	struct gopclntab_section go = {
		.len = (size_t)section->sh_size,
		.text_address = elf_sections_go_text(&file->reader, &file->section_names),
	};
	uint64_t header_len = go.len < MAX_HEADER_BYTES ? go.len : MAX_HEADER_BYTES;

	if (section->sh_offset > file->reader.size ||
	    section->sh_size > file->reader.size - section->sh_offset)
		return -EBADMSG;

	int r = elf_reader_bytes(&file->reader, section->sh_offset, header_len, &go.data);
	return r < 0 ? r : gopclntab_table_init(ret_table, &go);
}

int symbol_source_go(struct symbol_file *file)
{
	const GElf_Shdr *section = elf_sections_find_gopclntab(&file->section_names, &file->reader);
	struct gopclntab_table table;
	uint64_t start;
	uint64_t end;

	if (!section)
		return 0;

	int r = open_table(file, section, &table);
	if (r == 0)
		r = load_part(file, section, table.functab_offset, section->sh_size);
	if (r < 0)
		return r;
	find_code(&table, &file->info.go_start, &file->info.go_end);
	if (file->info.has_symtab)
		return 0;

	find_names(&table, &start, &end);
	r = load_part(file, section, start, end);
	return r < 0 ? r : list_functions(&table, &file->list);
}

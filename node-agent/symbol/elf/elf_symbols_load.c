/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a table from a file: functions are collected from the sources, sorted, and written as a
 * block.
 *
 * A source that is damaged or too large does not affect the others. If no source can be read, the
 * first error is returned. */
#include "symbol/elf/elf_block.h"
#include "symbol/elf/elf_info.h"
#include "symbol/elf/elf_symbol_table.h"
#include "symbol/elf/elf_symbols.h"
#include "symbol/elf/symbol_source.h"

#include <stdlib.h>
#include <string.h>

static int (*const sources[ELF_MAX_SOURCES])(struct symbol_file *file) = {
	symbol_source_symtab, symbol_source_dynsym, symbol_source_minidebug,
	symbol_source_go,     symbol_source_plt,
};

/* The reader is freed last, because its image holds the names. */
static void symbol_file_done(struct symbol_file *file)
{
	elf_symbol_list_done(&file->list);
	minidebug_close(&file->minidebug);
	strbuf_done(&file->plt_names);
	elf_section_names_done(&file->section_names);
	elf_reader_done(&file->reader);
}

static int add_table(struct symbol_file *file, struct elf_reader *reader, uint32_t type,
		     bool has_labels)
{
	struct elf_symbol_table table;

	int r = elf_symbol_table_find(reader, type, &table);
	if (r == -ENOENT)
		return 0;
	return r < 0 ? r : elf_symbol_table_list(&table, reader, has_labels, &file->list);
}

int symbol_source_symtab(struct symbol_file *file)
{
	int r = add_table(file, &file->reader, SHT_SYMTAB, /* has_labels */ true);

	file->info.has_symtab = r == 0 && file->list.nr_symbols > 0;
	return r;
}

int symbol_source_dynsym(struct symbol_file *file)
{
	return add_table(file, &file->reader, SHT_DYNSYM, /* has_labels */ false);
}

/* Only its .symtab is read. Other sources, such as another .gnu_debugdata, do not occur in
 * practice. */
int symbol_source_minidebug(struct symbol_file *file)
{
	const GElf_Shdr *section = elf_section_find(&file->section_names, &file->reader,
						    ".gnu_debugdata");

	if (!section || file->info.has_symtab)
		return 0;

	int r = minidebug_open(&file->minidebug, &file->reader, section, file->max_bytes);
	if (r < 0)
		return r;
	return add_table(file, &file->minidebug.reader, SHT_SYMTAB, /* has_labels */ true);
}

static int ask_sources(struct symbol_file *file)
{
	int first_error = 0;

	for (size_t i = 0; i < array_len(sources); i++) {
		size_t nr_symbols = file->list.nr_symbols;
		size_t nr_sources = file->list.nr_sources;

		int r = sources[i](file);
		if (r == 0)
			continue;
		if (r != -EBADMSG && r != -ENOSPC)
			return r;
		elf_symbol_list_cut(&file->list, nr_symbols, nr_sources);
		file->info.nr_bad_sources++;
		first_error = first_error < 0 ? first_error : r;
	}
	return file->list.nr_symbols > 0 ? 0 : first_error;
}

/* Adds the functions that have no symbol. If these are damaged or over a limit, only the symbols
 * remain. */
static int add_nameless(struct symbol_file *file)
{
	struct elf_symbol_list *list = &file->list;

	if (!elf_symbol_list_is_sparse(list))
		return 0;
	size_t nr_symbols = list->nr_symbols;
	int r = symbol_source_cfi(file);
	if (r == -EBADMSG || r == -ENOSPC) {
		elf_symbol_list_cut(list, nr_symbols, list->nr_sources);
		file->info.nr_bad_sources++;
		return 0;
	}
	return r;
}

static bool is_code_segment(const GElf_Phdr *segment)
{
	return segment->p_type == PT_LOAD && segment->p_flags & PF_X && segment->p_filesz > 0 &&
	       segment->p_filesz <= UINT64_MAX - segment->p_offset &&
	       segment->p_filesz <= UINT64_MAX - segment->p_vaddr;
}

static uint32_t count_segments(const struct elf_reader *reader)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < reader->nr_segments; i++)
		nr += is_code_segment(&reader->segments[i]);
	return nr;
}

static void put_segments(const struct elf_reader *reader, struct elf_block_segment *to)
{
	for (size_t i = 0; i < reader->nr_segments; i++) {
		const GElf_Phdr *segment = &reader->segments[i];

		if (is_code_segment(segment))
			*to++ = (struct elf_block_segment){
				.offset = segment->p_offset,
				.size = segment->p_filesz,
				.address = segment->p_vaddr,
			};
	}
}

static size_t count_name_bytes(const struct elf_symbol_list *list)
{
	size_t bytes = 0;

	for (size_t i = 0; i < list->nr_symbols; i++)
		if (list->symbols[i].rank != RANK_NAMELESS)
			bytes += (size_t)list->symbols[i].name_len + 1;
	return bytes;
}

static void put_functions(const struct elf_symbol_list *list, struct elf_block_function *to,
			  char *names)
{
	uint32_t pos = 0;

	for (size_t i = 0; i < list->nr_symbols; i++) {
		const struct elf_listed_symbol *from = &list->symbols[i];

		to[i] = (struct elf_block_function){ from->delta, from->size, pos };
		if (from->rank == RANK_NAMELESS) {
			to[i].name = ELF_BLOCK_NAMELESS;
			continue;
		}
		memcpy(names + pos, elf_symbol_list_name(list, from), from->name_len);
		pos += from->name_len;
		names[pos++] = '\0';
	}
}

static int make_block(const struct symbol_file *file, void **ret_bytes, size_t *ret_len)
{
	size_t names_len = count_name_bytes(&file->list);
	struct elf_block_header header = {
		.info = file->info,
		.base = file->list.base,
		.nr_segments = count_segments(&file->reader),
		.nr_functions = (uint32_t)file->list.nr_symbols,
		.names_len = (uint32_t)names_len,
	};
	struct elf_block block;

	if (names_len > UINT32_MAX || elf_block_len(&header) > file->max_bytes)
		return -ENOSPC;

	size_t len = (size_t)elf_block_len(&header);
	void *bytes = calloc(1, len);
	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, &header, sizeof(header));
	elf_block_find_parts(bytes, &block);
	put_segments(&file->reader, (struct elf_block_segment *)block.segments);
	put_functions(&file->list, (struct elf_block_function *)block.functions,
		      (char *)block.names);
	*ret_bytes = bytes;
	*ret_len = len;
	return 0;
}

/* If this fails, only the symbol tables are found. */
static int load_section_names(struct symbol_file *file)
{
	int r = elf_section_names_load(&file->section_names, &file->reader);

	if (r != -EBADMSG && r != -ENOSPC)
		return r;
	file->info.nr_bad_sources++;
	return 0;
}

static int load_block(int fd, size_t max_bytes, void **ret_bytes, size_t *ret_len)
{
	_cleanup_(symbol_file_done) struct symbol_file file = {
		.reader.fd = -EBADF,
		.max_bytes = max_bytes,
	};

	int r = elf_reader_init(&file.reader, fd);
	if (r == 0)
		r = load_section_names(&file);
	if (r == 0)
		r = elf_symbol_list_init(&file.list, &file.reader, max_bytes);
	if (r < 0)
		return r;
	elf_info_read(&file.reader, &file.section_names, &file.info);

	r = ask_sources(&file);
	if (r < 0)
		return r;
	r = add_nameless(&file);
	if (r < 0)
		return r;
	elf_symbol_list_seal(&file.list);
	return make_block(&file, ret_bytes, ret_len);
}

int elf_symbols_load(int fd, size_t max_bytes, struct elf_symbols **ret_symbols)
{
	void *bytes;
	size_t len;

	int r = load_block(fd, max_bytes, &bytes, &len);
	return r < 0 ? r : elf_symbols_from_block(bytes, len, ret_symbols);
}

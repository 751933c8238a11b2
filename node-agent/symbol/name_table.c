/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/name_table.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define RUST_HASH_DIGITS 16

int name_table_new(struct elf_symbols *symbols, const struct elf_fingerprint *print,
		   struct name_table **ret_table)
{
	struct name_table *table = calloc(1, sizeof(*table));

	if (!table) {
		elf_symbols_free(symbols);
		return -ENOMEM;
	}
	*table = (struct name_table){
		.symbols = symbols,
		.lines_fd = -EBADF,
		.alt_fd = -EBADF,
		.has_names = true,
		.has_print = print != NULL,
	};
	table->content.table = table;
	if (print)
		table->print = *print;
	*ret_table = table;
	return 0;
}

void name_table_close_files(struct name_table *table)
{
	cleanup_closep(&table->lines_fd);
	cleanup_closep(&table->alt_fd);
	table->lines_fd = -EBADF;
	table->alt_fd = -EBADF;
	free(table->wanted);
	table->wanted = NULL;
	table->nr_wanted = 0;
	table->cap_wanted = 0;
}

void name_table_free(struct name_table *table)
{
	if (!table)
		return;
	name_table_close_files(table);
	lines_table_done(&table->lines);
	elf_symbols_free(table->symbols);
	elf_symbols_free(table->debug_symbols);
	free(table->names);
	free(table);
}

void name_table_drop_names(struct name_table *table)
{
	name_table_close_files(table);
	name_table_drop_lines(table);
	elf_symbols_drop_names(table->symbols);
	elf_symbols_free(table->debug_symbols);
	table->debug_symbols = NULL;
	table->has_names = false;
}

void name_table_drop_lines(struct name_table *table)
{
	lines_table_done(&table->lines);
	table->unsaved_since_ns = 0;
	if (table->lines_state == LINES_READY)
		table->lines_state = LINES_KEYED;
}

size_t name_table_bytes(const struct name_table *table)
{
	return sizeof(*table) + lines_table_bytes(&table->lines) +
	       elf_symbols_bytes(table->symbols) +
	       (table->debug_symbols ? elf_symbols_bytes(table->debug_symbols) : 0) +
	       table->cap_wanted * sizeof(*table->wanted) +
	       table->cap_names * sizeof(*table->names);
}

static bool is_rust(const char *name)
{
	const char *hash = strstr(name, "17h");

	if (name[0] != '_' || (name[1] != 'R' && name[1] != 'Z'))
		return false;
	if (name[1] == 'R')
		return true;
	while (hash && strspn(hash + 3, "0123456789abcdef") != RUST_HASH_DIGITS)
		hash = strstr(hash + 1, "17h");
	return hash && hash[3 + RUST_HASH_DIGITS] == 'E';
}

static enum symbol_language language_at(const struct name_table *table, uint64_t address,
					const char *name)
{
	const struct elf_symbols_info *info = elf_symbols_info(table->symbols);

	if (address >= info->go_start && address < info->go_end)
		return LANGUAGE_GO;
	return is_rust(name) ? LANGUAGE_RUST : LANGUAGE_UNKNOWN;
}

int name_table_find(const struct name_table *table, uint64_t file_offset,
		    struct symbol_line *ret_line, struct symbol_frames *ret_frames)
{
	struct elf_symbol symbol;

	*ret_frames = (struct symbol_frames){ .address = file_offset };
	if (elf_symbols_address_of(table->symbols, file_offset, &ret_frames->address) < 0)
		return -ENOENT;

	int r = -ENOENT;
	if (table->debug_symbols)
		r = elf_symbols_find(table->debug_symbols, ret_frames->address, &symbol);
	if (r < 0)
		r = elf_symbols_find(table->symbols, ret_frames->address, &symbol);
	if (r < 0)
		return r;
	ret_frames->function = symbol.address;
	if (symbol.name[0] == '\0')
		return -ENOENT;
	*ret_line = (struct symbol_line){ .system_name = symbol.name, .filename = "" };
	ret_frames->lines = ret_line;
	ret_frames->nr_lines = 1;
	ret_frames->language = language_at(table, ret_frames->address, symbol.name);
	return 0;
}

int name_table_want_lines(struct name_table *table, uint64_t file_offset)
{
	uint64_t address;

	int r = elf_symbols_address_of(table->symbols, file_offset, &address);
	if (r < 0)
		return r;
	r = array_grow(table->wanted, table->cap_wanted, table->nr_wanted + 1,
		       NAME_TABLE_MAX_WANTED);
	if (r < 0)
		return r;
	table->wanted[table->nr_wanted++] = (struct wanted_address){ .offset = file_offset,
								     .address = address };
	return 0;
}

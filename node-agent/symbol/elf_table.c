/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/elf_table.h"

#include "base/array.h"
#include "base/hash.h"
#include "symbol/demangle.h"

#include <stdlib.h>
#include <string.h>

#define MALLOC_OVERHEAD 16

struct pretty_name {
	uint64_t address; /* of the symbol */
	char *name; /* owned */
};

int elf_table_new(int fd, const struct elf_fingerprint *print, size_t max_bytes,
		  struct elf_table **ret_table)
{
	_cleanup_(elf_table_freep) struct elf_table *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;

	int r = elf_symbols_load(fd, max_bytes, &table->symbols);
	if (r < 0)
		return r;
	table->has_names = true;
	table->has_print = print != NULL;
	if (print)
		table->print = *print;
	*ret_table = take_ptr(table);
	return 0;
}

static void clear_pretty(struct elf_table *table)
{
	for (size_t i = 0; i < table->nr_pretty; i++)
		free(table->pretty[i].name);
	free(table->pretty);
	table->pretty = NULL;
	table->nr_pretty = 0;
	table->cap_pretty = 0;
	table->pretty_bytes = 0;
	htable_done(&table->pretty_index);
}

void elf_table_free(struct elf_table *table)
{
	if (!table)
		return;
	clear_pretty(table);
	elf_symbols_free(table->symbols);
	free(table);
}

void elf_table_drop_names(struct elf_table *table, uint64_t now_ns)
{
	clear_pretty(table);
	elf_symbols_drop_names(table->symbols);
	table->has_names = false;
	table->dropped_ns = now_ns;
}

size_t elf_table_bytes(const struct elf_table *table)
{
	return sizeof(*table) + elf_symbols_bytes(table->symbols) + table->pretty_bytes +
	       table->cap_pretty * sizeof(*table->pretty) +
	       table->pretty_index.nr_slots * sizeof(struct htable_slot);
}

static const char *find_pretty(const struct elf_table *table, uint64_t address)
{
	struct htable_iter it = htable_lookup(&table->pretty_index, hash_u64(address));

	for (uint32_t row; htable_next(&it, &row);)
		if (table->pretty[row].address == address)
			return table->pretty[row].name;
	return NULL;
}

static int add_pretty(struct elf_table *table, const struct elf_symbol *symbol,
		      size_t max_pretty_bytes, const char **ret_name)
{
	_cleanup_free_ char *name = demangle(symbol->name, DEMANGLE_SHORT);

	if (!name)
		return -ENOMEM;

	size_t bytes = strlen(name) + 1 + MALLOC_OVERHEAD;
	if (table->pretty_bytes + bytes > max_pretty_bytes)
		clear_pretty(table);

	int r = array_grow(table->pretty, table->cap_pretty, table->nr_pretty + 1, UINT32_MAX);
	if (r < 0)
		return r;
	r = htable_add(&table->pretty_index, hash_u64(symbol->address), (uint32_t)table->nr_pretty);
	if (r < 0)
		return r;
	*ret_name = name;
	table->pretty_bytes += bytes;
	table->pretty[table->nr_pretty++] = (struct pretty_name){
		.address = symbol->address,
		.name = take_ptr(name),
	};
	return 0;
}

int elf_table_symbolize(struct elf_table *table, uint64_t file_offset, size_t max_pretty_bytes,
			struct elf_frame *ret_frame)
{
	struct elf_symbol symbol;

	*ret_frame = (struct elf_frame){ .address = file_offset };
	if (elf_symbols_address_of(table->symbols, file_offset, &ret_frame->address) < 0)
		return -ENOENT;

	int r = elf_symbols_find(table->symbols, ret_frame->address, &symbol);
	if (r < 0)
		return r;

	const char *name = symbol.name;
	if (demangle_is_candidate(name))
		name = find_pretty(table, symbol.address);
	if (!name)
		r = add_pretty(table, &symbol, max_pretty_bytes, &name);
	if (r < 0)
		return r;
	ret_frame->name = name;
	ret_frame->system_name = symbol.name;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/hotspot/vm_structs.h"

#include "base/cleanup.h"
#include "runtime/hotspot/memory_pages.h"

#include <stdbool.h>
#include <string.h>

#define MAX_ENTRIES 4096 /* in a table; JDK 11 has the most, 838 and 752 */
#define MAX_STRIDE 256
#define NAME_BYTES 64 /* longer names are none that are looked for */

struct wanted {
	const char *type;
	const char *field; /* NULL: the size of the type */
};

static const struct wanted wanted_values[VM_NR_VALUES] = {
#define X(NAME, type, field) [VM_##NAME] = { type, field },
	VM_FIELDS(X)
#undef X
#define X(NAME, type) [VM_SIZE_##NAME] = { type, NULL },
		VM_TYPES(X)
#undef X
};

/* One of the two tables. */
struct table {
	struct memory_pages *pages; /* borrowed */
	const uint64_t *symbols; /* their values, by enum vm_symbol */
	uint64_t entry; /* address */
	struct vm_structs *structs; /* borrowed; what was found */
};

/* Reads the string that a pointer in the entry points to. Returns 0 if the pointer is NULL, else
 * 1. A string that is too long becomes "". */
static int read_name(const struct table *table, enum vm_symbol place, char to[static NAME_BYTES])
{
	uint64_t address;
	int r = memory_pages_read_u64(table->pages, table->entry + table->symbols[place], &address);

	if (r < 0)
		return r;
	if (address == 0)
		return 0;
	r = memory_pages_read_string(table->pages, address, to, NAME_BYTES);
	if (r == -EBADMSG)
		to[0] = '\0';
	else if (r < 0)
		return r;
	return 1;
}

/* Returns VM_NR_VALUES if it is none that is looked for. */
static enum vm_value find_wanted(const char *type, const char *field)
{
	for (unsigned int i = 0; i < VM_NR_VALUES; i++) {
		const struct wanted *wanted = &wanted_values[i];

		if (strcmp(type, wanted->type) == 0 && !field == !wanted->field &&
		    (!field || strcmp(field, wanted->field) == 0))
			return i;
	}
	return VM_NR_VALUES;
}

static bool is_type_wanted(const char *type)
{
	for (unsigned int i = 0; i < VM_NR_VALUES; i++)
		if (strcmp(type, wanted_values[i].type) == 0)
			return true;
	return false;
}

static uint8_t bytes_of_type(const char *type)
{
	static const char *const short_types[] = { "u2", "int16_t", "uint16_t", "jshort",
						   "unsigned short" };

	for (size_t i = 0; i < array_len(short_types); i++)
		if (strcmp(type, short_types[i]) == 0)
			return 2;
	return strcmp(type, "int") == 0 || strcmp(type, "u4") == 0 ? 4 : 8;
}

/* Keeps the value of the entry's field. */
static int keep_field(const struct table *table, enum vm_value value)
{
	uint32_t is_static;
	uint64_t place, number;
	char type[NAME_BYTES] = "";
	int r = memory_pages_read(table->pages,
				  table->entry + table->symbols[VM_SYMBOL_STRUCT_IS_STATIC],
				  &is_static, sizeof(is_static));

	if (r < 0)
		return r;
	place = table->symbols[is_static ? VM_SYMBOL_STRUCT_ADDRESS : VM_SYMBOL_STRUCT_OFFSET];
	r = memory_pages_read_u64(table->pages, table->entry + place, &number);
	if (r == 0)
		r = read_name(table, VM_SYMBOL_STRUCT_FIELD_TYPE, type);
	if (r < 0)
		return r;
	table->structs->values[value] = number;
	table->structs->bytes[value] = bytes_of_type(type);
	return 0;
}

/* Returns 0 at the end of the table, else 1. */
static int read_struct(const struct table *table)
{
	char type[NAME_BYTES] = "", field[NAME_BYTES] = "";
	enum vm_value value;
	int r = read_name(table, VM_SYMBOL_STRUCT_TYPE_NAME, type);

	if (r <= 0 || !is_type_wanted(type))
		return r;
	r = read_name(table, VM_SYMBOL_STRUCT_FIELD_NAME, field);
	if (r < 0)
		return r;
	value = find_wanted(type, field);
	if (value == VM_NR_VALUES)
		return 1;
	r = keep_field(table, value);
	return r < 0 ? r : 1;
}

static int read_type(const struct table *table)
{
	char type[NAME_BYTES] = "";
	enum vm_value value;
	int r = read_name(table, VM_SYMBOL_TYPE_NAME, type);

	if (r <= 0)
		return r;
	value = find_wanted(type, NULL);
	if (value == VM_NR_VALUES)
		return 1;
	r = memory_pages_read_u64(table->pages, table->entry + table->symbols[VM_SYMBOL_TYPE_SIZE],
				  &table->structs->values[value]);
	return r < 0 ? r : 1;
}

static int read_table(struct table *table, enum vm_symbol first, enum vm_symbol stride,
		      int (*read_entry)(const struct table *table))
{
	table->entry = table->symbols[first];
	for (unsigned int i = 0; i < MAX_ENTRIES; i++) {
		int r = read_entry(table);

		if (r <= 0)
			return r;
		table->entry += table->symbols[stride];
	}
	return -EBADMSG;
}

/* Reads the values of the symbols: pointers to tables, and offsets in their entries. */
static int read_symbols(struct memory_pages *pages, const uint64_t *symbols,
			uint64_t ret_values[static VM_NR_SYMBOLS])
{
	for (unsigned int i = 0; i < VM_NR_SYMBOLS; i++) {
		int r = memory_pages_read_u64(pages, symbols[i], &ret_values[i]);

		if (r < 0)
			return r;
		if (i != VM_SYMBOL_STRUCTS && i != VM_SYMBOL_TYPES && ret_values[i] > MAX_STRIDE)
			return -EBADMSG;
	}
	return 0;
}

int vm_structs_read(struct process_memory *memory, const uint64_t symbols[static VM_NR_SYMBOLS],
		    struct vm_structs *ret_structs)
{
	_cleanup_(memory_pages_done) struct memory_pages pages = { 0 };
	uint64_t values[VM_NR_SYMBOLS];
	struct vm_structs structs;
	struct table table = { .pages = &pages, .symbols = values, .structs = &structs };
	int r = memory_pages_init(&pages, memory);

	for (unsigned int i = 0; i < VM_NR_VALUES; i++) {
		structs.values[i] = VM_NONE;
		structs.bytes[i] = 8;
	}
	if (r == 0)
		r = read_symbols(&pages, symbols, values);
	if (r == 0)
		r = read_table(&table, VM_SYMBOL_STRUCTS, VM_SYMBOL_STRUCT_STRIDE, read_struct);
	if (r == 0)
		r = read_table(&table, VM_SYMBOL_TYPES, VM_SYMBOL_TYPE_STRIDE, read_type);
	if (r < 0)
		return r;
	*ret_structs = structs;
	return 0;
}

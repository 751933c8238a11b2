/* SPDX-License-Identifier: Apache-2.0 */
/* A table is three arrays: 12 bytes for each function, sorted by address; the names behind each other in
 * one block; and the executable segments. libLLVM's 35 thousand functions take 0.4 MB and
 * 2.5 MB of names.
 *
 * Functions may lie within functions (assembler code with sized labels). The one that starts last wins;
 * where it has already ended, those before it are asked, at most SEARCH_BACK of them. */
#include "symbol/elf_symbols.h"

#include "unwind/elf_reader.h"
#include "symbol/elf_symbol_list.h"

#include <stdlib.h>
#include <string.h>

#define SEARCH_BACK 32

struct function {
	uint32_t delta; /* address - base */
	uint32_t size; /* never 0 */
	uint32_t name; /* offset in `names` */
};

struct code_segment {
	uint64_t offset; /* in the file */
	uint64_t size; /* in the file */
	uint64_t address;
};

struct elf_symbols {
	uint64_t base;
	struct function *functions; /* owned, sorted by delta */
	size_t nr_functions;
	char *names; /* owned */
	size_t names_len;
	struct code_segment *segments; /* owned */
	size_t nr_segments;
	char build_id[2 * ELF_BUILD_ID_MAX + 1];
};

void elf_symbols_free(struct elf_symbols *symbols)
{
	if (!symbols)
		return;
	elf_symbols_drop_names(symbols);
	free(symbols->segments);
	free(symbols);
}

void elf_symbols_drop_names(struct elf_symbols *symbols)
{
	free(symbols->functions);
	free(symbols->names);
	symbols->functions = NULL;
	symbols->names = NULL;
	symbols->nr_functions = 0;
	symbols->names_len = 0;
}

static int copy_segments(struct elf_symbols *symbols, const struct elf_reader *reader)
{
	size_t nr = 0;

	for (size_t i = 0; i < reader->nr_segments; i++)
		nr += reader->segments[i].p_type == PT_LOAD && reader->segments[i].p_flags & PF_X;
	if (nr == 0)
		return 0;

	symbols->segments = calloc(nr, sizeof(*symbols->segments));
	if (!symbols->segments)
		return -ENOMEM;
	for (size_t i = 0; i < reader->nr_segments; i++) {
		const GElf_Phdr *segment = &reader->segments[i];

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X)
			symbols->segments[symbols->nr_segments++] = (struct code_segment){
				.offset = segment->p_offset,
				.size = segment->p_filesz,
				.address = segment->p_vaddr,
			};
	}
	return 0;
}

static size_t count_name_bytes(const struct elf_symbol_list *list)
{
	size_t bytes = 0;

	for (size_t i = 0; i < list->nr_symbols; i++)
		bytes += (size_t)list->symbols[i].name_len + 1;
	return bytes;
}

/* Moves the sealed list into the table's compact form. */
static int copy_functions(struct elf_symbols *symbols, const struct elf_symbol_list *list)
{
	size_t names_bytes = count_name_bytes(list);

	if (names_bytes > list->max_bytes || names_bytes > UINT32_MAX ||
	    list->nr_symbols > (list->max_bytes - names_bytes) / sizeof(struct function))
		return -ENOSPC;
	if (list->nr_symbols == 0)
		return 0;

	symbols->functions = calloc(list->nr_symbols, sizeof(*symbols->functions));
	symbols->names = malloc(names_bytes);
	if (!symbols->functions || !symbols->names)
		return -ENOMEM;
	symbols->base = list->base;
	for (size_t i = 0; i < list->nr_symbols; i++) {
		const struct elf_listed_symbol *from = &list->symbols[i];

		symbols->functions[i] = (struct function){
			.delta = from->delta,
			.size = from->size,
			.name = (uint32_t)symbols->names_len,
		};
		memcpy(symbols->names + symbols->names_len, elf_symbol_list_name(list, from),
		       from->name_len);
		symbols->names_len += from->name_len;
		symbols->names[symbols->names_len++] = '\0';
	}
	symbols->nr_functions = list->nr_symbols;
	return 0;
}

static int load_functions(struct elf_symbols *symbols, struct elf_reader *reader, size_t max_bytes)
{
	_cleanup_(elf_symbol_list_done) struct elf_symbol_list list = { 0 };

	int r = elf_symbol_list_init(&list, reader, max_bytes);
	if (r < 0)
		return r;

	r = elf_symbol_list_add_table(&list, reader, SHT_SYMTAB);
	if (r < 0)
		return r;

	r = elf_symbol_list_add_table(&list, reader, SHT_DYNSYM);
	if (r < 0)
		return r;
	elf_symbol_list_seal(&list);
	return copy_functions(symbols, &list);
}

int elf_symbols_load(int fd, size_t max_bytes, struct elf_symbols **ret_symbols)
{
	_cleanup_(elf_reader_done) struct elf_reader reader = { .fd = -EBADF };
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;

	int r = elf_reader_init(&reader, fd);
	if (r < 0)
		return r;
	symbols = calloc(1, sizeof(*symbols));
	if (!symbols)
		return -ENOMEM;
	elf_reader_build_id(&reader, symbols->build_id);

	r = copy_segments(symbols, &reader);
	if (r < 0)
		return r;

	r = load_functions(symbols, &reader, max_bytes);
	if (r < 0)
		return r;
	*ret_symbols = take_ptr(symbols);
	return 0;
}

int elf_symbols_address_of(const struct elf_symbols *symbols, uint64_t file_offset,
			   uint64_t *ret_address)
{
	for (size_t i = 0; i < symbols->nr_segments; i++) {
		const struct code_segment *segment = &symbols->segments[i];

		if (file_offset >= segment->offset &&
		    file_offset - segment->offset < segment->size) {
			*ret_address = segment->address + (file_offset - segment->offset);
			return 0;
		}
	}
	return -ENOENT;
}

/* How many functions start at or below a delta. */
static size_t count_up_to(const struct elf_symbols *symbols, uint32_t delta)
{
	size_t low = 0;
	size_t high = symbols->nr_functions;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->functions[middle].delta <= delta)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int elf_symbols_find(const struct elf_symbols *symbols, uint64_t address,
		     struct elf_symbol *ret_symbol)
{
	uint64_t delta = address - symbols->base;

	if (address < symbols->base || delta >= UINT32_MAX)
		return -ENOENT;

	size_t last = count_up_to(symbols, (uint32_t)delta);
	for (size_t i = last; i > 0 && last - i < SEARCH_BACK; i--) {
		const struct function *function = &symbols->functions[i - 1];

		if (delta - function->delta < function->size) {
			*ret_symbol = (struct elf_symbol){
				.name = symbols->names + function->name,
				.address = symbols->base + function->delta,
				.size = function->size,
			};
			return 0;
		}
	}
	return -ENOENT;
}

const char *elf_symbols_build_id(const struct elf_symbols *symbols)
{
	return symbols->build_id;
}

size_t elf_symbols_bytes(const struct elf_symbols *symbols)
{
	return sizeof(*symbols) + symbols->nr_functions * sizeof(struct function) +
	       symbols->names_len + symbols->nr_segments * sizeof(struct code_segment);
}

size_t elf_symbols_count(const struct elf_symbols *symbols)
{
	return symbols->nr_functions;
}

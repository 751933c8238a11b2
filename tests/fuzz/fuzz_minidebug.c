/* SPDX-License-Identifier: Apache-2.0 */
/* The content of a section .gnu_debugdata. As checksums keep a fuzzer out of what is compressed,
 * input that is no xz stream stands for what comes out of one. */
#include "base/cleanup.h"
#include "symbol/elf/elf_symbol_table.h"
#include "symbol/elf/minidebug.h"

#include <string.h>

#define MAX_BYTES ((size_t)4 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void list_symbols(struct elf_reader *reader)
{
	_cleanup_(elf_symbol_list_done) struct elf_symbol_list list = { 0 };
	struct elf_symbol_table table;

	if (elf_symbol_table_find(reader, SHT_SYMTAB, &table) < 0 ||
	    elf_symbol_list_init(&list, reader, MAX_BYTES) < 0 ||
	    elf_symbol_table_list(&table, reader, /* has_labels */ true, &list) < 0)
		return;
	elf_symbol_list_seal(&list);
	for (size_t i = 0; i < list.nr_symbols; i++)
		if (list.symbols[i].size == 0 ||
		    memchr(elf_symbol_list_name(&list, &list.symbols[i]), '\0',
			   list.symbols[i].name_len))
			abort();
}

static void read_stream(char *data, size_t size)
{
	const struct elf_reader file = { .fd = -EBADF, .image = data, .size = size };
	const GElf_Shdr section = { .sh_size = size };
	struct minidebug minidebug = { 0 };

	if (minidebug_open(&minidebug, &file, &section, MAX_BYTES) == 0)
		list_symbols(&minidebug.reader);
	minidebug_close(&minidebug);
}

static void read_content(const char *data, size_t size)
{
	_cleanup_(elf_reader_done) struct elf_reader reader = { .fd = -EBADF };

	if (elf_reader_init_bytes(&reader, data, size) == 0)
		list_symbols(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *copy = malloc(size + 1); /* aligned */

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (size > 6 && memcmp(data, "\3757zXZ", 6) == 0)
		read_stream(copy, size);
	else
		read_content(copy, size);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Functions without a name. The call frame information (.eh_frame) of a stripped file still has the
 * beginning and end of each function, so that its addresses can be shown together.
 *
 * Cold parts, which compilers move elsewhere, have their own entries, and count as functions. */
#include "symbol/elf/symbol_source.h"

#include "symbol/elf/elf_block.h"
#include "unwind/cfi/cfi.h"
#include "unwind/rows/functions.h"

/* Chromium has 600 thousand functions in 25 MB. Functions beyond the limit are left out. */
#define MAX_FUNCTIONS ((size_t)1 << 20)
#define MAX_SECTION_BYTES ((size_t)64 << 20)

/* Returns the number of functions that the table has room for, beside those with names. */
static size_t get_room(const struct symbol_file *file)
{
	const struct elf_block_header header = {
		.nr_segments = (uint32_t)file->reader.nr_segments,
		.nr_functions = (uint32_t)file->list.nr_symbols,
		.names_len = (uint32_t)file->list.name_bytes,
	};
	uint64_t len = elf_block_len(&header);
	size_t room = len < file->max_bytes ? file->max_bytes - (size_t)len : 0;
	size_t nr = room / sizeof(struct elf_block_function);

	return nr < MAX_FUNCTIONS ? nr : MAX_FUNCTIONS;
}

bool symbol_source_find_eh_frame(struct elf_reader *reader, const struct elf_section_names *names,
				 GElf_Shdr *ret_section)
{
	const GElf_Shdr *section = elf_section_find(names, reader, ".eh_frame");

	if (reader->nr_sections == 0)
		return elf_sections_find_eh_frame(reader, ret_section);
	if (!section || section->sh_flags & SHF_COMPRESSED)
		return false;
	*ret_section = *section;
	return true;
}

static int list_section(struct cfi_section *section, struct unwind_functions *functions)
{
	_cleanup_(unwind_source_freep) struct unwind_source *source = NULL;
	struct unwind_losses losses = { 0 }; /* ignored: damaged entries are left out */

	int r = cfi_source_new(section, &source);
	return r < 0 ? r : source->ops->list(source, functions, &losses);
}

static int list_functions(struct symbol_file *file, const GElf_Shdr *header,
			  struct unwind_functions *functions)
{
	struct cfi_section section = {
		.len = (size_t)header->sh_size,
		.address = header->sh_addr,
	};

	if (header->sh_size > MAX_SECTION_BYTES || header->sh_size > file->max_bytes)
		return -ENOSPC;
	int r = elf_reader_bytes(&file->reader, header->sh_offset, header->sh_size, &section.data);
	return r < 0 ? r : list_section(&section, functions);
}

int symbol_source_cfi(struct symbol_file *file)
{
	_cleanup_(unwind_functions_done) struct unwind_functions functions = { 0 };
	GElf_Shdr section;

	if (!symbol_source_find_eh_frame(&file->reader, &file->section_names, &section))
		return 0;
	functions.max_items = get_room(file);
	int r = list_functions(file, &section, &functions);
	for (size_t i = 0; i < functions.nr_items && r == 0; i++)
		r = elf_symbol_list_add_nameless(&file->list, functions.items[i].start,
						 functions.items[i].end);
	return r;
}

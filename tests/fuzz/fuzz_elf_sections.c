/* SPDX-License-Identifier: Apache-2.0 */
/* Names of sections, and what is found by them, in an ELF file or the pieces
 * of one (sparse_input.h). */
#include "base/cleanup.h"
#include "sparse_input.h"
#include "unwind/file/elf_sections.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)16 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const wanted[] = { ".symtab", ".gnu_debugdata", ".plt", ".rela.plt", "" };

static void find_all(const struct elf_section_names *names, const struct elf_reader *reader)
{
	if (names->len > 0 && names->names[names->len] != '\0')
		abort();
	for (size_t i = 0; i < array_len(wanted); i++) {
		const GElf_Shdr *found = elf_section_find(names, reader, wanted[i]);

		if (found && strcmp(names->names + found->sh_name, wanted[i]) != 0)
			abort();
	}
}

static void load_all(struct elf_reader *reader, const struct elf_section_names *names)
{
	struct elf_sections sections = { .max_bytes = MAX_BYTES };

	if (elf_sections_load(&sections, reader, names) == 0 &&
	    elf_sections_load_debug_frame(&sections, reader, names) == 0)
		elf_sections_have_functions(&sections, 1000);
	if (sections.nr_items > ELF_MAX_UNWIND_SECTIONS || sections.nr_bytes > MAX_BYTES)
		abort();
	elf_sections_done(&sections);
	elf_sections_go_text(reader, names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(elf_section_names_done) struct elf_section_names names = { 0 };
	_cleanup_(elf_reader_done) struct elf_reader reader = { .fd = -EBADF };
	_cleanup_close_ int fd = sparse_input_open(data, size);

	if (fd < 0 || elf_reader_init(&reader, fd) < 0 ||
	    elf_section_names_load(&names, &reader) < 0)
		return 0;
	find_all(&names, &reader);
	load_all(&reader, &names);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the address where Go's code begins (runtime.text), from which .gopclntab counts since Go
 * 1.18. It is the beginning of .text only if no C code was linked before it. The address is in the
 * file as a pointer: as it is if the file was linked to a fixed address, else in the relocation of
 * that pointer.
 *
 *	Go 1.18 to 1.25    the header of .gopclntab, third word
 *	Go 1.26            runtime.moduledata, which is the section .go.module: its field `text` */
#include "elf/arch.h"
#include "unwind/file/elf_sections.h"

#define TEXT_IN_PCLNTAB 24
#define TEXT_IN_MODULE 176
#define RELOCATIONS_AT_ONCE 1024
#define MAX_RELOCATION_BYTES ((uint64_t)64 << 20) /* of a table */

static bool read_relocations(const struct elf_reader *reader, const GElf_Shdr *section,
			     uint64_t address, uint64_t *ret_value)
{
	_cleanup_free_ Elf64_Rela *relocations = calloc(RELOCATIONS_AT_ONCE, sizeof(*relocations));
	uint64_t nr = section->sh_size / sizeof(*relocations);

	if (!relocations || section->sh_size > MAX_RELOCATION_BYTES)
		return false;
	for (uint64_t first = 0; first < nr; first += RELOCATIONS_AT_ONCE) {
		size_t left = nr - first < RELOCATIONS_AT_ONCE ? (size_t)(nr - first)
							       : RELOCATIONS_AT_ONCE;

		if (elf_reader_read(reader, section->sh_offset + first * sizeof(*relocations),
				    relocations, left * sizeof(*relocations)) < 0)
			return false;
		for (size_t i = 0; i < left; i++) {
			if (relocations[i].r_offset != address ||
			    ELF64_R_TYPE(relocations[i].r_info) != ARCH_ELF_RELATIVE)
				continue;
			*ret_value = (uint64_t)relocations[i].r_addend;
			return true;
		}
	}
	return false;
}

/* Returns the value that a pointer in a section has when the program runs at the addresses of
 * its program headers; 0 if it is not known. */
static uint64_t read_pointer(const struct elf_reader *reader, const GElf_Shdr *section,
			     uint64_t offset)
{
	enum { MAX_TABLES = 4 };
	size_t nr_tables = 0;
	uint64_t value = 0;

	if (section->sh_size < offset + sizeof(value) ||
	    elf_reader_read(reader, section->sh_offset + offset, &value, sizeof(value)) < 0)
		return 0;
	for (size_t i = 0; i < reader->nr_sections && value == 0 && nr_tables < MAX_TABLES; i++) {
		if (reader->sections[i].sh_type != SHT_RELA)
			continue;
		nr_tables++;
		if (read_relocations(reader, &reader->sections[i], section->sh_addr + offset,
				     &value))
			break;
	}
	return value;
}

uint64_t elf_sections_go_text(struct elf_reader *reader, const struct elf_section_names *names)
{
	static const struct {
		const char *name;
		uint64_t offset;
	} pointers[] = {
		{ ".go.module", TEXT_IN_MODULE },
		{ ".gopclntab", TEXT_IN_PCLNTAB },
		{ ".data.rel.ro.gopclntab", TEXT_IN_PCLNTAB },
	};
	const GElf_Shdr *text = elf_section_find(names, reader, ".text");

	for (size_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
		const GElf_Shdr *section = elf_section_find(names, reader, pointers[i].name);
		uint64_t address = section ? read_pointer(reader, section, pointers[i].offset) : 0;

		if (address > 0)
			return address;
	}
	return text ? text->sh_addr : 0;
}

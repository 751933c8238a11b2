/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/elf_dynamic_section.h"

#define MAX_DYNAMIC_BYTES ((uint64_t)64 << 10)

static const GElf_Phdr *find_dynamic(const struct elf_reader *reader)
{
	for (size_t i = 0; i < reader->nr_segments; i++)
		if (reader->segments[i].p_type == PT_DYNAMIC)
			return &reader->segments[i];
	return NULL;
}

int elf_dynamic_section_read(struct elf_reader *reader, struct elf_dynamic_section *ret_section)
{
	const GElf_Phdr *segment = find_dynamic(reader);
	struct elf_dynamic_section section = { 0 };
	GElf_Dyn entry;
	Elf_Data *data;

	if (!segment)
		return -ENOENT;
	if (segment->p_filesz > MAX_DYNAMIC_BYTES)
		return -ENOSPC;

	int r = elf_reader_data(reader, segment->p_offset, segment->p_filesz, ELF_T_DYN, &data);
	if (r < 0)
		return r;
	for (int i = 0; gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
		if (entry.d_tag == DT_SYMTAB)
			section.symbols = entry.d_un.d_ptr;
		else if (entry.d_tag == DT_STRTAB)
			section.strings = entry.d_un.d_ptr;
		else if (entry.d_tag == DT_STRSZ)
			section.strings_bytes = entry.d_un.d_val;
		else if (entry.d_tag == DT_HASH)
			section.hash = entry.d_un.d_ptr;
		else if (entry.d_tag == DT_GNU_HASH)
			section.gnu_hash = entry.d_un.d_ptr;
	}
	*ret_section = section;
	return 0;
}

int elf_dynamic_section_find_offset(const struct elf_reader *reader, uint64_t address, uint64_t len,
				    uint64_t *ret_offset)
{
	for (size_t i = 0; i < reader->nr_segments; i++) {
		const GElf_Phdr *segment = &reader->segments[i];
		uint64_t skipped = address - segment->p_vaddr;

		if (segment->p_type != PT_LOAD || skipped >= segment->p_filesz ||
		    len > segment->p_filesz - skipped)
			continue;
		if (segment->p_offset > reader->size ||
		    segment->p_filesz > reader->size - segment->p_offset)
			return -EBADMSG;
		*ret_offset = segment->p_offset + skipped;
		return 0;
	}
	return -EBADMSG;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The build id is a note: name "GNU", type NT_GNU_BUILD_ID, the id as its descriptor. Notes lie one behind
 * the other; name and descriptor are padded to the alignment, which is 4 except in segments that say 8:
 * libelf must be told. */
#include "unwind/elf_reader.h"

#include "base/cleanup.h"

#include <string.h>

struct note_range {
	uint64_t offset;
	uint64_t size;
	uint64_t align;
};

void elf_build_id_to_hex(const uint8_t *bytes, size_t len,
			 char ret_hex[static 2 * ELF_BUILD_ID_MAX + 1])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		*ret_hex++ = digits[bytes[i] >> 4];
		*ret_hex++ = digits[bytes[i] & 15];
	}
	*ret_hex = '\0';
}

static bool is_build_id(const char *notes, const GElf_Nhdr *note, size_t name)
{
	return note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof("GNU") &&
	       memcmp(notes + name, "GNU", sizeof("GNU")) == 0 && note->n_descsz > 0 &&
	       note->n_descsz <= ELF_BUILD_ID_MAX;
}

static bool search_range(struct elf_reader *reader, struct note_range range, char *ret_hex)
{
	Elf_Data *data;
	GElf_Nhdr note;
	size_t name;
	size_t desc;

	/* libelf makes a copy if the alignment is not as it should be. */
	if (range.size == 0 || range.size > ELF_MAX_NOTE_BYTES ||
	    elf_budget_take(reader->budget, range.size) < 0 ||
	    elf_reader_data(reader, range.offset, range.size,
			    range.align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR, &data) < 0)
		return false;

	const char *notes = data->d_buf;
	for (size_t pos = 0; (pos = gelf_getnote(data, pos, &note, &name, &desc)) > 0;) {
		if (is_build_id(notes, &note, name)) {
			elf_build_id_to_hex((const uint8_t *)notes + desc, note.n_descsz, ret_hex);
			return true;
		}
	}
	return false;
}

static bool search_segments(struct elf_reader *reader, size_t max_ranges, char *ret_hex)
{
	for (size_t i = 0; i < reader->nr_segments && max_ranges > 0; i++) {
		const GElf_Phdr *segment = &reader->segments[i];
		struct note_range range = { segment->p_offset, segment->p_filesz,
					    segment->p_align };

		if (segment->p_type != PT_NOTE)
			continue;
		max_ranges--;
		if (search_range(reader, range, ret_hex))
			return true;
	}
	return false;
}

static bool search_sections(struct elf_reader *reader, size_t max_ranges, char *ret_hex)
{
	for (size_t i = 0; i < reader->nr_sections && max_ranges > 0; i++) {
		const GElf_Shdr *section = &reader->sections[i];
		struct note_range range = { section->sh_offset, section->sh_size,
					    section->sh_addralign };

		if (section->sh_type != SHT_NOTE)
			continue;
		max_ranges--;
		if (search_range(reader, range, ret_hex))
			return true;
	}
	return false;
}

void elf_reader_build_id(struct elf_reader *reader, char ret_hex[static 2 * ELF_BUILD_ID_MAX + 1])
{
	enum { MAX_RANGES = 64 };

	ret_hex[0] = '\0';
	if (!search_segments(reader, MAX_RANGES, ret_hex))
		(void)search_sections(reader, MAX_RANGES, ret_hex);
}

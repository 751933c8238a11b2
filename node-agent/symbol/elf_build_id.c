/* SPDX-License-Identifier: Apache-2.0 */
/* The build id is a note: name "GNU", type NT_GNU_BUILD_ID, the id as its descriptor. Notes lie one behind
 * the other; name and descriptor are padded to the alignment, which is 4 except in segments that say 8. */
#include "symbol/elf_reader.h"

#include "base/cleanup.h"

#include <string.h>

struct note_range {
	uint64_t offset;
	uint64_t size;
	uint64_t align;
};

static void encode_hex(const unsigned char *bytes, size_t len, char *ret_hex)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		*ret_hex++ = digits[bytes[i] >> 4];
		*ret_hex++ = digits[bytes[i] & 15];
	}
	*ret_hex = '\0';
}

static size_t pad(size_t len, size_t align)
{
	return (len + align - 1) & ~(align - 1);
}

/* Whether a note of the text is a build id. The lengths in a note are 32 bits, so that sums of them do
 * not overflow. */
static bool find_build_id(const unsigned char *notes, size_t len, size_t align, char *ret_hex)
{
	Elf64_Nhdr note;

	for (size_t pos = 0; pos < len && len - pos >= sizeof(note);) {
		memcpy(&note, notes + pos, sizeof(note));
		size_t name = pos + sizeof(note);
		size_t desc = pos + pad(sizeof(note) + note.n_namesz, align);

		if (desc > len || note.n_descsz > len - desc)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
		    memcmp(notes + name, "GNU", sizeof("GNU")) == 0 && note.n_descsz > 0 &&
		    note.n_descsz <= ELF_BUILD_ID_MAX) {
			encode_hex(notes + desc, note.n_descsz, ret_hex);
			return true;
		}
		pos = desc + pad(note.n_descsz, align);
	}
	return false;
}

static bool search_range(const struct elf_reader *reader, struct note_range range, char *ret_hex)
{
	if (range.size == 0 || range.size > ELF_MAX_NOTE_BYTES)
		return false;

	_cleanup_free_ unsigned char *notes = malloc((size_t)range.size);
	if (!notes || elf_reader_read(reader, range.offset, notes, (size_t)range.size) < 0)
		return false;
	return find_build_id(notes, (size_t)range.size, range.align == 8 ? 8 : 4, ret_hex);
}

static bool search_segments(const struct elf_reader *reader, size_t max_ranges, char *ret_hex)
{
	for (size_t i = 0; i < reader->nr_segments && max_ranges > 0; i++) {
		const Elf64_Phdr *segment = &reader->segments[i];
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

static bool search_sections(const struct elf_reader *reader, size_t max_ranges, char *ret_hex)
{
	for (size_t i = 0; i < reader->nr_sections && max_ranges > 0; i++) {
		const Elf64_Shdr *section = &reader->sections[i];
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

void elf_reader_build_id(const struct elf_reader *reader,
			 char ret_hex[static 2 * ELF_BUILD_ID_MAX + 1])
{
	enum { MAX_RANGES = 64 };

	ret_hex[0] = '\0';
	if (!search_segments(reader, MAX_RANGES, ret_hex))
		(void)search_sections(reader, MAX_RANGES, ret_hex);
}

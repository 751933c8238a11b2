/* SPDX-License-Identifier: Apache-2.0 */
/* Build ids are notes. GNU's note has the name "GNU" and the bytes of the id; Go's has the name
 * "Go" and a text. Notes follow each other. Name and descriptor are padded to the alignment, which
 * is 4 unless the segment says 8; libelf has a type for each. */
#include "elf/elf_reader.h"

#include "base/hex.h"

#include <assert.h>
#include <string.h>

struct note_range {
	uint64_t offset;
	uint64_t size;
	uint64_t align;
};

void elf_build_id_to_hex(const uint8_t *bytes, size_t len,
			 char ret_hex[static 2 * ELF_BUILD_ID_MAX + 1])
{
	hex_put(ret_hex, bytes, len);
	ret_hex[2 * len] = '\0';
}

/* Describes the notes of one kind. */
struct note_kind {
	const char *name;
	size_t name_len; /* as in the note: with the NUL, and Go's padding */
	uint32_t type;
	size_t max_bytes;
};

#define NT_GO_BUILD_ID 4
#define MAX_RANGES 64 /* that are searched: of segments, and again of sections */

static const struct note_kind gnu_note = { "GNU", 4, NT_GNU_BUILD_ID, ELF_BUILD_ID_MAX };
static const struct note_kind go_note = { "Go\0", 4, NT_GO_BUILD_ID, ELF_GO_BUILD_ID_MAX };

struct found_note {
	uint8_t bytes[ELF_GO_BUILD_ID_MAX];
	size_t len;
};

static_assert(ELF_BUILD_ID_MAX <= ELF_GO_BUILD_ID_MAX, "no room for GNU's");

static bool is_kind(const char *notes, const GElf_Nhdr *note, size_t name,
		    const struct note_kind *kind)
{
	return note->n_type == kind->type && note->n_namesz == kind->name_len &&
	       memcmp(notes + name, kind->name, kind->name_len) == 0 && note->n_descsz > 0 &&
	       note->n_descsz <= kind->max_bytes;
}

static bool search_range(struct elf_reader *reader, struct note_range range,
			 const struct note_kind *kind, struct found_note *ret_found)
{
	Elf_Data *data;
	GElf_Nhdr note;
	size_t name;
	size_t desc;

	/* The budget is charged because libelf copies data with a wrong alignment. */
	if (range.size == 0 || range.size > ELF_MAX_NOTE_BYTES ||
	    elf_budget_take(reader->budget, range.size) < 0 ||
	    elf_reader_data(reader, range.offset, range.size,
			    range.align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR, &data) < 0)
		return false;

	const char *notes = data->d_buf;
	for (size_t pos = 0; (pos = gelf_getnote(data, pos, &note, &name, &desc)) > 0;) {
		if (is_kind(notes, &note, name, kind)) {
			memcpy(ret_found->bytes, notes + desc, note.n_descsz);
			ret_found->len = note.n_descsz;
			return true;
		}
	}
	return false;
}

/* The range of a segment, or of a section if `index` is behind the segments. Returns
 * false if it has no notes. */
static bool get_range(const struct elf_reader *reader, size_t index, struct note_range *ret_range)
{
	if (index < reader->nr_segments) {
		const GElf_Phdr *segment = &reader->segments[index];

		*ret_range = (struct note_range){ segment->p_offset, segment->p_filesz,
						  segment->p_align };
		return segment->p_type == PT_NOTE;
	}
	const GElf_Shdr *section = &reader->sections[index - reader->nr_segments];

	*ret_range = (struct note_range){ section->sh_offset, section->sh_size,
					  section->sh_addralign };
	return section->sh_type == SHT_NOTE;
}

static bool search_ranges(struct elf_reader *reader, size_t first, size_t nr,
			  const struct note_kind *kind, struct found_note *ret_found)
{
	size_t nr_searched = 0;

	for (size_t i = first; i < first + nr && nr_searched < MAX_RANGES; i++) {
		struct note_range range;

		if (!get_range(reader, i, &range))
			continue;
		nr_searched++;
		if (search_range(reader, range, kind, ret_found))
			return true;
	}
	return false;
}

static bool find_note(struct elf_reader *reader, const struct note_kind *kind,
		      struct found_note *ret_found)
{
	return search_ranges(reader, 0, reader->nr_segments, kind, ret_found) ||
	       search_ranges(reader, reader->nr_segments, reader->nr_sections, kind, ret_found);
}

void elf_reader_build_id(struct elf_reader *reader, char ret_hex[static 2 * ELF_BUILD_ID_MAX + 1])
{
	struct found_note found;

	ret_hex[0] = '\0';
	if (find_note(reader, &gnu_note, &found))
		elf_build_id_to_hex(found.bytes, found.len, ret_hex);
}

bool elf_go_build_id_is_sound(const char *text, size_t max)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789/_-";
	size_t len = strnlen(text, max + 1);

	return len <= max && strspn(text, allowed) == len;
}

void elf_reader_go_build_id(struct elf_reader *reader,
			    char ret_text[static ELF_GO_BUILD_ID_MAX + 1])
{
	struct found_note found = { .len = 0 };
	char text[ELF_GO_BUILD_ID_MAX + 1] = "";

	if (find_note(reader, &go_note, &found))
		memcpy(text, found.bytes, found.len);
	if (strlen(text) != found.len || !elf_go_build_id_is_sound(text, ELF_GO_BUILD_ID_MAX))
		text[0] = '\0';
	memcpy(ret_text, text, sizeof(text));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Build ids are notes: GNU's has the name "GNU" and the id as its descriptor, Go's the name "Go"
 * and text. Notes lie one behind the other; name and descriptor are padded to the alignment,
 * which is 4 except in segments that say 8: libelf must be told. */
#include "elf/elf_reader.h"

#include "base/cleanup.h"
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

/* What is looked for. */
struct note_kind {
	const char *name;
	size_t name_len; /* as the note has it: with its end, and Go's padding */
	uint32_t type;
	size_t max_bytes;
};

#define NT_GO_BUILD_ID 4

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

	/* libelf makes a copy if the alignment is not as it should be. */
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

static bool search_segments(struct elf_reader *reader, size_t max_ranges,
			    const struct note_kind *kind, struct found_note *ret_found)
{
	for (size_t i = 0; i < reader->nr_segments && max_ranges > 0; i++) {
		const GElf_Phdr *segment = &reader->segments[i];
		struct note_range range = { segment->p_offset, segment->p_filesz,
					    segment->p_align };

		if (segment->p_type != PT_NOTE)
			continue;
		max_ranges--;
		if (search_range(reader, range, kind, ret_found))
			return true;
	}
	return false;
}

static bool search_sections(struct elf_reader *reader, size_t max_ranges,
			    const struct note_kind *kind, struct found_note *ret_found)
{
	for (size_t i = 0; i < reader->nr_sections && max_ranges > 0; i++) {
		const GElf_Shdr *section = &reader->sections[i];
		struct note_range range = { section->sh_offset, section->sh_size,
					    section->sh_addralign };

		if (section->sh_type != SHT_NOTE)
			continue;
		max_ranges--;
		if (search_range(reader, range, kind, ret_found))
			return true;
	}
	return false;
}

static bool find_note(struct elf_reader *reader, const struct note_kind *kind,
		      struct found_note *ret_found)
{
	enum { MAX_RANGES = 64 };

	return search_segments(reader, MAX_RANGES, kind, ret_found) ||
	       search_sections(reader, MAX_RANGES, kind, ret_found);
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/file/elf_sections.h"

#include "elf/arch.h"
#include "unwind/cfi/cfi.h"
#include "unwind/cfi/cfi_entry.h"

#include <string.h>
#include <zlib.h>

#define EH_FRAME_HDR_BYTES 12 /* of which are read */
#define ZDEBUG_HEADER_BYTES 12 /* "ZLIB", then the size as 8 bytes, the highest first */

/* Compressed .debug_frame of compilers is a quarter of its size, or a tenth; zlib's streams
 * could become 1032 times as long. */
#define MAX_RATIO 64

int elf_section_names_load(struct elf_section_names *names, struct elf_reader *reader)
{
	_cleanup_free_ char *text = NULL;
	size_t index;

	*names = (struct elf_section_names){ 0 };
	if (reader->nr_sections == 0 || elf_getshdrstrndx(reader->elf, &index) < 0 ||
	    index >= reader->nr_sections)
		return 0;

	const GElf_Shdr *section = &reader->sections[index];
	if (section->sh_type != SHT_STRTAB || section->sh_size == 0)
		return 0;
	if (section->sh_size > ELF_MAX_SECTION_NAMES)
		return -ENOSPC;

	int r = elf_budget_take(reader->budget, section->sh_size);
	if (r < 0)
		return r;
	text = malloc((size_t)section->sh_size + 1);
	if (!text)
		return -ENOMEM;
	r = elf_reader_read(reader, section->sh_offset, text, (size_t)section->sh_size);
	if (r < 0)
		return r;
	text[section->sh_size] = '\0';
	*names = (struct elf_section_names){ take_ptr(text), (size_t)section->sh_size,
					     reader->budget };
	return 0;
}

void elf_section_names_done(struct elf_section_names *names)
{
	free(names->names);
	elf_budget_give(names->budget, names->len);
	*names = (struct elf_section_names){ 0 };
}

static bool has_name(const struct elf_section_names *names, const GElf_Shdr *section,
		     const char *name)
{
	return section->sh_name < names->len && strcmp(names->names + section->sh_name, name) == 0;
}

static bool has_content(const GElf_Shdr *section)
{
	return section->sh_type != SHT_NULL && section->sh_type != SHT_NOBITS &&
	       section->sh_size > 0;
}

const GElf_Shdr *elf_section_find(const struct elf_section_names *names,
				  const struct elf_reader *reader, const char *name)
{
	for (size_t i = 0; i < reader->nr_sections; i++)
		if (has_content(&reader->sections[i]) &&
		    has_name(names, &reader->sections[i], name))
			return &reader->sections[i];
	return NULL;
}

static int add_item(struct elf_sections *sections, const struct elf_unwind_section *item)
{
	if (sections->nr_items == ELF_MAX_UNWIND_SECTIONS)
		return -ENOSPC;
	sections->items[sections->nr_items++] = *item;
	return 0;
}

/* No linker writes two such sections at one place, and each would cost time again. */
static bool overlaps(const struct elf_sections *sections, const struct elf_reader *reader,
		     const GElf_Shdr *section)
{
	for (size_t i = 0; i < sections->nr_items; i++) {
		const struct elf_unwind_section *item = &sections->items[i];

		if (item->reader == reader &&
		    (section->sh_offset - item->offset < item->file_bytes ||
		     item->offset - section->sh_offset < section->sh_size))
			return true;
	}
	return false;
}

/* Reads the bytes of a section, as they are in the file. */
static int load_bytes(struct elf_sections *sections, struct elf_reader *reader,
		      const GElf_Shdr *section, const uint8_t **ret_data)
{
	if (section->sh_size > sections->max_bytes - sections->nr_bytes)
		return -ENOSPC;

	int r = elf_reader_bytes(reader, section->sh_offset, section->sh_size, ret_data);
	if (r == 0)
		sections->nr_bytes += (size_t)section->sh_size;
	return r;
}

static int add_section(struct elf_sections *sections, struct elf_reader *reader,
		       const GElf_Shdr *section, enum elf_section_kind kind)
{
	struct elf_unwind_section item = {
		.kind = kind,
		.len = (size_t)section->sh_size,
		.reader = reader,
		.offset = section->sh_offset,
		.file_bytes = section->sh_size,
		.address = section->sh_addr,
	};

	if (overlaps(sections, reader, section)) {
		sections->nr_overlapping++;
		return 0;
	}

	int r = load_bytes(sections, reader, section, &item.data);
	return r < 0 ? r : add_item(sections, &item);
}

static int inflate_to(uint8_t *out, size_t len, const uint8_t *data, size_t data_len)
{
	uLongf out_len = len;

	if (uncompress(out, &out_len, data, data_len) != Z_OK || out_len != len)
		return -EBADMSG;
	return 0;
}

static int add_compressed(struct elf_sections *sections, struct elf_budget *budget,
			  const uint8_t *data, size_t data_len, uint64_t len)
{
	_cleanup_free_ uint8_t *out = NULL;

	if (len == 0 || len / MAX_RATIO > data_len)
		return -EBADMSG;
	if (len > sections->max_bytes - sections->nr_bytes)
		return -ENOSPC;

	int r = elf_budget_take(budget, len);
	if (r < 0)
		return r;
	out = malloc((size_t)len);
	if (!out)
		return -ENOMEM;
	r = inflate_to(out, (size_t)len, data, data_len);
	if (r == 0)
		r = add_item(sections, &(struct elf_unwind_section){ .kind = ELF_DEBUG_FRAME,
								     .data = out,
								     .len = (size_t)len,
								     .owned = out });
	if (r < 0)
		return r;
	sections->nr_bytes += (size_t)len;
	out = NULL;
	return 0;
}

/* Adds a section compressed as the gABI says, with a header that has the type and the size. Types
 * other than zlib are left out. */
static int add_gabi_compressed(struct elf_sections *sections, struct elf_reader *reader,
			       const GElf_Shdr *section)
{
	Elf64_Chdr header;
	const uint8_t *data;

	int r = load_bytes(sections, reader, section, &data);
	if (r < 0)
		return r;
	if (section->sh_size < sizeof(header))
		return -EBADMSG;
	memcpy(&header, data, sizeof(header));
	if (header.ch_type != ELFCOMPRESS_ZLIB)
		return 0;
	return add_compressed(sections, reader->budget, data + sizeof(header),
			      section->sh_size - sizeof(header), header.ch_size);
}

/* Adds a section compressed in GNU's older way. */
static int add_zdebug(struct elf_sections *sections, struct elf_reader *reader,
		      const GElf_Shdr *section)
{
	const uint8_t *data;
	uint64_t len = 0;

	int r = load_bytes(sections, reader, section, &data);
	if (r < 0)
		return r;
	if (section->sh_size < ZDEBUG_HEADER_BYTES || memcmp(data, "ZLIB", 4) != 0)
		return -EBADMSG;
	for (size_t i = 4; i < ZDEBUG_HEADER_BYTES; i++)
		len = len << 8 | data[i];
	return add_compressed(sections, reader->budget, data + ZDEBUG_HEADER_BYTES,
			      section->sh_size - ZDEBUG_HEADER_BYTES, len);
}

static const GElf_Phdr *find_segment(const struct elf_reader *reader, uint32_t type)
{
	for (size_t i = 0; i < reader->nr_segments; i++)
		if (reader->segments[i].p_type == type)
			return &reader->segments[i];
	return NULL;
}

/* Reads the address of .eh_frame from the beginning of .eh_frame_hdr: version (1); encodings of
 * the pointer, the count and the table; the pointer (LSB 5.0 Core, "The .eh_frame_hdr section").
 * 0 if there is none. */
static uint64_t read_eh_frame_address(const struct elf_reader *reader, const GElf_Phdr *hdr)
{
	uint8_t bytes[EH_FRAME_HDR_BYTES];
	const struct cfi_section section = {
		.data = bytes,
		.len = sizeof(bytes),
		.address = hdr->p_vaddr,
		.data_address = hdr->p_vaddr,
	};

	if (elf_reader_read(reader, hdr->p_offset, bytes, sizeof(bytes)) < 0 || bytes[0] != 1)
		return 0;
	struct dwarf_cursor pointer = dwarf_cursor_over(bytes + 4, sizeof(bytes) - 4);
	return dwarf_cursor_pointer(&pointer, bytes[1], &section);
}

bool elf_sections_find_eh_frame(struct elf_reader *reader, GElf_Shdr *ret_section)
{
	const GElf_Phdr *hdr = find_segment(reader, PT_GNU_EH_FRAME);
	uint64_t address = hdr ? read_eh_frame_address(reader, hdr) : 0;

	for (size_t i = 0; i < reader->nr_segments && address != 0; i++) {
		const GElf_Phdr *segment = &reader->segments[i];
		uint64_t skipped = address - segment->p_vaddr;

		if (segment->p_type != PT_LOAD || skipped >= segment->p_filesz)
			continue;
		*ret_section = (GElf_Shdr){
			.sh_addr = address,
			.sh_offset = segment->p_offset + skipped,
			.sh_size = segment->p_filesz - skipped,
		};
		return true;
	}
	return false;
}

/* Some linkers give the type of .eh_frame to its index as well. */
static bool is_eh_frame(const struct elf_section_names *names, const GElf_Shdr *section)
{
	if (!has_content(section) || section->sh_flags & SHF_COMPRESSED)
		return false;
	return has_name(names, section, ".eh_frame") ||
	       (section->sh_type == ARCH_ELF_EH_FRAME &&
		!has_name(names, section, ".eh_frame_hdr"));
}

static int load_eh_frames(struct elf_sections *sections, struct elf_reader *reader,
			  const struct elf_section_names *names)
{
	size_t nr_before = sections->nr_items;
	GElf_Shdr unnamed;
	int r = 0;

	for (size_t i = 0; i < reader->nr_sections && r == 0; i++) {
		const GElf_Shdr *section = &reader->sections[i];

		if (is_eh_frame(names, section))
			r = add_section(sections, reader, section, ELF_EH_FRAME);
	}
	if (r == 0 && sections->nr_items == nr_before &&
	    elf_sections_find_eh_frame(reader, &unnamed))
		r = add_section(sections, reader, &unnamed, ELF_EH_FRAME);
	return r;
}

const GElf_Shdr *elf_sections_find_gopclntab(const struct elf_section_names *names,
					     const struct elf_reader *reader)
{
	const GElf_Shdr *table = elf_section_find(names, reader, ".gopclntab");

	return table ? table : elf_section_find(names, reader, ".data.rel.ro.gopclntab");
}

int elf_sections_load(struct elf_sections *sections, struct elf_reader *reader,
		      const struct elf_section_names *names)
{
	const GElf_Shdr *table = elf_sections_find_gopclntab(names, reader);
	int r = 0;

	if (table)
		r = add_section(sections, reader, table, ELF_GOPCLNTAB);
	return r < 0 ? r : load_eh_frames(sections, reader, names);
}

int elf_sections_load_debug_frame(struct elf_sections *sections, struct elf_reader *reader,
				  const struct elf_section_names *names)
{
	const GElf_Shdr *section = elf_section_find(names, reader, ".debug_frame");

	if (section && section->sh_flags & SHF_COMPRESSED)
		return add_gabi_compressed(sections, reader, section);
	if (section)
		return add_section(sections, reader, section, ELF_DEBUG_FRAME);
	section = elf_section_find(names, reader, ".zdebug_frame");
	return section ? add_zdebug(sections, reader, section) : 0;
}

void elf_sections_done(struct elf_sections *sections)
{
	for (size_t i = 0; i < sections->nr_items; i++)
		free(sections->items[i].owned);
	sections->nr_items = 0;
}

static size_t count_fdes(const struct elf_unwind_section *item, size_t enough)
{
	const struct cfi_section section = { .data = item->data, .len = item->len };
	struct cfi_entries entries = { .section = &section };
	size_t nr = 0;

	for (struct cfi_entry entry; nr < enough && cfi_entries_next(&entries, &entry);)
		nr += !entry.is_cie;
	return nr;
}

bool elf_sections_have_functions(const struct elf_sections *sections, size_t nr)
{
	size_t nr_found = 0;

	for (size_t i = 0; i < sections->nr_items; i++) {
		if (sections->items[i].kind == ELF_GOPCLNTAB)
			return true;
		nr_found += count_fdes(&sections->items[i], nr);
	}
	return nr_found >= nr;
}

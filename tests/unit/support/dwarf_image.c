/* SPDX-License-Identifier: Apache-2.0 */
#include "dwarf_image.h"

#include <dwarf.h>
#include <elf.h>
#include <string.h>

#define MAX_BYTES ((size_t)1 << 20)
#define DWARF_VERSION 4

enum {
	SECTION_NULL,
	SECTION_INFO,
	SECTION_ABBREV,
	SECTION_ARANGES,
	SECTION_STRINGS,
	SECTION_NAMES,
	NR_SECTIONS,
};

static const char section_names[] = "\0.debug_info\0.debug_abbrev\0.debug_aranges\0.debug_str";

/* All forms have a fixed size or are strings, and all numbers are less than 128. So only the name
 * of one attribute needs LEB128. */
#define LINKAGE_NAME 0xee, 0x00
static const uint8_t abbreviations[] = {
	IMAGE_UNIT,
	DW_TAG_compile_unit,
	DW_CHILDREN_yes,
	DW_AT_name,
	DW_FORM_string,
	DW_AT_low_pc,
	DW_FORM_addr,
	DW_AT_high_pc,
	DW_FORM_data8,
	DW_AT_language,
	DW_FORM_data2,
	0,
	0,
	IMAGE_SILENT_UNIT,
	DW_TAG_compile_unit,
	DW_CHILDREN_yes,
	DW_AT_name,
	DW_FORM_string,
	0,
	0,
	IMAGE_SUBPROGRAM,
	DW_TAG_subprogram,
	DW_CHILDREN_yes,
	DW_AT_name,
	DW_FORM_string,
	DW_AT_low_pc,
	DW_FORM_addr,
	DW_AT_high_pc,
	DW_FORM_data8,
	0,
	0,
	IMAGE_INLINED,
	DW_TAG_inlined_subroutine,
	DW_CHILDREN_yes,
	DW_AT_abstract_origin,
	DW_FORM_ref4,
	DW_AT_low_pc,
	DW_FORM_addr,
	DW_AT_high_pc,
	DW_FORM_data8,
	DW_AT_call_line,
	DW_FORM_data1,
	0,
	0,
	IMAGE_ABSTRACT,
	DW_TAG_subprogram,
	DW_CHILDREN_no,
	DW_AT_name,
	DW_FORM_string,
	DW_AT_decl_line,
	DW_FORM_data1,
	0,
	0,
	IMAGE_REFERENCE,
	DW_TAG_subprogram,
	DW_CHILDREN_no,
	DW_AT_abstract_origin,
	DW_FORM_ref4,
	0,
	0,
	IMAGE_LINKED,
	DW_TAG_subprogram,
	DW_CHILDREN_no,
	LINKAGE_NAME,
	DW_FORM_string,
	DW_AT_name,
	DW_FORM_string,
	DW_AT_low_pc,
	DW_FORM_addr,
	DW_AT_high_pc,
	DW_FORM_data8,
	0,
	0,
	IMAGE_BLOCK,
	DW_TAG_lexical_block,
	DW_CHILDREN_yes,
	0,
	0,
	IMAGE_NAMESPACE,
	DW_TAG_namespace,
	DW_CHILDREN_yes,
	DW_AT_name,
	DW_FORM_string,
	0,
	0,
	IMAGE_NAMELESS,
	DW_TAG_subprogram,
	DW_CHILDREN_yes,
	DW_AT_low_pc,
	DW_FORM_addr,
	DW_AT_high_pc,
	DW_FORM_data8,
	0,
	0,
	IMAGE_VARIABLE,
	DW_TAG_variable,
	DW_CHILDREN_no,
	DW_AT_name,
	DW_FORM_string,
	0,
	0,
	0,
};

void dwarf_image_init(struct dwarf_image *image)
{
	*image = (struct dwarf_image){
		.info = strbuf_with_max(MAX_BYTES),
		.aranges = strbuf_with_max(MAX_BYTES),
		.strings = strbuf_with_max(MAX_BYTES),
	};
}

void dwarf_image_done(struct dwarf_image *image)
{
	strbuf_done(&image->info);
	strbuf_done(&image->aranges);
	strbuf_done(&image->strings);
}

void dwarf_image_u8(struct dwarf_image *image, uint8_t value)
{
	strbuf_append(&image->info, &value, sizeof(value));
}

void dwarf_image_u16(struct dwarf_image *image, uint16_t value)
{
	strbuf_append(&image->info, &value, sizeof(value));
}

void dwarf_image_u32(struct dwarf_image *image, uint32_t value)
{
	strbuf_append(&image->info, &value, sizeof(value));
}

void dwarf_image_string(struct dwarf_image *image, const char *text)
{
	strbuf_append(&image->info, text, strlen(text) + 1);
}

void dwarf_image_code(struct dwarf_image *image, uint64_t low, uint64_t length)
{
	strbuf_append(&image->info, &low, sizeof(low));
	strbuf_append(&image->info, &length, sizeof(length));
}

void dwarf_image_begin_unit(struct dwarf_image *image)
{
	image->unit = image->info.len;
	dwarf_image_u32(image, 0);
	dwarf_image_u16(image, DWARF_VERSION);
	dwarf_image_u32(image, 0);
	dwarf_image_u8(image, sizeof(uint64_t));
}

void dwarf_image_end_unit(struct dwarf_image *image)
{
	uint32_t len = (uint32_t)(image->info.len - image->unit - sizeof(len));

	memcpy(image->info.data + image->unit, &len, sizeof(len));
}

uint32_t dwarf_image_die(struct dwarf_image *image, enum dwarf_image_die die)
{
	uint32_t offset = (uint32_t)(image->info.len - image->unit);

	dwarf_image_u8(image, (uint8_t)die);
	return offset;
}

uint32_t dwarf_image_subprogram(struct dwarf_image *image, const char *name, uint64_t low,
				uint64_t length)
{
	uint32_t offset = dwarf_image_die(image, IMAGE_SUBPROGRAM);

	dwarf_image_string(image, name);
	dwarf_image_code(image, low, length);
	return offset;
}

uint32_t dwarf_image_inlined(struct dwarf_image *image, uint32_t origin, uint64_t low,
			     uint64_t length)
{
	uint32_t offset = dwarf_image_die(image, IMAGE_INLINED);

	dwarf_image_u32(image, origin);
	dwarf_image_code(image, low, length);
	dwarf_image_u8(image, 7);
	return offset;
}

void dwarf_image_unit(struct dwarf_image *image, uint64_t low, uint64_t length)
{
	dwarf_image_begin_unit(image);
	dwarf_image_die(image, IMAGE_UNIT);
	dwarf_image_string(image, "unit");
	dwarf_image_code(image, low, length);
	dwarf_image_u16(image, DW_LANG_C11);
}

void dwarf_image_arange(struct dwarf_image *image, uint64_t low, uint64_t length)
{
	const struct {
		uint32_t length;
		uint16_t version;
		uint16_t unit[2];
		uint8_t address_bytes;
		uint8_t segment_bytes;
		uint32_t padding;
		uint64_t entries[4];
	} __attribute__((packed)) set = {
		.length = sizeof(set) - sizeof(set.length),
		.version = 2,
		.unit = { (uint16_t)image->unit, (uint16_t)(image->unit >> 16) },
		.address_bytes = sizeof(uint64_t),
		.entries = { low, length },
	};

	strbuf_append(&image->aranges, &set, sizeof(set));
}

static void add_section(Elf64_Shdr *section, struct strbuf *out, const void *bytes, size_t len)
{
	section->sh_type = len > 0 ? SHT_PROGBITS : SHT_NULL;
	section->sh_offset = out->len;
	section->sh_size = len;
	section->sh_addralign = 1;
	if (len > 0)
		strbuf_append(out, bytes, len);
}

void dwarf_image_write(const struct dwarf_image *image, struct strbuf *out)
{
	Elf64_Shdr sections[NR_SECTIONS] = {
		[SECTION_INFO].sh_name = 1,
		[SECTION_ABBREV].sh_name = 13,
		[SECTION_ARANGES].sh_name = 27,
		[SECTION_STRINGS].sh_name = 42,
	};
	Elf64_Ehdr header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = NR_SECTIONS,
		.e_shstrndx = SECTION_NAMES,
	};

	strbuf_append(out, &header, sizeof(header));
	add_section(&sections[SECTION_INFO], out, image->info.data, image->info.len);
	add_section(&sections[SECTION_ABBREV], out, abbreviations, sizeof(abbreviations));
	add_section(&sections[SECTION_ARANGES], out, image->aranges.data, image->aranges.len);
	add_section(&sections[SECTION_STRINGS], out, image->strings.data, image->strings.len);
	add_section(&sections[SECTION_NAMES], out, section_names, sizeof(section_names));
	sections[SECTION_NAMES].sh_type = SHT_STRTAB;
	while (out->len % sizeof(uint64_t) != 0)
		strbuf_append_char(out, '\0');
	header.e_shoff = out->len;
	strbuf_append(out, sections, sizeof(sections));
	if (strbuf_error(out) == 0)
		memcpy(out->data, &header, sizeof(header));
}

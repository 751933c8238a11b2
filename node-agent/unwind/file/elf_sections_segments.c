/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to find without section headers: .eh_frame by way of .eh_frame_hdr, which
 * program header PT_GNU_EH_FRAME points to (LSB 5.0 Core, "The .eh_frame_hdr section"):
 *
 *	version (1), encoding of the pointer, of the count, of the table; pointer to .eh_frame; … */
#include "unwind/file/elf_sections.h"

#include <string.h>

#define HDR_BYTES 12

/* Pointer encodings of DWARF's exception headers (LSB 5.0 Core, "DWARF Exception Header
 * Encoding"). */
enum {
	ENCODING_ABSOLUTE = 0x00,
	ENCODING_U32 = 0x03,
	ENCODING_U64 = 0x04,
	ENCODING_S32 = 0x0b,
	ENCODING_S64 = 0x0c,
	ENCODING_FORMAT = 0x0f,
	ENCODING_PCREL = 0x10,
	ENCODING_DATAREL = 0x30,
	ENCODING_BASE = 0xf0,
};

static bool decode_value(uint8_t format, const uint8_t *field, uint64_t *ret_value)
{
	uint32_t u32;

	switch (format) {
	case ENCODING_ABSOLUTE:
	case ENCODING_U64:
	case ENCODING_S64:
		memcpy(ret_value, field, sizeof(*ret_value));
		return true;
	case ENCODING_U32:
	case ENCODING_S32:
		memcpy(&u32, field, sizeof(u32));
		*ret_value = format == ENCODING_S32 ? (uint64_t)(int64_t)(int32_t)u32 : u32;
		return true;
	default:
		return false;
	}
}

static bool decode_pointer(const uint8_t hdr[static HDR_BYTES], uint64_t address,
			   uint64_t *ret_address)
{
	uint64_t value;

	if (hdr[0] != 1 || !decode_value(hdr[1] & ENCODING_FORMAT, hdr + 4, &value))
		return false;
	switch (hdr[1] & ENCODING_BASE) {
	case ENCODING_ABSOLUTE:
		break;
	case ENCODING_PCREL:
		value += address + 4;
		break;
	case ENCODING_DATAREL:
		value += address;
		break;
	default:
		return false;
	}
	*ret_address = value;
	return true;
}

static const GElf_Phdr *find_segment(const struct elf_reader *reader, uint32_t type)
{
	for (size_t i = 0; i < reader->nr_segments; i++)
		if (reader->segments[i].p_type == type)
			return &reader->segments[i];
	return NULL;
}

bool elf_sections_find_eh_frame(struct elf_reader *reader, GElf_Shdr *ret_section)
{
	const GElf_Phdr *hdr = find_segment(reader, PT_GNU_EH_FRAME);
	uint8_t bytes[HDR_BYTES];
	uint64_t address;

	if (!hdr || elf_reader_read(reader, hdr->p_offset, bytes, sizeof(bytes)) < 0 ||
	    !decode_pointer(bytes, hdr->p_vaddr, &address))
		return false;
	for (size_t i = 0; i < reader->nr_segments; i++) {
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

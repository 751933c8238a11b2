/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/cfi/dwarf_cursor.h"

#define POINTER_BYTES 8

/* Reads a number, and counts its bits up to 70. */
static uint64_t read_leb(struct dwarf_cursor *cursor, unsigned int *ret_nr_bits)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = dwarf_cursor_u8(cursor);
		if (shift < 64) {
			value |= (uint64_t)(byte & 0x7f) << shift;
			shift += 7;
		}
	} while (byte & 0x80);
	*ret_nr_bits = shift;
	return cursor->is_bad ? 0 : value;
}

uint64_t dwarf_cursor_uleb(struct dwarf_cursor *cursor)
{
	unsigned int nr_bits;

	if (cursor->pos < cursor->end && *cursor->pos < 0x80)
		return *cursor->pos++; /* nearly all are one byte */
	return read_leb(cursor, &nr_bits);
}

int64_t dwarf_cursor_sleb(struct dwarf_cursor *cursor)
{
	unsigned int nr_bits;
	uint64_t value = read_leb(cursor, &nr_bits);

	if (nr_bits < 64 && value >> (nr_bits - 1))
		value |= UINT64_MAX << nr_bits;
	return (int64_t)value;
}

struct dwarf_cursor dwarf_cursor_take(struct dwarf_cursor *cursor, uint64_t len)
{
	struct dwarf_cursor part = { .pos = cursor->pos, .end = cursor->pos };

	if (len > dwarf_cursor_left(cursor)) {
		dwarf_cursor_fail(cursor);
		part.is_bad = true;
		return part;
	}
	cursor->pos += len;
	part.end = cursor->pos;
	return part;
}

const char *dwarf_cursor_string(struct dwarf_cursor *cursor)
{
	const uint8_t *string = cursor->pos;
	const uint8_t *nul = memchr(string, '\0', dwarf_cursor_left(cursor));

	if (!nul) {
		dwarf_cursor_fail(cursor);
		return "";
	}
	cursor->pos = nul + 1;
	return (const char *)string;
}

uint64_t dwarf_cursor_pointer_value(struct dwarf_cursor *cursor, uint8_t encoding)
{
	switch (encoding & DW_EH_PE_FORMAT) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_signed:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return dwarf_cursor_fixed(cursor, POINTER_BYTES);
	case DW_EH_PE_uleb128:
		return dwarf_cursor_uleb(cursor);
	case DW_EH_PE_udata2:
		return dwarf_cursor_fixed(cursor, 2);
	case DW_EH_PE_udata4:
		return dwarf_cursor_fixed(cursor, 4);
	case DW_EH_PE_sleb128:
		return (uint64_t)dwarf_cursor_sleb(cursor);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int16_t)dwarf_cursor_fixed(cursor, 2);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int32_t)dwarf_cursor_fixed(cursor, 4);
	default:
		dwarf_cursor_fail(cursor);
		return 0;
	}
}

static uint64_t address_of(const struct dwarf_cursor *cursor, const struct cfi_section *section)
{
	return section->address + (uint64_t)(cursor->pos - section->data);
}

static uint64_t read_aligned(struct dwarf_cursor *cursor, const struct cfi_section *section)
{
	dwarf_cursor_take(cursor, -address_of(cursor, section) % POINTER_BYTES);
	return dwarf_cursor_fixed(cursor, POINTER_BYTES);
}

uint64_t dwarf_cursor_pointer(struct dwarf_cursor *cursor, uint8_t encoding,
			      const struct cfi_section *section)
{
	uint64_t base = 0;

	switch (encoding & (DW_EH_PE_BASE | DW_EH_PE_indirect)) {
	case DW_EH_PE_absptr:
		break;
	case DW_EH_PE_pcrel:
		base = address_of(cursor, section);
		break;
	case DW_EH_PE_textrel:
		base = section->text_address;
		break;
	case DW_EH_PE_datarel:
		base = section->data_address;
		break;
	case DW_EH_PE_aligned:
		return read_aligned(cursor, section);
	default:
		dwarf_cursor_fail(cursor);
		return 0;
	}

	uint64_t value = dwarf_cursor_pointer_value(cursor, encoding);
	return value == 0 ? 0 : base + value;
}

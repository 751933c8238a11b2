/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the little-endian numbers that DWARF consists of, and never past the end.
 *
 * Errors stick: a number that is not there reads as 0 and marks the cursor as bad for good. So a
 * whole instruction or header is read first and checked once. */
#ifndef UNWIND_CFI_DWARF_CURSOR_H
#define UNWIND_CFI_DWARF_CURSOR_H

#include "elf/elf_budget.h"

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Encodings of pointers (Linux Standard Base 5.0 Core, 10.5.1): the format in the lower 4 bits,
 * the base in the next 3, and in the last bit whether the value is the address of the pointer. */
enum dwarf_pointer_encoding {
	DW_EH_PE_absptr = 0x00,
	DW_EH_PE_uleb128 = 0x01,
	DW_EH_PE_udata2 = 0x02,
	DW_EH_PE_udata4 = 0x03,
	DW_EH_PE_udata8 = 0x04,
	DW_EH_PE_signed = 0x08,
	DW_EH_PE_sleb128 = 0x09,
	DW_EH_PE_sdata2 = 0x0a,
	DW_EH_PE_sdata4 = 0x0b,
	DW_EH_PE_sdata8 = 0x0c,
	DW_EH_PE_pcrel = 0x10,
	DW_EH_PE_textrel = 0x20,
	DW_EH_PE_datarel = 0x30,
	DW_EH_PE_aligned = 0x50,
	DW_EH_PE_indirect = 0x80,
	DW_EH_PE_omit = 0xff,
};

#define DW_EH_PE_FORMAT 0x0f
#define DW_EH_PE_BASE 0x70

/* A section of call frame information, as it was read. */
struct cfi_section {
	const uint8_t *data; /* borrowed */
	size_t len;
	uint64_t address; /* virtual address of `data`, from which DW_EH_PE_pcrel counts */
	uint64_t text_address; /* base of DW_EH_PE_textrel */
	uint64_t data_address; /* base of DW_EH_PE_datarel */
	bool is_debug_frame; /* .debug_frame: other CIE ids, absolute pointers */
	struct elf_budget *budget; /* borrowed; for the list of CIEs; NULL: none */
};

struct dwarf_cursor {
	const uint8_t *pos; /* borrowed */
	const uint8_t *end;
	bool is_bad;
};

static inline struct dwarf_cursor dwarf_cursor_over(const uint8_t *data, size_t len)
{
	return (struct dwarf_cursor){ .pos = data, .end = data + len };
}

static inline size_t dwarf_cursor_left(const struct dwarf_cursor *cursor)
{
	return (size_t)(cursor->end - cursor->pos);
}

static inline void dwarf_cursor_fail(struct dwarf_cursor *cursor)
{
	cursor->pos = cursor->end;
	cursor->is_bad = true;
}

static inline uint8_t dwarf_cursor_u8(struct dwarf_cursor *cursor)
{
	if (cursor->pos == cursor->end) {
		cursor->is_bad = true;
		return 0;
	}
	return *cursor->pos++;
}

/* Reads a number of `nr_bytes`, at most 8. */
static inline uint64_t dwarf_cursor_fixed(struct dwarf_cursor *cursor, size_t nr_bytes)
{
	uint64_t value = 0;

	if (dwarf_cursor_left(cursor) < nr_bytes) {
		dwarf_cursor_fail(cursor);
		return 0;
	}
	memcpy(&value, cursor->pos, nr_bytes);
	cursor->pos += nr_bytes;
	return le64toh(value);
}

/* Read LEB128 numbers, which have 7 bits in each byte. Bits above 64 are dropped. */
uint64_t dwarf_cursor_uleb(struct dwarf_cursor *cursor);
int64_t dwarf_cursor_sleb(struct dwarf_cursor *cursor);

/* Returns the next `len` bytes as a cursor of their own; bad if there are fewer. */
struct dwarf_cursor dwarf_cursor_take(struct dwarf_cursor *cursor, uint64_t len);

/* Reads a string up to its NUL, which is borrowed. Without a NUL it is "" and the cursor bad. */
const char *dwarf_cursor_string(struct dwarf_cursor *cursor);

/* Reads a pointer that lies in `section`, in one of the encodings above. A null pointer is 0,
 * whatever it counts from. DW_EH_PE_omit, and encodings that cannot be followed here such as
 * DW_EH_PE_indirect, make the cursor bad. */
uint64_t dwarf_cursor_pointer(struct dwarf_cursor *cursor, uint8_t encoding,
			      const struct cfi_section *section);

/* Reads the same without a base: a length. */
uint64_t dwarf_cursor_pointer_value(struct dwarf_cursor *cursor, uint8_t encoding);

#endif

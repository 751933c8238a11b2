/* SPDX-License-Identifier: Apache-2.0 */
/* The two sections differ in what marks a CIE and in how FDEs refer to theirs: .debug_frame by
 * its offset, .eh_frame by the distance back to it. LSB 5.0 Core 10.6.1; DWARF 5 section 6.4.1. */
#include "unwind/cfi/cfi_entry.h"

#include "base/err.h"

#define LENGTH_BYTES 4
#define LONG_LENGTH UINT32_MAX
#define LONG_LENGTH_BYTES 8
#define DEBUG_FRAME_CIE_ID UINT32_MAX
#define DEBUG_FRAME_LONG_CIE_ID UINT64_MAX
#define ADDRESS_BYTES 8

/* Limit of consecutive terminators, as in the holes of a sparse file. Linkers leave one for each
 * piece. */
#define MAX_TERMINATORS 512

/* Reads the length of the entry at `offset`. Returns its body: bad if it is truncated, empty if
 * it is a terminator. */
static struct dwarf_cursor read_length(const struct cfi_section *section, uint64_t offset,
				       bool *ret_is_long)
{
	struct dwarf_cursor cursor = dwarf_cursor_over(section->data + offset,
						       section->len - offset);
	uint64_t len = dwarf_cursor_fixed(&cursor, LENGTH_BYTES);

	*ret_is_long = len == LONG_LENGTH;
	if (*ret_is_long)
		len = dwarf_cursor_fixed(&cursor, LONG_LENGTH_BYTES);
	return cursor.is_bad ? cursor : dwarf_cursor_take(&cursor, len);
}

static void read_id(const struct cfi_section *section, bool is_long, struct cfi_entry *entry)
{
	bool has_long_id = is_long && section->is_debug_frame;
	uint64_t at = (uint64_t)(entry->body.pos - section->data);
	uint64_t id = dwarf_cursor_fixed(&entry->body, has_long_id ? 8 : 4);

	if (!section->is_debug_frame) {
		entry->is_cie = id == 0;
		entry->cie_offset = at - id;
		return;
	}
	entry->is_cie = id == (has_long_id ? DEBUG_FRAME_LONG_CIE_ID : DEBUG_FRAME_CIE_ID);
	entry->cie_offset = id;
}

bool cfi_entries_next(struct cfi_entries *entries, struct cfi_entry *ret_entry)
{
	const struct cfi_section *section = entries->section;

	for (int nr = 0;
	     entries->offset < section->len && section->len - entries->offset >= LENGTH_BYTES;
	     nr++) {
		struct cfi_entry entry = { .offset = entries->offset };
		bool is_long;

		entry.body = read_length(section, entry.offset, &is_long);
		if (entry.body.is_bad || nr == MAX_TERMINATORS) {
			entries->is_cut = true;
			entries->offset = section->len;
			return false;
		}
		entries->offset = (uint64_t)(entry.body.end - section->data);
		if (entry.body.pos == entry.body.end)
			continue;
		read_id(section, is_long, &entry);
		*ret_entry = entry;
		return true;
	}
	return false;
}

/* A personality routine, or where to find a pointer to it. */
static void skip_personality(const struct cfi_section *section, struct dwarf_cursor *cursor)
{
	uint8_t encoding = dwarf_cursor_u8(cursor);

	if (encoding != DW_EH_PE_omit)
		dwarf_cursor_pointer(cursor, encoding & ~DW_EH_PE_indirect, section);
}

/* The letters behind a 'z' tell what is in the augmentation data. Behind a letter that is not
 * known nothing else can be read, but that matters only if it is how pointers are written. */
static bool parse_augmentation(const struct cfi_section *section, const char *letters,
			       struct dwarf_cursor data, struct cfi_cie *cie)
{
	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			cie->pointer_encoding = dwarf_cursor_u8(&data);
			break;
		case 'P':
			skip_personality(section, &data);
			break;
		case 'L': /* how FDEs refer to a language-specific area */
			dwarf_cursor_u8(&data);
			break;
		case 'S':
			cie->is_signal_frame = true;
			break;
		case 'B': /* for other architectures, without data */
		case 'G':
			break;
		default:
			return !data.is_bad && !strchr(letters, 'R');
		}
	}
	return !data.is_bad;
}

/* Since version 4, in .debug_frame. */
static bool has_known_addresses(uint8_t version, struct dwarf_cursor *cursor)
{
	if (version < 4)
		return true;

	uint8_t address_bytes = dwarf_cursor_u8(cursor);
	uint8_t segment_bytes = dwarf_cursor_u8(cursor);
	return address_bytes == ADDRESS_BYTES && segment_bytes == 0;
}

static uint64_t read_return_address_column(uint8_t version, struct dwarf_cursor *cursor)
{
	return version == 1 ? dwarf_cursor_u8(cursor) : dwarf_cursor_uleb(cursor);
}

/* "" and "armcc+" add nothing, "eh" (GCC 2) a pointer; others that do not begin with a 'z' may
 * have added anything, and no one knows how long it is. */
static bool is_known_augmentation(const char *augmentation, struct dwarf_cursor *cursor)
{
	if (strcmp(augmentation, "eh") == 0) {
		dwarf_cursor_fixed(cursor, ADDRESS_BYTES);
		return true;
	}
	return augmentation[0] == '\0' || augmentation[0] == 'z' ||
	       strncmp(augmentation, "armcc", strlen("armcc")) == 0;
}

int cfi_cie_parse(const struct cfi_section *section, const struct cfi_entry *entry,
		  struct cfi_cie *ret_cie, struct dwarf_cursor *ret_program)
{
	struct cfi_cie cie = { .offset = entry->offset, .pointer_encoding = DW_EH_PE_absptr };
	struct dwarf_cursor cursor = entry->body;
	uint8_t version = dwarf_cursor_u8(&cursor);
	const char *augmentation = dwarf_cursor_string(&cursor);

	if (version != 1 && version != 3 && version != 4)
		return -EBADMSG;
	if (!has_known_addresses(version, &cursor) || !is_known_augmentation(augmentation, &cursor))
		return -EBADMSG;
	cie.code_align = dwarf_cursor_uleb(&cursor);
	cie.data_align = dwarf_cursor_sleb(&cursor);
	if (read_return_address_column(version, &cursor) != DWARF_REG_RA)
		return -EBADMSG;

	cie.has_augmentation = augmentation[0] == 'z';
	if (cie.has_augmentation) {
		uint64_t len = dwarf_cursor_uleb(&cursor);
		struct dwarf_cursor data = dwarf_cursor_take(&cursor, len);

		if (!parse_augmentation(section, augmentation + 1, data, &cie))
			return -EBADMSG;
	}
	if (cursor.is_bad)
		return -EBADMSG;
	*ret_cie = cie;
	*ret_program = cursor;
	return 0;
}

/* Code that was thrown away has the address 0, or one of the last ones (lld). */
static bool is_discarded(uint64_t start, uint64_t len)
{
	return start == 0 || start >= UINT64_MAX - 1 || len == 0;
}

int cfi_fde_parse(const struct cfi_section *section, const struct cfi_entry *entry,
		  const struct cfi_cie *cie, struct cfi_fde *ret_fde)
{
	struct dwarf_cursor cursor = entry->body;
	uint64_t start = dwarf_cursor_pointer(&cursor, cie->pointer_encoding, section);
	uint64_t len = dwarf_cursor_pointer_value(&cursor, cie->pointer_encoding);

	if (cie->has_augmentation)
		dwarf_cursor_take(&cursor, dwarf_cursor_uleb(&cursor));
	if (cursor.is_bad)
		return -EBADMSG;
	if (is_discarded(start, len))
		len = 0;
	if (len > UINT64_MAX - start)
		return -EBADMSG;
	*ret_fde = (struct cfi_fde){ .start = start, .end = start + len, .program = cursor };
	return 0;
}

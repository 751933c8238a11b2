/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/cfi/cfi_entry.h"

#include "base/err.h"
#include "cfi_bytes.h"
#include "unit.h"

static struct cfi_section section_over(struct byte_string bytes)
{
	return (struct cfi_section){
		.data = (const uint8_t *)bytes.data,
		.len = bytes.len,
		.address = 0x400000,
	};
}

struct walk_case {
	struct byte_string section;
	bool is_debug_frame;
	size_t nr_cies;
	size_t nr_fdes;
	bool is_cut;
};

static void entries_are_found_by_their_lengths(void **state)
{
	static const struct walk_case cases[] = {
		{ BYTES("\x04\0\0\0\0\0\0\0"), false, 1, 0, false },
		{ BYTES("\x04\0\0\0\0\0\0\0\x05\0\0\0\x0c\0\0\0\xff"), false, 1, 1, false },
		{ BYTES("\x04\0\0\0\xff\xff\xff\xff"), true, 1, 0, false },
		{ BYTES("\x04\0\0\0\0\0\0\0"), true, 0, 1, false },
		/* 64-bit lengths; ids stay short in .eh_frame */
		{ BYTES("\xff\xff\xff\xff\x04\0\0\0\0\0\0\0\0\0\0\0"), false, 1, 0, false },
		{ BYTES("\xff\xff\xff\xff\x08\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"), true,
		  1, 0, false },
		{ BYTES("\xff\xff\xff\xff\x08\0\0\0\0\0\0\0\xff\xff\xff\xff\0\0\0\0"), true, 0, 1,
		  false },
		/* Terminators: at the end, at the beginning, between */
		{ BYTES("\x04\0\0\0\0\0\0\0\0\0\0\0"), false, 1, 0, false },
		{ BYTES("\0\0\0\0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x04\0\0\0\x01\0\0\0"), false, 1,
		  1, false },
		{ BYTES(""), false, 0, 0, false },
		{ BYTES("\0\0\0\0\0\0"), false, 0, 0, false },
		{ BYTES("\x04\0\0"), false, 0, 0, false },
		/* Lengths that are too large */
		{ BYTES("\x05\0\0\0\0\0\0\0"), false, 0, 0, true },
		{ BYTES("\x04\0\0\0\0\0\0\0\xf0\xff\xff\xff\0\0\0\0"), false, 1, 0, true },
		{ BYTES("\xff\xff\xff\xff\x04\0\0\0\0\0\0"), false, 0, 0, true },
		{ BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0"), false, 0, 0,
		  true },
		{ BYTES("\xff\xff\xff\xff\xf4\xff\xff\xff\xff\xff\xff\xff\0\0\0\0"), false, 0, 0,
		  true },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		struct cfi_section section = section_over(cases[i].section);
		struct cfi_entries entries = { .section = &section };
		size_t nr_cies = 0;
		size_t nr_fdes = 0;

		section.is_debug_frame = cases[i].is_debug_frame;
		for (struct cfi_entry entry; cfi_entries_next(&entries, &entry);) {
			nr_cies += entry.is_cie;
			nr_fdes += !entry.is_cie;
		}
		assert_int_equal(nr_cies, cases[i].nr_cies);
		assert_int_equal(nr_fdes, cases[i].nr_fdes);
		assert_int_equal(entries.is_cut, cases[i].is_cut);
	}
}

static void fdes_refer_to_a_cie_by_distance_or_offset(void **state)
{
	struct cfi_section section = section_over(
		(struct byte_string)BYTES("\x04\0\0\0\0\0\0\0\x04\0\0\0\x0c\0\0\0"));
	struct cfi_entries entries = { .section = &section, .offset = 8 };
	struct cfi_entry entry;

	(void)state;
	assert_true(cfi_entries_next(&entries, &entry));
	assert_int_equal(entry.offset, 8);
	assert_int_equal(entry.cie_offset, 0);

	section.is_debug_frame = true;
	entries.offset = 8;
	assert_true(cfi_entries_next(&entries, &entry));
	assert_int_equal(entry.cie_offset, 12);
}

static void an_entry_too_short_for_an_id_is_bad_itself(void **state)
{
	struct cfi_section section = section_over(
		(struct byte_string)BYTES("\x02\0\0\0\0\0\x04\0\0\0\0\0\0\0"));
	struct cfi_entries entries = { .section = &section };
	struct cfi_entry entry;

	(void)state;
	assert_true(cfi_entries_next(&entries, &entry));
	assert_true(entry.body.is_bad);
	assert_true(cfi_entries_next(&entries, &entry));
	assert_int_equal(entry.offset, 6);
	assert_false(entry.body.is_bad);
}

static struct cfi_entry entry_over(struct byte_string body)
{
	return (struct cfi_entry){
		.offset = 0,
		.body = dwarf_cursor_over((const uint8_t *)body.data, body.len),
	};
}

struct cie_case {
	struct byte_string body; /* behind the id; the program is one 0xaa */
	uint8_t pointer_encoding;
	bool has_augmentation;
	bool is_signal_frame;
};

static void cies_of_all_versions_are_read(void **state)
{
	static const struct cie_case cases[] = {
		{ BYTES("\x01\0\x01\x78\x10\xaa"), 0, false, false },
		{ BYTES("\x03\0\x01\x78\x90\x00\xaa"), 0, false, false },
		{ BYTES("\x04\0\x08\0\x01\x78\x10\xaa"), 0, false, false },
		{ BYTES("\x01zR\0\x01\x78\x10\x01\x1b\xaa"), 0x1b, true, false },
		{ BYTES("\x03zR\0\x01\x78\x10\x01\x1b\xaa"), 0x1b, true, false },
		{ BYTES("\x01zPLR\0\x01\x78\x10\x07\x9b\x01\x02\x03\x04\x1b\x1b\xaa"), 0x1b, true,
		  false },
		{ BYTES("\x01zPLR\0\x01\x78\x10\x0b\0\x01\x02\x03\x04\x05\x06\x07\x08\x1b\x03\xaa"),
		  0x03, true, false },
		{ BYTES("\x01zPR\0\x01\x78\x10\x02\xff\x1b\xaa"), 0x1b, true, false },
		{ BYTES("\x01zRS\0\x01\x78\x10\x01\x1b\xaa"), 0x1b, true, true },
		{ BYTES("\x01zRSB\0\x01\x78\x10\x01\x1b\xaa"), 0x1b, true, true },
		{ BYTES("\x01zGR\0\x01\x78\x10\x01\x1b\xaa"), 0x1b, true, false },
		{ BYTES("\x01z\0\x01\x78\x10\0\xaa"), 0, true, false },
		{ BYTES("\x01zR\0\x01\x78\x10\x03\x1b\xff\xff\xaa"), 0x1b, true, false },
		/* Letters that nobody knows, behind what is needed */
		{ BYTES("\x01zRX\0\x01\x78\x10\x03\x1b\xff\xff\xaa"), 0x1b, true, false },
		{ BYTES("\x01zX\0\x01\x78\x10\x03\x1b\xff\xff\xaa"), 0, true, false },
		{ BYTES("\x01"
			"eh\0\x01\x02\x03\x04\x05\x06\x07\x08\x01\x78\x10\xaa"),
		  0, false, false },
		{ BYTES("\x01"
			"armcc+\0\x01\x78\x10\xaa"),
		  0, false, false },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		struct cfi_section section = section_over(cases[i].body);
		struct cfi_entry entry = entry_over(cases[i].body);
		struct dwarf_cursor program;
		struct cfi_cie cie;

		assert_int_equal(cfi_cie_parse(&section, &entry, &cie, &program), 0);
		assert_int_equal(cie.code_align, 1);
		assert_int_equal(cie.data_align, -8);
		assert_int_equal(cie.pointer_encoding, cases[i].pointer_encoding);
		assert_int_equal(cie.has_augmentation, cases[i].has_augmentation);
		assert_int_equal(cie.is_signal_frame, cases[i].is_signal_frame);
		assert_int_equal(dwarf_cursor_left(&program), 1);
		assert_int_equal(dwarf_cursor_u8(&program), 0xaa);
	}
}

static void damaged_and_foreign_cies_are_refused(void **state)
{
	static const struct byte_string bodies[] = {
		BYTES(""),
		BYTES("\x01"),
		BYTES("\x00\0\x01\x78\x10"), /* versions */
		BYTES("\x02\0\x01\x78\x10"),
		BYTES("\x05\0\x01\x78\x10"),
		BYTES("\x01zR"), /* cut off */
		BYTES("\x01\0"),
		BYTES("\x01\0\x01"),
		BYTES("\x01\0\x01\x78"),
		BYTES("\x01\0\x81"),
		BYTES("\x03\0\x01\x78\x90"),
		BYTES("\x01zR\0\x01\x78\x10"),
		BYTES("\x01zR\0\x01\x78\x10\x01"),
		BYTES("\x01zR\0\x01\x78\x10\x02\x1b"),
		BYTES("\x01zR\0\x01\x78\x10\x00\x1b"), /* augmentation data too short for 'R' */
		BYTES("\x01zPR\0\x01\x78\x10\x03\x9b\x01\x02\xaa\xaa"),
		BYTES("\x01zPR\0\x01\x78\x10\x03\x45\x1b\x1b"), /* no such encoding */
		BYTES("\x01zXR\0\x01\x78\x10\x02\x1b\x1b"), /* where is it? */
		BYTES("\x01PLR\0\x01\x78\x10\x1b"), /* no 'z' */
		BYTES("\x01"
		      "eh\0\x01\x02\x03"),
		BYTES("\x04\0\x04\0\x01\x78\x10"), /* addresses of 4 bytes */
		BYTES("\x04\0\x08\x02\x01\x78\x10"), /* segments */
		BYTES("\x04\0\x08"),
		BYTES("\x01\0\x01\x7c\x08"), /* the return address's column: i386, AArch64 */
		BYTES("\x03\0\x01\x78\x1e"),
	};

	(void)state;
	for (size_t i = 0; i < array_len(bodies); i++) {
		struct cfi_section section = section_over(bodies[i]);
		struct cfi_entry entry = entry_over(bodies[i]);
		struct dwarf_cursor program;
		struct cfi_cie cie;

		assert_int_equal(cfi_cie_parse(&section, &entry, &cie, &program), -EBADMSG);
	}
}

struct fde_case {
	struct cfi_cie cie;
	struct byte_string body; /* the program is one 0xaa */
	uint64_t start;
	uint64_t end;
};

static void fdes_are_read_in_their_encodings(void **state)
{
	static const struct fde_case cases[] = {
		{ { .pointer_encoding = 0 },
		  BYTES("\x00\x10\0\0\0\0\0\0\x20\0\0\0\0\0\0\0\xaa"),
		  0x1000,
		  0x1020 },
		{ { .pointer_encoding = 0x1b },
		  BYTES("\x00\x10\0\0\x20\0\0\0\xaa"),
		  0x401000,
		  0x401020 },
		{ { .pointer_encoding = 0x1b, .has_augmentation = true },
		  BYTES("\xf0\xff\xff\xff\x20\0\0\0\0\xaa"),
		  0x3ffff0,
		  0x400010 },
		{ { .pointer_encoding = 0x1b, .has_augmentation = true },
		  BYTES("\x00\x10\0\0\x20\0\0\0\x04\x01\x02\x03\x04\xaa"),
		  0x401000,
		  0x401020 },
		{ { .pointer_encoding = 0x01 }, BYTES("\x80\x20\x20\xaa"), 0x1000, 0x1020 },
		{ { .pointer_encoding = 0x0a }, BYTES("\x00\x10\x20\0\xaa"), 0x1000, 0x1020 },
		/* Thrown away */
		{ { .pointer_encoding = 0 },
		  BYTES("\0\0\0\0\0\0\0\0\x20\0\0\0\0\0\0\0\xaa"),
		  0,
		  0 },
		{ { .pointer_encoding = 0 },
		  BYTES("\x00\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xaa"),
		  0x1000,
		  0x1000 },
		{ { .pointer_encoding = 0 },
		  BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\x20\0\0\0\0\0\0\0\xaa"),
		  UINT64_MAX,
		  UINT64_MAX },
		{ { .pointer_encoding = 0x1b }, BYTES("\0\0\0\0\x20\0\0\0\xaa"), 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		struct cfi_section section = section_over(cases[i].body);
		struct cfi_entry entry = entry_over(cases[i].body);
		struct cfi_fde fde;

		assert_int_equal(cfi_fde_parse(&section, &entry, &cases[i].cie, &fde), 0);
		assert_int_equal(fde.start, cases[i].start);
		assert_int_equal(fde.end, cases[i].end);
		assert_int_equal(dwarf_cursor_left(&fde.program), 1);
	}
}

static void damaged_fdes_are_refused(void **state)
{
	static const struct fde_case cases[] = {
		{ { .pointer_encoding = 0 }, BYTES(""), 0, 0 },
		{ { .pointer_encoding = 0 }, BYTES("\x00\x10\0\0\0\0\0\0\x20\0\0\0\0\0\0"), 0, 0 },
		{ { .pointer_encoding = 0x1b }, BYTES("\x00\x10\0"), 0, 0 },
		{ { .pointer_encoding = 0x1b }, BYTES("\x00\x10\0\0\x20\0\0"), 0, 0 },
		{ { .pointer_encoding = 0x1b, .has_augmentation = true },
		  BYTES("\x00\x10\0\0\x20\0\0\0"),
		  0,
		  0 },
		{ { .pointer_encoding = 0x1b, .has_augmentation = true },
		  BYTES("\x00\x10\0\0\x20\0\0\0\x02\xaa"),
		  0,
		  0 },
		{ { .pointer_encoding = 0x9b }, BYTES("\x00\x10\0\0\x20\0\0\0"), 0, 0 },
		{ { .pointer_encoding = 0xff }, BYTES("\x00\x10\0\0\x20\0\0\0"), 0, 0 },
		/* Around the end of the address space */
		{ { .pointer_encoding = 0 },
		  BYTES("\0\xf0\xff\xff\xff\xff\xff\xff\x01\x10\0\0\0\0\0\0"),
		  0,
		  0 },
		{ { .pointer_encoding = 0x0b }, BYTES("\x00\x10\0\0\xff\xff\xff\xff"), 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		struct cfi_section section = section_over(cases[i].body);
		struct cfi_entry entry = entry_over(cases[i].body);
		struct cfi_fde fde;

		assert_int_equal(cfi_fde_parse(&section, &entry, &cases[i].cie, &fde), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_found_by_their_lengths),
		cmocka_unit_test(fdes_refer_to_a_cie_by_distance_or_offset),
		cmocka_unit_test(an_entry_too_short_for_an_id_is_bad_itself),
		cmocka_unit_test(cies_of_all_versions_are_read),
		cmocka_unit_test(damaged_and_foreign_cies_are_refused),
		cmocka_unit_test(fdes_are_read_in_their_encodings),
		cmocka_unit_test(damaged_fdes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that only call frame information knows. */
#include "cfi_bytes.h"
#include "elf_maker.h"
#include "function_count.h"
#include "symbol/elf/elf_block.h"
#include "symbol/elf/elf_symbols.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)1 << 20)

static const struct maker_symbol exported[] = {
	{ "exported", 0, 0x20 },
	{ "unsized", 0x300, 0 },
	{ 0 },
};

/* Of code, from its beginning on. */
struct range {
	uint64_t start;
	uint64_t len;
};

static const struct range usual[] = {
	{ 0x80, 0x10 },	 { 0, 0x20 },
	{ 0x30, 0x50 },	 { 0x10, 8 }, /* within a function with a name */
	{ 0x200, 0x20 }, { 0x210, 0x40 },
	{ 0x300, 0x40 }, { 0xff0, 0x100 }, /* beyond the code */
	{ 0x1000, 16 }, /* not in it */
};

static void make_cfi(struct cfi_bytes *bytes, const struct range *ranges, size_t nr)
{
	*bytes = (struct cfi_bytes){ 0 };
	cfi_bytes_usual_cie(bytes);
	for (size_t i = 0; i < nr; i++)
		cfi_bytes_fde(bytes, MAKER_TEXT_ADDRESS + ranges[i].start, ranges[i].len,
			      (struct byte_string)BYTES(""));
}

static int make_file(const struct maker_symbol *symbols, const struct cfi_bytes *cfi)
{
	_cleanup_(elf_maker_done) struct elf_maker maker;

	elf_maker_init(&maker);
	elf_maker_add_symbols(&maker, SHT_DYNSYM, symbols);
	elf_maker_add_plain(&maker, ".eh_frame", cfi->bytes, cfi->len);
	elf_maker_finish(&maker);
	return elf_maker_write(maker.bytes.data, maker.bytes.len);
}

static struct elf_symbols *load(const struct maker_symbol *symbols, const struct range *ranges,
				size_t nr, size_t max_bytes)
{
	struct elf_symbols *loaded = NULL;
	struct cfi_bytes cfi;

	make_cfi(&cfi, ranges, nr);
	_cleanup_close_ int fd = make_file(symbols, &cfi);
	assert_int_equal(elf_symbols_load(fd, max_bytes, &loaded), 0);
	return loaded;
}

/* A name of NULL: nothing is there. */
static void expect(const struct elf_symbols *symbols, uint64_t delta, const char *name,
		   uint64_t start)
{
	struct elf_symbol found;
	int r = elf_symbols_find(symbols, MAKER_TEXT_ADDRESS + delta, &found);

	assert_int_equal(r, name ? 0 : -ENOENT);
	if (!name)
		return;
	assert_string_equal(found.name, name);
	assert_int_equal(found.address, MAKER_TEXT_ADDRESS + start);
}

static void code_without_a_symbol_has_its_functions(void **state)
{
	static const struct {
		uint64_t delta;
		const char *name;
		uint64_t start;
	} cases[] = {
		{ 0, "exported", 0 },	     { 0x17, "exported", 0 },	  { 0x20, NULL, 0 },
		{ 0x2f, NULL, 0 },	     { 0x30, "", 0x30 },	  { 0x7f, "", 0x30 },
		{ 0x80, "", 0x80 },	     { 0x90, NULL, 0 },		  { 0x20f, "", 0x200 },
		{ 0x210, "", 0x210 },	     { 0x24f, "", 0x210 },	  { 0x250, NULL, 0 },
		{ 0x300, "unsized", 0x300 }, { 0x33f, "unsized", 0x300 }, { 0x340, NULL, 0 },
		{ 0xfff, "", 0xff0 },	     { 0x1000, NULL, 0 },
	};
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = load(
		exported, usual, array_len(usual), MAX_BYTES);
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++)
		expect(symbols, cases[i].delta, cases[i].name, cases[i].start);
	assert_int_equal(function_count(symbols), 7);
	assert_int_equal(elf_symbols_info(symbols)->nr_bad_sources, 0);
}

static void they_survive_being_sent(void **state)
{
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = load(
		exported, usual, array_len(usual), MAX_BYTES);
	_cleanup_(elf_symbols_freep) struct elf_symbols *received = NULL;
	size_t len;
	(void)state;

	const void *block = elf_symbols_block(symbols, &len);
	void *copy = malloc(len);
	assert_non_null(copy);
	memcpy(copy, block, len);
	assert_int_equal(elf_symbols_from_block(copy, len, &received), 0);
	expect(received, 0x31, "", 0x30);
	expect(received, 0x17, "exported", 0);
}

static void a_file_without_any_symbol_has_them(void **state)
{
	static const struct maker_symbol none[] = { { 0 } };
	static const struct range one[] = { { 0x40, 0x10 } };
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = load(none, one, 1, MAX_BYTES);
	(void)state;

	expect(symbols, 0x48, "", 0x40);
	expect(symbols, 0x50, NULL, 0);
}

static void where_symbols_cover_nearly_all_there_is_nothing_to_add(void **state)
{
	static const struct maker_symbol all[] = { { "all", 0, 0xe00 }, { 0 } };
	static const struct maker_symbol most[] = { { "most", 0, 0xdf0 }, { 0 } };
	static const struct range one[] = { { 0xf00, 0x10 } };
	_cleanup_(elf_symbols_freep) struct elf_symbols *full = load(all, one, 1, MAX_BYTES);
	_cleanup_(elf_symbols_freep) struct elf_symbols *sparse = load(most, one, 1, MAX_BYTES);
	(void)state;

	expect(full, 0xf00, NULL, 0);
	expect(sparse, 0xf00, "", 0xf00);
}

static void names_stay_where_there_is_no_room_for_more(void **state)
{
	size_t nr_full = 0;
	(void)state;

	for (size_t max_bytes = 600; max_bytes < 900; max_bytes += 4) {
		_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
		struct cfi_bytes cfi;

		make_cfi(&cfi, usual, array_len(usual));
		_cleanup_close_ int fd = make_file(exported, &cfi);
		if (elf_symbols_load(fd, max_bytes, &symbols) < 0)
			continue;
		expect(symbols, 0x17, "exported", 0);
		if (function_count(symbols) == 2) {
			nr_full++;
			assert_int_equal(elf_symbols_info(symbols)->nr_bad_sources, 1);
		}
	}
	assert_true(nr_full > 0);
}

/* The other half of each entry may be read in any way, but leads nowhere. */
static void damaged_entries_cost_names_of_their_own_only(void **state)
{
	struct cfi_bytes cfi;
	(void)state;

	make_cfi(&cfi, usual, array_len(usual));
	for (size_t i = 0; i < 8 * cfi.len; i++) {
		_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;

		cfi.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
		_cleanup_close_ int fd = make_file(exported, &cfi);
		cfi.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
		assert_int_equal(elf_symbols_load(fd, MAX_BYTES, &symbols), 0);
		expect(symbols, 0x17, "exported", 0);
		expect(symbols, 0x1000, NULL, 0);
		assert_true(function_count(symbols) <= 2 + array_len(usual));
	}
}

static void absurd_sections_are_left_out(void **state)
{
	static const struct {
		uint64_t offset, size;
		uint32_t nr_bad;
	} cases[] = {
		{ UINT64_MAX, 0x100, 1 },
		{ 0, UINT64_MAX, 1 },
		{ 1 << 20, 0x100, 1 },
		{ 0x40, 1 << 30, 1 },
		{ 0x40, UINT32_MAX, 1 },
		{ 0, 0, 0 },
		{ 0, 3, 0 },
	};
	_cleanup_(elf_maker_done) struct elf_maker maker;
	struct cfi_bytes cfi;
	(void)state;

	make_cfi(&cfi, usual, array_len(usual));
	elf_maker_init(&maker);
	elf_maker_add_symbols(&maker, SHT_DYNSYM, exported);
	size_t section = elf_maker_add_plain(&maker, ".eh_frame", cfi.bytes, cfi.len);
	elf_maker_finish(&maker);
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;

		elf_maker_section(&maker, section)->sh_offset = cases[i].offset;
		elf_maker_section(&maker, section)->sh_size = cases[i].size;
		_cleanup_close_ int fd = elf_maker_write(maker.bytes.data, maker.bytes.len);
		assert_int_equal(elf_symbols_load(fd, MAX_BYTES, &symbols), 0);
		expect(symbols, 0x17, "exported", 0);
		expect(symbols, 0x31, NULL, 0);
		assert_int_equal(elf_symbols_info(symbols)->nr_bad_sources, cases[i].nr_bad);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_without_a_symbol_has_its_functions),
		cmocka_unit_test(they_survive_being_sent),
		cmocka_unit_test(a_file_without_any_symbol_has_them),
		cmocka_unit_test(where_symbols_cover_nearly_all_there_is_nothing_to_add),
		cmocka_unit_test(names_stay_where_there_is_no_room_for_more),
		cmocka_unit_test(damaged_entries_cost_names_of_their_own_only),
		cmocka_unit_test(absurd_sections_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

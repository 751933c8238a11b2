/* SPDX-License-Identifier: Apache-2.0 */
/* Files of arm64: which are read, and what their PLTs become. What is the same on x86-64 is in
 * test_elf_rows.c. */
#include "unwind/file/elf_rows.h"

#include "base/cleanup.h"
#include "elf_image.h"
#include "row_lookup.h"
#include "torture.h"
#include "unit.h"

#include <string.h>
#include <unistd.h>

#define MAX_BYTES ((size_t)1 << 20)

/* A section before all functions, in the place of one that is not needed. */
#define PLT IMAGE_DEBUGLINK
#define PLT_DISTANCE 0x40 /* behind the beginning of the text */
#define PLT_BYTES 0x60
#define PLT_OFFSET (IMAGE_TEXT_OFFSET + PLT_DISTANCE)

#define STP 0xa9bf7bf0 /* stp x16,x30,[sp,#-16]! */
#define BTI 0xd503245f /* bti c */
#define ADRP 0x90000090
#define BR 0xd61f0220 /* br x17 */
#define NOP 0xd503201f

struct built {
	struct elf_rows *rows;
	struct row_table_bytes table;
	struct elf_rows_stats stats;
};

static void built_done(struct built *built)
{
	row_table_bytes_done(&built->table);
	elf_rows_close(built->rows);
}

static void make_image(struct elf_image *image, size_t nr_functions)
{
	Elf64_Shdr *section = &image->sections[PLT];

	elf_image_init(image, nr_functions, 0);
	memcpy(image->names + section->sh_name, ".plt", sizeof(".plt"));
	section->sh_type = SHT_PROGBITS;
	section->sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	section->sh_addr = IMAGE_TEXT_ADDRESS + PLT_DISTANCE;
	section->sh_offset = PLT_OFFSET;
	section->sh_size = PLT_BYTES;
}

/* Builds the rows of an image whose PLT begins with two instructions. */
static int build(const struct elf_image *image, uint32_t first, uint32_t second,
		 struct built *built)
{
	const struct elf_rows_opts opts = { .max_bytes = MAX_BYTES };
	const uint32_t plt[PLT_BYTES / 4] = {
		first, second, ADRP, ADRP, ADRP, BR,   NOP,  NOP, ADRP, ADRP, ADRP, BR,
		ADRP,  ADRP,   ADRP, BR,   ADRP, ADRP, ADRP, BR,  ADRP, ADRP, ADRP, BR,
	};
	_cleanup_close_ int fd = elf_image_write_all(image);

	*built = (struct built){ 0 };
	assert_int_equal(pwrite(fd, plt, sizeof(plt), PLT_OFFSET), sizeof(plt));
	int r = elf_rows_open(fd, &opts, &built->rows);
	return r < 0 ? r : elf_rows_build(built->rows, &built->table, &built->stats);
}

static struct cfi_rule rule_at(const struct built *built, uint64_t offset)
{
	struct cfi_rule rule;

	row_lookup(built->table.data, offset, &rule);
	return rule;
}

static void assert_none(const struct built *built, uint64_t offset)
{
	assert_int_equal(rule_at(built, offset).kind, CFA_NONE);
}

static void assert_leaf(const struct built *built, uint64_t offset)
{
	struct cfi_rule rule = rule_at(built, offset);

	assert_int_equal(rule.kind, CFA_REGISTER);
	assert_int_equal(rule.reg, CFI_SP);
	assert_int_equal(rule.offset, 0);
	assert_int_equal(rule.flags, CFI_RETURN_IN_REGISTER);
	assert_int_equal(rule.arg, CFI_LR);
}

static void assert_pushed(const struct built *built, uint64_t offset, int32_t cfa_offset)
{
	struct cfi_rule rule = rule_at(built, offset);

	assert_int_equal(rule.kind, CFA_REGISTER);
	assert_int_equal(rule.reg, CFI_SP);
	assert_int_equal(rule.offset, cfa_offset);
	assert_int_equal(rule.flags, 0);
	assert_int_equal(rule.return_address, -1);
	assert_int_equal(rule.saved[0], CFI_NOT_SAVED);
}

static void only_files_of_arm64_have_rows(void **state)
{
	_cleanup_(built_done) struct built built;
	_cleanup_(built_done) struct built other;
	struct elf_image image;
	(void)state;

	make_image(&image, 10);
	assert_int_equal(build(&image, STP, ADRP, &built), 0);
	assert_true(row_table_is_valid(built.table.data, built.table.len));
	assert_int_equal(built.stats.losses.nr_bad_entries, 0);
	assert_pushed(&built, elf_image_function(0), 8);
	assert_pushed(&built, elf_image_function(9) + IMAGE_FUNCTION_BYTES - 1, 8);
	assert_none(&built, elf_image_function(9) + IMAGE_FUNCTION_BYTES);
	image.header.e_machine = EM_X86_64;
	assert_int_equal(build(&image, STP, ADRP, &other), -EBADMSG);
}

static void plt_entries_have_the_return_address_in_lr(void **state)
{
	static const struct {
		uint32_t first, second;
		uint64_t pushed; /* behind the beginning; 0: nowhere */
	} cases[] = {
		{ STP, ADRP, 4 },
		{ BTI, STP, 8 },
		{ ADRP, ADRP, 0 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(built_done) struct built built;
		struct elf_image image;

		make_image(&image, 10);
		assert_int_equal(build(&image, cases[i].first, cases[i].second, &built), 0);
		assert_none(&built, PLT_OFFSET - 1);
		assert_leaf(&built, PLT_OFFSET);
		if (cases[i].pushed > 0) {
			assert_leaf(&built, PLT_OFFSET + cases[i].pushed - 1);
			assert_pushed(&built, PLT_OFFSET + cases[i].pushed, 16);
			assert_pushed(&built, PLT_OFFSET + 23, 16);
		}
		assert_leaf(&built, PLT_OFFSET + 32);
		assert_leaf(&built, PLT_OFFSET + PLT_BYTES - 1);
		assert_none(&built, PLT_OFFSET + PLT_BYTES);
	}
}

static void a_plt_is_enough_for_a_table(void **state)
{
	_cleanup_(built_done) struct built built;
	_cleanup_(built_done) struct built bare;
	struct elf_image image;
	(void)state;

	make_image(&image, 0);
	elf_image_hide(&image, IMAGE_EH_FRAME);
	elf_image_hide(&image, IMAGE_DEBUG_FRAME);
	image.segments[IMAGE_FRAME_HDR].p_type = PT_NULL;
	assert_int_equal(build(&image, STP, ADRP, &built), 0);
	assert_leaf(&built, PLT_OFFSET);
	image.sections[PLT].sh_flags = SHF_ALLOC;
	assert_int_equal(build(&image, STP, ADRP, &bare), -ENODATA);
}

static void padding_has_no_rows(void **state)
{
	_cleanup_(built_done) struct built built;
	struct elf_image image;
	Elf64_Shdr *section = &image.sections[PLT];
	(void)state;

	make_image(&image, 0);
	elf_image_hide(&image, IMAGE_EH_FRAME);
	elf_image_hide(&image, IMAGE_DEBUG_FRAME);
	image.segments[IMAGE_FRAME_HDR].p_type = PT_NULL;
	section->sh_addr += PLT_BYTES;
	section->sh_offset += PLT_BYTES;
	assert_int_equal(build(&image, STP, ADRP, &built), -ENODATA);
}

static void functions_with_cfi_are_no_plt(void **state)
{
	_cleanup_(built_done) struct built built;
	struct elf_image image;
	(void)state;

	make_image(&image, 10);
	image.sections[PLT].sh_size = IMAGE_TEXT_BYTES - PLT_DISTANCE;
	assert_int_equal(build(&image, ADRP, ADRP, &built), 0);
	assert_leaf(&built, elf_image_function(0) - 1);
	assert_pushed(&built, elf_image_function(0), 8);
}

/* Other rows are not lost with it. */
static void a_damaged_plt_has_no_rows(void **state)
{
	static const struct {
		size_t offset; /* in the section's header */
		uint64_t value;
	} changes[] = {
		{ offsetof(Elf64_Shdr, sh_size), 0 },
		{ offsetof(Elf64_Shdr, sh_size), 15 },
		{ offsetof(Elf64_Shdr, sh_addr), UINT64_MAX - 8 },
		{ offsetof(Elf64_Shdr, sh_addr), IMAGE_DATA_ADDRESS },
		{ offsetof(Elf64_Shdr, sh_flags), SHF_ALLOC },
	};
	(void)state;

	for (size_t i = 0; i < array_len(changes); i++) {
		_cleanup_(built_done) struct built built;
		struct elf_image image;

		make_image(&image, 10);
		memcpy((char *)&image.sections[PLT] + changes[i].offset, &changes[i].value,
		       sizeof(changes[i].value));
		assert_int_equal(build(&image, STP, ADRP, &built), 0);
		assert_none(&built, PLT_OFFSET);
		assert_pushed(&built, elf_image_function(0), 8);
	}
}

static void the_key_depends_on_the_plt(void **state)
{
	const uint32_t firsts[] = { STP, BTI, ADRP };
	uint64_t hashes[3];
	(void)state;

	for (size_t i = 0; i < array_len(firsts); i++) {
		_cleanup_(built_done) struct built built;
		struct elf_image image;

		make_image(&image, 10);
		assert_int_equal(build(&image, firsts[i], i == 1 ? STP : ADRP, &built), 0);
		hashes[i] = elf_rows_get_key(built.rows)->hash[0];
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(hashes[i], hashes[j]);
	}
}

/* Without memory there is no table; never one that lacks a part. */
static void every_allocation_may_fail(void **state)
{
	_cleanup_(built_done) struct built whole;
	struct elf_image image;
	bool has_failed = true;
	(void)state;

	make_image(&image, 10);
	assert_int_equal(build(&image, STP, ADRP, &whole), 0);
	for (unsigned int n = 1; has_failed; n++) {
		_cleanup_(built_done) struct built built;

		torture_begin(n);
		int r = build(&image, STP, ADRP, &built);
		has_failed = torture_end();
		if (r == 0)
			assert_int_equal(built.table.len, whole.table.len);
		else
			assert_true(has_failed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_files_of_arm64_have_rows),
		cmocka_unit_test(plt_entries_have_the_return_address_in_lr),
		cmocka_unit_test(a_plt_is_enough_for_a_table),
		cmocka_unit_test(padding_has_no_rows),
		cmocka_unit_test(functions_with_cfi_are_no_plt),
		cmocka_unit_test(a_damaged_plt_has_no_rows),
		cmocka_unit_test(the_key_depends_on_the_plt),
		cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_maker.h"
#include "symbol/elf_symbols.h"
#include "torture.h"
#include "unit.h"

#include <string.h>

#define MAX_BYTES ((size_t)1 << 20)
#define PLT 0x100 /* where things are behind the beginning of the text */
#define PLT_SEC 0x200
#define PLT_GOT 0x300
#define SLOTS 0x2000

#define UNDEFINED MAKER_TEXT_BYTES /* no function of this file */

static const struct maker_symbol imports[] = {
	{ "malloc", UNDEFINED, 0 },
	{ "free", UNDEFINED, 0 },
	{ 0 },
};

/* The parts of a file, to be changed before it is made. */
struct parts {
	uint8_t plt[4 * 16];
	uint8_t plt_sec[2 * 16];
	uint8_t plt_got[2 * 8];
	Elf64_Rela rela_plt[4];
	Elf64_Rela rela_dyn[2];
	size_t rela_plt_len;
	uint64_t entry_bytes; /* of .plt */
	uint32_t rela_type;
};

/* `jmp *slot(%rip)` at an address. */
static void put_jump(uint8_t *to, uint64_t address, uint64_t slot)
{
	int32_t distance = (int32_t)(slot - address - 6);

	to[0] = 0xff;
	to[1] = 0x25;
	memcpy(to + 2, &distance, sizeof(distance));
}

static Elf64_Rela relocation(uint64_t slot, uint32_t type, uint32_t symbol, int64_t addend)
{
	return (Elf64_Rela){ MAKER_TEXT_ADDRESS + slot, ELF64_R_INFO(symbol, type), addend };
}

static struct parts make_parts(void)
{
	const uint64_t text = MAKER_TEXT_ADDRESS;
	struct parts parts = {
		.rela_plt = {
			relocation(SLOTS + 8, R_X86_64_JUMP_SLOT, 2, 0),
			relocation(SLOTS, R_X86_64_JUMP_SLOT, 1, 0),
			relocation(SLOTS + 16, R_X86_64_IRELATIVE, 0, 0x401abc),
			relocation(SLOTS + 24, R_X86_64_JUMP_SLOT, 77, 0), /* no such symbol */
		},
		.rela_dyn = {
			relocation(SLOTS + 64, R_X86_64_RELATIVE, 0, 0x401000),
			relocation(SLOTS + 72, R_X86_64_GLOB_DAT, 2, 0),
		},
		.rela_plt_len = sizeof(parts.rela_plt),
		.entry_bytes = 16,
		.rela_type = SHT_RELA,
	};

	put_jump(parts.plt + 6, text + PLT + 6, text + SLOTS + 0x100); /* to the linker */
	put_jump(parts.plt + 16, text + PLT + 16, text + SLOTS);
	put_jump(parts.plt + 32, text + PLT + 32, text + SLOTS + 16);
	put_jump(parts.plt + 48, text + PLT + 48, text + SLOTS + 24);
	memcpy(parts.plt_sec, "\xf3\x0f\x1e\xfa\xf2", 5);
	put_jump(parts.plt_sec + 5, text + PLT_SEC + 5, text + SLOTS + 8);
	memcpy(parts.plt_sec + 16, "\xf3\x0f\x1e\xfa\xe9", 5); /* some other jump */
	put_jump(parts.plt_got, text + PLT_GOT, text + SLOTS + 72);
	put_jump(parts.plt_got + 8, text + PLT_GOT + 8, text + SLOTS + 64); /* no function */
	return parts;
}

static int make_file(const struct parts *parts)
{
	Elf64_Shdr code = { .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC };
	_cleanup_(elf_maker_done) struct elf_maker maker;

	elf_maker_init(&maker);
	elf_maker_add_symbols(&maker, SHT_DYNSYM, imports);
	code.sh_addr = MAKER_TEXT_ADDRESS + PLT;
	code.sh_entsize = parts->entry_bytes;
	elf_maker_add(&maker, ".plt", code, parts->plt, sizeof(parts->plt));
	code.sh_addr = MAKER_TEXT_ADDRESS + PLT_SEC;
	code.sh_entsize = 16;
	elf_maker_add(&maker, ".plt.sec", code, parts->plt_sec, sizeof(parts->plt_sec));
	code.sh_addr = MAKER_TEXT_ADDRESS + PLT_GOT;
	code.sh_entsize = 8;
	elf_maker_add(&maker, ".plt.got", code, parts->plt_got, sizeof(parts->plt_got));
	elf_maker_add(&maker, ".rela.plt", (Elf64_Shdr){ .sh_type = parts->rela_type },
		      parts->rela_plt, parts->rela_plt_len);
	elf_maker_add(&maker, ".rela.dyn", (Elf64_Shdr){ .sh_type = SHT_RELA }, parts->rela_dyn,
		      sizeof(parts->rela_dyn));
	elf_maker_finish(&maker);
	return elf_maker_write(maker.bytes.data, maker.bytes.len);
}

static size_t count(const struct parts *parts)
{
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
	_cleanup_close_ int fd = make_file(parts);

	assert_int_equal(elf_symbols_load(fd, MAX_BYTES, &symbols), 0);
	return elf_symbols_count(symbols);
}

static void a_stub_has_the_name_of_what_it_calls(void **state)
{
	static const struct {
		uint64_t delta;
		const char *name; /* NULL: none */
	} cases[] = {
		{ PLT, NULL },
		{ PLT + 16, "malloc@plt" },
		{ PLT + 31, "malloc@plt" },
		{ PLT + 32, "*ABS*+0x401abc@plt" },
		{ PLT + 48, NULL },
		{ PLT_SEC, "free@plt" },
		{ PLT_SEC + 16, NULL },
		{ PLT_GOT, "free@plt" },
		{ PLT_GOT + 8, NULL },
	};
	struct parts parts = make_parts();
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
	_cleanup_close_ int fd = make_file(&parts);
	(void)state;

	assert_int_equal(elf_symbols_load(fd, MAX_BYTES, &symbols), 0);
	assert_int_equal(elf_symbols_count(symbols), 4);
	assert_false(elf_symbols_info(symbols)->has_symtab);
	for (size_t i = 0; i < array_len(cases); i++) {
		struct elf_symbol found;
		int r = elf_symbols_find(symbols, MAKER_TEXT_ADDRESS + cases[i].delta, &found);

		assert_int_equal(r, cases[i].name ? 0 : -ENOENT);
		if (cases[i].name)
			assert_string_equal(found.name, cases[i].name);
	}
}

static void absurd_sizes_of_stubs_do_no_harm(void **state)
{
	static const uint64_t sizes[] = { 0, 1, 7, 65, UINT64_MAX };
	(void)state;

	for (size_t i = 0; i < array_len(sizes); i++) {
		struct parts parts = make_parts();

		parts.entry_bytes = sizes[i];
		assert_int_equal(count(&parts), 4); /* as if it said 16 */
	}
}

static void stubs_without_relocations_have_no_names(void **state)
{
	struct parts parts = make_parts();
	(void)state;

	parts.rela_plt_len = 0;
	assert_int_equal(count(&parts), 1);

	parts = make_parts();
	parts.rela_plt_len = 2 * sizeof(Elf64_Rela) + 5;
	assert_int_equal(count(&parts), 3);

	parts = make_parts();
	parts.rela_type = SHT_PROGBITS;
	assert_int_equal(count(&parts), 1);
}

/* In a sparse file. */
static void a_huge_section_is_not_read(void **state)
{
	static const size_t sections[] = { 4, 5, 6, 7 }; /* .plt, .plt.sec, .plt.got, .rela.plt */
	(void)state;

	for (size_t i = 0; i < array_len(sections); i++) {
		struct parts parts = make_parts();
		_cleanup_close_ int fd = make_file(&parts);
		struct elf_symbols *symbols = NULL;
		Elf64_Ehdr header;
		const uint64_t size = UINT64_C(1) << 34;

		assert_int_equal(pread(fd, &header, sizeof(header), 0), sizeof(header));
		assert_int_equal(pwrite(fd, &size, sizeof(size),
					(off_t)(header.e_shoff + sections[i] * sizeof(Elf64_Shdr) +
						offsetof(Elf64_Shdr, sh_size))),
				 sizeof(size));
		assert_int_equal(ftruncate(fd, (off_t)1 << 35), 0);
		assert_int_equal(elf_symbols_load(fd, MAX_BYTES, &symbols), -ENOSPC);
		assert_null(symbols);
	}
}

static void slots_may_be_anywhere(void **state)
{
	static const uint64_t addresses[] = { 0, UINT64_MAX, UINT64_MAX - 7, 1 };
	(void)state;

	for (size_t i = 0; i < array_len(addresses); i++) {
		struct parts parts = make_parts();

		parts.rela_plt[1].r_offset = addresses[i];
		assert_int_equal(count(&parts), 3);
	}
}

static void any_changed_byte_does_no_harm(void **state)
{
	static const unsigned char values[] = { 0, 0x7f, 0x80, 0xff };
	struct parts parts = make_parts();
	(void)state;

	for (size_t i = 0; i < offsetof(struct parts, rela_plt_len) * array_len(values); i++) {
		struct parts changed = parts;

		((unsigned char *)&changed)[i / array_len(values)] = values[i % array_len(values)];
		assert_true(count(&changed) <= 8);
	}
}

static void want_of_memory_is_reported(void **state)
{
	struct parts parts = make_parts();
	_cleanup_close_ int fd = make_file(&parts);
	struct elf_symbols *symbols = NULL;
	int r = -ENOMEM;
	(void)state;

	for (unsigned int n = 1;
	     torture_begin(n), r = elf_symbols_load(fd, MAX_BYTES, &symbols), torture_end(); n++)
		assert_int_equal(r, -ENOMEM);
	assert_int_equal(r, 0);
	elf_symbols_free(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stub_has_the_name_of_what_it_calls),
		cmocka_unit_test(absurd_sizes_of_stubs_do_no_harm),
		cmocka_unit_test(stubs_without_relocations_have_no_names),
		cmocka_unit_test(a_huge_section_is_not_read),
		cmocka_unit_test(slots_may_be_anywhere),
		cmocka_unit_test(any_changed_byte_does_no_harm),
		cmocka_unit_test(want_of_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_maker.h"
#include "function_count.h"
#include "symbol/elf/elf_symbols.h"
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
	uint8_t plt[8 * 16];
	uint8_t plt_sec[2 * 16];
	uint8_t plt_got[2 * 8];
	Elf64_Rela rela_plt[4];
	Elf64_Rela rela_dyn[2];
	size_t rela_plt_len;
	uint64_t entry_bytes; /* of .plt */
	uint32_t rela_type;
	uint16_t machine;
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
		.machine = EM_X86_64,
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

/* adrp x16, page; ldr x17, [x16, #place]; add x16, x16, #place; br x17: of an arm64
 * file. Returns what is behind. */
static uint32_t *put_arm64_jump(uint32_t *to, uint64_t address, uint64_t slot)
{
	uint32_t nr_pages = (uint32_t)((slot >> 12) - (address >> 12));
	uint32_t place = slot & 0xfff;

	*to++ = 0x90000010 | (nr_pages & 3) << 29 | (nr_pages >> 2 & 0x7ffff) << 5;
	*to++ = 0xf9400211 | place / 8 << 10;
	*to++ = 0x91000210 | place << 10;
	*to++ = 0xd61f0220;
	return to;
}

/* The first stub, one without and one with guards against attacks, and one to
 * a slot without a symbol. */
static struct parts make_arm64_parts(void)
{
	const uint64_t text = MAKER_TEXT_ADDRESS;
	struct parts parts = make_parts();
	uint32_t code[32] = { 0xa9bf7bf0 }; /* stp x16, x30, [sp, #-16]! */
	uint32_t *next;

	put_arm64_jump(code + 1, text + PLT + 4, text + SLOTS + 0x100);
	next = put_arm64_jump(code + 8, text + PLT + 32, text + SLOTS);
	*next++ = 0xd503245f; /* bti c */
	next = put_arm64_jump(next, text + PLT + 52, text + SLOTS + 8);
	next[-1] = 0xd503219f; /* autia1716 */
	*next++ = 0xd61f0220;
	put_arm64_jump(next, text + PLT + 72, text + SLOTS + 24);
	memcpy(parts.plt, code, sizeof(code));
	memset(parts.plt_sec, 0, sizeof(parts.plt_sec));
	memset(parts.plt_got, 0, sizeof(parts.plt_got));
	for (size_t i = 0; i < array_len(parts.rela_plt); i++)
		parts.rela_plt[i].r_info = ELF64_R_INFO(ELF64_R_SYM(parts.rela_plt[i].r_info),
							R_AARCH64_JUMP_SLOT);
	parts.machine = EM_AARCH64;
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
	elf_maker_header(&maker)->e_machine = parts->machine;
	return elf_maker_write(maker.bytes.data, maker.bytes.len);
}

static size_t count(const struct parts *parts)
{
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
	_cleanup_close_ int fd = make_file(parts);

	assert_int_equal(elf_symbols_load(fd, MAX_BYTES, &symbols), 0);
	return function_count(symbols);
}

struct named_place {
	uint64_t delta;
	const char *name; /* NULL: none */
};

static void check_names(const struct parts *parts, const struct named_place *places, size_t nr)
{
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
	_cleanup_close_ int fd = make_file(parts);

	assert_int_equal(elf_symbols_load(fd, MAX_BYTES, &symbols), 0);
	assert_false(elf_symbols_info(symbols)->has_symtab);
	for (size_t i = 0; i < nr; i++) {
		struct elf_symbol found;
		int r = elf_symbols_find(symbols, MAKER_TEXT_ADDRESS + places[i].delta, &found);

		assert_int_equal(r, places[i].name ? 0 : -ENOENT);
		if (places[i].name)
			assert_string_equal(found.name, places[i].name);
	}
}

static void a_stub_has_the_name_of_what_it_calls(void **state)
{
	static const struct named_place places[] = {
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
	(void)state;

	check_names(&parts, places, array_len(places));
	assert_int_equal(count(&parts), 4);
}

static void stubs_of_arm64_are_told_by_their_code(void **state)
{
	static const struct named_place places[] = {
		{ PLT, NULL },
		{ PLT + 28, NULL },
		{ PLT + 32, "malloc@plt" },
		{ PLT + 47, "malloc@plt" },
		{ PLT + 48, "free@plt" },
		{ PLT + 71, "free@plt" },
		{ PLT + 72, NULL },
	};
	struct parts parts = make_arm64_parts();
	(void)state;

	check_names(&parts, places, array_len(places));
	assert_int_equal(count(&parts), 2);
}

static void stubs_of_unknown_machines_have_no_names(void **state)
{
	struct parts parts = make_parts();
	(void)state;

	parts.machine = EM_RISCV;
	assert_int_equal(count(&parts), 0);
}

/* The end of the section cuts the last stub off. */
static void slots_of_arm64_are_within_4_gigabytes_and_the_section(void **state)
{
	static const int64_t pages[] = { -0x100000, -1, 0, 0xfffff };
	(void)state;

	for (size_t i = 0; i < array_len(pages); i++) {
		struct parts parts = make_arm64_parts();
		uint64_t slot = ((MAKER_TEXT_ADDRESS + PLT) & ~0xfffULL) +
				(uint64_t)pages[i] * 0x1000 + 0xff8;
		uint32_t code[4];

		put_arm64_jump(code, MAKER_TEXT_ADDRESS + PLT + sizeof(parts.plt) - 16, slot);
		memcpy(parts.plt + sizeof(parts.plt) - 16, code, 16);
		parts.rela_plt[3] = (Elf64_Rela){ slot, ELF64_R_INFO(1, R_AARCH64_GLOB_DAT), 0 };
		assert_int_equal(count(&parts), 3);
		memcpy(parts.plt + sizeof(parts.plt) - 12, code, 12);
		memset(parts.plt + sizeof(parts.plt) - 16, 0, 4);
		assert_int_equal(count(&parts), 2);
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
	const struct parts parts[] = { make_parts(), make_arm64_parts() };
	const size_t nr = offsetof(struct parts, rela_plt_len) * array_len(values);
	(void)state;

	for (size_t i = 0; i < nr * array_len(parts); i++) {
		struct parts changed = parts[i / nr];

		((unsigned char *)&changed)[i % nr / array_len(values)] =
			values[i % array_len(values)];
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
		cmocka_unit_test(stubs_of_arm64_are_told_by_their_code),
		cmocka_unit_test(stubs_of_unknown_machines_have_no_names),
		cmocka_unit_test(slots_of_arm64_are_within_4_gigabytes_and_the_section),
		cmocka_unit_test(absurd_sizes_of_stubs_do_no_harm),
		cmocka_unit_test(stubs_without_relocations_have_no_names),
		cmocka_unit_test(a_huge_section_is_not_read),
		cmocka_unit_test(slots_may_be_anywhere),
		cmocka_unit_test(any_changed_byte_does_no_harm),
		cmocka_unit_test(want_of_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

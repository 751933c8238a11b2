/* SPDX-License-Identifier: Apache-2.0 */
/* Files without section headers. */
#include "symbol/elf/elf_symbol_table.h"

#include "base/cleanup.h"
#include "elf_maker.h"
#include "function_count.h"
#include "symbol/elf/elf_symbols.h"
#include "unit.h"

#include <string.h>

#define MAX_BYTES ((size_t)1 << 20)
#define ADDRESS 0x400000 /* of offset 0 */
#define CODE 0x1000

enum { NR_SYMBOLS = 4 };

static const char strings[] = "\0alpha\0beta\0gamma";

/* A program as a dynamic linker sees it. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	Elf64_Dyn dynamic[6];
	Elf64_Sym symbols[NR_SYMBOLS];
	char strings[sizeof(strings)];
	struct {
		uint32_t nr_buckets, nr_chains, rest[6];
	} hash;
	struct {
		uint32_t nr_buckets, first_symbol, nr_bloom, shift;
		uint64_t bloom[1];
		uint32_t buckets[2];
		uint32_t chains[NR_SYMBOLS - 1]; /* of symbols 1 … */
	} gnu_hash;
	char code[CODE]; /* more than enough */
};

static Elf64_Dyn entry(int64_t tag, uint64_t value)
{
	return (Elf64_Dyn){ .d_tag = tag, .d_un = { value } };
}

static Elf64_Sym function(uint32_t name, uint64_t address)
{
	return (Elf64_Sym){
		.st_name = name,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = 1,
		.st_value = ADDRESS + offsetof(struct image, code) + address,
		.st_size = 0x10,
	};
}

static struct image make_image(void)
{
	struct image image = {
		.header = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_phoff = offsetof(struct image, segments),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 2,
		},
		.segments = {
			{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = ADDRESS,
			  .p_filesz = sizeof(image) },
			{ .p_type = PT_DYNAMIC, .p_offset = offsetof(struct image, dynamic),
			  .p_filesz = sizeof(image.dynamic) },
		},
		.dynamic = {
			entry(DT_SYMTAB, ADDRESS + offsetof(struct image, symbols)),
			entry(DT_STRTAB, ADDRESS + offsetof(struct image, strings)),
			entry(DT_STRSZ, sizeof(strings)),
			entry(DT_GNU_HASH, ADDRESS + offsetof(struct image, gnu_hash)),
			entry(DT_HASH, ADDRESS + offsetof(struct image, hash)),
		},
		.symbols = { [1] = function(1, 0), [2] = function(7, 0x20), [3] = function(12, 0x40) },
		.hash = { 1, NR_SYMBOLS, { 0 } },
		.gnu_hash = { 2, 1, 1, 0, { 0 }, { 1, 3 }, { 2, 5, 7 } },
	};

	memcpy(image.strings, strings, sizeof(strings));
	return image;
}

static int load(const struct image *image, size_t *ret_count)
{
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
	_cleanup_close_ int fd = elf_maker_write(image, sizeof(*image));
	struct elf_symbol found;

	int r = elf_symbols_load(fd, MAX_BYTES, &symbols);
	if (r < 0)
		return r;
	*ret_count = function_count(symbols);
	for (uint64_t delta = 0; delta < 0x60; delta++)
		if (elf_symbols_find(symbols, ADDRESS + offsetof(struct image, code) + delta,
				     &found) == 0)
			assert_true(strlen(found.name) < sizeof(strings));
	return 0;
}

static void either_hash_table_tells_how_many_symbols_there_are(void **state)
{
	size_t count = 0;
	(void)state;

	for (size_t hidden = 3; hidden < 5; hidden++) {
		struct image image = make_image();

		image.dynamic[hidden].d_tag = DT_DEBUG;
		assert_int_equal(load(&image, &count), 0);
		assert_int_equal(count, 3);
	}
}

static void symbols_that_no_bucket_has_are_those_before_the_first(void **state)
{
	struct image image = make_image();
	size_t count = 0;
	(void)state;

	image.dynamic[4].d_tag = DT_NULL;
	image.gnu_hash.first_symbol = 2;
	image.gnu_hash.buckets[0] = 0;
	image.gnu_hash.buckets[1] = 0;
	assert_int_equal(load(&image, &count), 0);
	assert_int_equal(count, 1);
}

static void without_a_hash_table_there_are_no_symbols(void **state)
{
	struct image image = make_image();
	size_t count = 1;
	(void)state;

	image.dynamic[3].d_tag = DT_NULL;
	assert_int_equal(load(&image, &count), 0);
	assert_int_equal(count, 0);

	image = make_image();
	image.segments[1].p_type = PT_NULL;
	assert_int_equal(load(&image, &count), 0);
	assert_int_equal(count, 0);
}

#define FIELD(member) offsetof(struct image, member), sizeof(((struct image *)0)->member)

static void absurd_numbers_are_refused(void **state)
{
	static const struct {
		bool is_gnu;
		size_t offset;
		size_t bytes;
		uint64_t value;
		int result;
	} cases[] = {
		{ false, FIELD(dynamic[0].d_un), UINT64_MAX, -EBADMSG },
		{ false, FIELD(dynamic[1].d_un), ADDRESS - 1, -EBADMSG },
		{ false, FIELD(dynamic[2].d_un), UINT64_MAX, -EBADMSG },
		{ false, FIELD(dynamic[2].d_un), sizeof(struct image), -EBADMSG },
		{ false, FIELD(dynamic[4].d_un), ADDRESS + sizeof(struct image) - 7, -EBADMSG },
		{ false, FIELD(hash.nr_chains), UINT32_MAX, -ENOSPC },
		{ false, FIELD(hash.nr_chains), 1000, -EBADMSG },
		{ false, FIELD(segments[1].p_filesz), (64 << 10) + 1, -ENOSPC },
		{ false, FIELD(segments[1].p_offset), UINT64_MAX, -EBADMSG },
		{ false, FIELD(segments[0].p_offset), 1, -EBADMSG },
		{ true, FIELD(dynamic[3].d_un), ADDRESS + sizeof(struct image) - 15, -EBADMSG },
		{ true, FIELD(gnu_hash.nr_buckets), UINT32_MAX, -ENOSPC },
		{ true, FIELD(gnu_hash.nr_buckets), 1000000, -EBADMSG },
		{ true, FIELD(gnu_hash.nr_bloom), UINT32_MAX, -EBADMSG },
		{ true, FIELD(gnu_hash.buckets[1]), UINT32_MAX, -EBADMSG },
		{ true, FIELD(gnu_hash.buckets[1]), 1000, -EBADMSG },
	};
	size_t count;
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct image image = make_image();

		image.dynamic[cases[i].is_gnu ? 4 : 3].d_tag = DT_DEBUG;
		memcpy((char *)&image + cases[i].offset, &cases[i].value, cases[i].bytes);
		assert_int_equal(load(&image, &count), cases[i].result);
	}
}

static void any_changed_byte_leaves_a_sound_table_or_none(void **state)
{
	static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct image image = make_image();
	size_t count;
	(void)state;

	for (size_t i = 0; i < offsetof(struct image, code) * array_len(values); i++) {
		struct image changed = image;

		((unsigned char *)&changed)[i / array_len(values)] = values[i % array_len(values)];
		changed.dynamic[i % 2 ? 3 : 4].d_tag = DT_DEBUG;
		int r = load(&changed, &count);
		assert_true(r == -EBADMSG || r == -ENOSPC || (r == 0 && count < 100));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(either_hash_table_tells_how_many_symbols_there_are),
		cmocka_unit_test(symbols_that_no_bucket_has_are_those_before_the_first),
		cmocka_unit_test(without_a_hash_table_there_are_no_symbols),
		cmocka_unit_test(absurd_numbers_are_refused),
		cmocka_unit_test(any_changed_byte_leaves_a_sound_table_or_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/elf/elf_info.h"
#include "symbol/elf/elf_symbols.h"

#include "elf_maker.h"
#include "function_count.h"
#include "unit.h"

#include <string.h>

#define MAX_BYTES ((size_t)1 << 20)
#define LONGEST "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* Loads a file with one more section. */
static struct elf_symbols_info load_with(const char *name, Elf64_Shdr header, const void *data,
					 size_t len)
{
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
	_cleanup_(elf_maker_done) struct elf_maker maker;

	elf_maker_init(&maker);
	elf_maker_add(&maker, name, header, data, len);
	elf_maker_finish(&maker);
	_cleanup_close_ int fd = elf_maker_write(maker.bytes.data, maker.bytes.len);
	assert_int_equal(elf_symbols_load(fd, MAX_BYTES, &symbols), 0);
	return *elf_symbols_info(symbols);
}

static const Elf64_Shdr plain = { .sh_type = SHT_PROGBITS };

static void a_debuglink_is_a_name_and_a_checksum(void **state)
{
	static const struct {
		const char *data;
		size_t len;
		const char *name;
	} cases[] = {
		{ "a.debug\0\1\2\3\4", 12, "a.debug" },
		{ "ab.debug\0\0\0\0\1\2\3\4", 16, "ab.debug" },
		{ "abc\0\1\2\3\4and more", 16, "abc" },
		{ "a.debug\0\1\2\3", 11, "" },
		{ "a.debug\0", 8, "" },
		{ "a.debug", 7, "" },
		{ "\0\0\0\0\1\2\3\4", 8, "" },
		{ "../d/x\0\0\1\2\3\4", 12, "" },
		{ "/etc/x\0\0\1\2\3\4", 12, "" },
		{ "..\0\0\1\2\3\4", 8, "" },
		{ ".\0\0\0\1\2\3\4", 8, "" },
		{ LONGEST LONGEST LONGEST LONGEST "\0\0\0\0\1\2\3\4", 264, "" }, /* 256 */
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct elf_symbols_info info = load_with(".gnu_debuglink", plain, cases[i].data,
							 cases[i].len);

		assert_string_equal(info.link_name, cases[i].name);
		assert_int_equal(info.link_crc, cases[i].name[0] ? 0x04030201 : 0);
		assert_int_equal(info.nr_bad_sources, 0);
	}
}

static void an_altlink_has_a_build_id(void **state)
{
	static const struct {
		const char *data;
		size_t len;
		const char *id;
	} cases[] = {
		{ "../x\0\xde\xad\x00\xff", 9, "dead00ff" },
		{ "\0\1", 2, "01" },
		{ "name\0", 5, "" },
		{ "name", 4, "" },
		{ "n\0" LONGEST, 66, "" },
	};
	char longest_id[2 * 64 + 1] = "";
	(void)state;

	for (size_t i = 0; i < 2 * 64; i++)
		longest_id[i] = i % 2 ? '1' : '6'; /* "a" */
	for (size_t i = 0; i < array_len(cases); i++) {
		struct elf_symbols_info info = load_with(".gnu_debugaltlink", plain, cases[i].data,
							 cases[i].len);

		assert_string_equal(info.alt_build_id, i == 4 ? longest_id : cases[i].id);
	}
	struct elf_symbols_info info = load_with(".gnu_debugaltlink", plain, "n\0" LONGEST "a", 67);
	assert_string_equal(info.alt_build_id, "");
}

static void debug_information_counts_when_it_is_there(void **state)
{
	static const struct {
		const char *name;
		Elf64_Shdr header;
		size_t len;
		bool has_debug_info;
	} cases[] = {
		{ ".debug_info", { .sh_type = SHT_PROGBITS }, 8, true },
		{ ".debug_info", { .sh_type = SHT_PROGBITS, .sh_flags = SHF_COMPRESSED }, 8, true },
		{ ".zdebug_info", { .sh_type = SHT_PROGBITS }, 8, true },
		{ ".debug_info", { .sh_type = SHT_PROGBITS }, 0, false },
		{ ".debug_info", { .sh_type = SHT_NOBITS, .sh_size = 8 }, 8, false },
		{ ".debug_info", { .sh_type = SHT_NULL }, 8, false },
		{ ".debug_line", { .sh_type = SHT_PROGBITS }, 8, false },
		{ ".debug_info.dwo", { .sh_type = SHT_PROGBITS }, 8, false },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct elf_symbols_info info = load_with(cases[i].name, cases[i].header, "12345678",
							 cases[i].len);

		assert_int_equal(info.has_debug_info, cases[i].has_debug_info);
		assert_false(info.has_symtab);
	}
}

static void a_go_build_id_is_text(void **state)
{
#define GO_NOTE(len) "\4\0\0\0" len "\0\0\0\4\0\0\0Go\0\0"
	static const struct {
		const char *data;
		size_t len;
		const char *id;
	} cases[] = {
		{ GO_NOTE("\7") "aZ0/_-9", 24, "aZ0/_-9" },
		{ GO_NOTE("\7") "aZ0/_ 9", 24, "" },
		{ GO_NOTE("\7") "a\0bcdef", 24, "" },
		{ GO_NOTE("\7") "abc\0\0\0\0", 24, "" },
		{ GO_NOTE("\7") "ab\"d\xff"
				"ef",
		  24, "" },
		{ GO_NOTE("\0"), 16, "" },
		{ GO_NOTE("\7") "abc", 20, "" }, /* ends before its end */
		{ "\4\0\0\0\7\0\0\0\3\0\0\0Go\0\0abcdefg", 24, "" }, /* another type */
		{ "\4\0\0\0\7\0\0\0\4\0\0\0GNU\0abcdefg", 24, "" },
		{ GO_NOTE("\100") LONGEST, 80, LONGEST },
		{ GO_NOTE("\177") LONGEST LONGEST, 144,
		  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" LONGEST },
		{ GO_NOTE("\200") LONGEST LONGEST, 144, "" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct elf_symbols_info info = load_with(
			".note.go.buildid", (Elf64_Shdr){ .sh_type = SHT_NOTE, .sh_addralign = 4 },
			cases[i].data, cases[i].len);

		assert_string_equal(info.go_build_id, cases[i].id);
		assert_string_equal(info.build_id, "");
	}
}

static void the_hash_is_of_both_ends_and_the_length(void **state)
{
	static const struct {
		size_t nr_bytes; /* of a section in the middle */
		size_t changed; /* one of them */
		bool is_seen;
	} cases[] = {
		{ 100, 50, true },
		{ 20000, 10, true },
		{ 20000, 10000, false },
	};
	static char content[20000 + 64];
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct elf_symbols_info before = load_with(".data", plain, content,
							   cases[i].nr_bytes);
		content[cases[i].changed] ^= 1;
		struct elf_symbols_info after = load_with(".data", plain, content,
							  cases[i].nr_bytes);
		content[cases[i].changed] ^= 1;
		struct elf_symbols_info longer = load_with(".data", plain, content,
							   cases[i].nr_bytes + 64);

		assert_int_equal(strlen(before.htlhash), 32);
		assert_int_equal(strcmp(before.htlhash, after.htlhash) != 0, cases[i].is_seen);
		assert_string_not_equal(before.htlhash, longer.htlhash);
	}
}

/* Where the names of sections are is damaged. */
static void without_section_names_symbols_are_read_and_the_loss_is_counted(void **state)
{
	static const struct maker_symbol functions[] = { { "function", 0, 0x10 }, { 0 } };
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
	_cleanup_(elf_maker_done) struct elf_maker maker;
	(void)state;

	elf_maker_init(&maker);
	elf_maker_add_symbols(&maker, SHT_SYMTAB, functions);
	elf_maker_finish(&maker);

	elf_maker_section(&maker, elf_maker_header(&maker)->e_shstrndx)->sh_offset = UINT64_MAX;
	_cleanup_close_ int fd = elf_maker_write(maker.bytes.data, maker.bytes.len);
	assert_int_equal(elf_symbols_load(fd, MAX_BYTES, &symbols), 0);
	assert_int_equal(function_count(symbols), 1);
	assert_int_equal(elf_symbols_info(symbols)->nr_bad_sources, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_debuglink_is_a_name_and_a_checksum),
		cmocka_unit_test(an_altlink_has_a_build_id),
		cmocka_unit_test(a_go_build_id_is_text),
		cmocka_unit_test(the_hash_is_of_both_ends_and_the_length),
		cmocka_unit_test(debug_information_counts_when_it_is_there),
		cmocka_unit_test(without_section_names_symbols_are_read_and_the_loss_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

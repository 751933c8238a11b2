/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/elf_fingerprint.h"

#include "elf_maker.h"
#include "unit.h"

#include <string.h>

#define MAX_BYTES ((size_t)1 << 20)
#define CONTENT_BYTES 100

static const struct maker_symbol functions[] = { { "function", 0, 0x10 }, { 0 } };

/* What may decide on a function's name. */
static const struct {
	const char *name;
	uint32_t type;
	uint64_t flags;
	bool has_symbols;
} sections[] = {
	{ ".gnu_debugdata", SHT_PROGBITS, 0, true },
	{ ".gopclntab", SHT_PROGBITS, SHF_ALLOC, true },
	{ ".go.module", SHT_PROGBITS, SHF_ALLOC, false },
	{ ".gnu_debuglink", SHT_PROGBITS, 0, false },
	{ ".gnu_debugaltlink", SHT_PROGBITS, 0, false },
	{ ".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, false },
	{ ".plt.sec", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, false },
	{ ".plt.got", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, false },
	{ ".rela.plt", SHT_RELA, SHF_ALLOC, false },
	{ ".rela.dyn", SHT_RELA, SHF_ALLOC, false },
	{ ".debug_str", SHT_PROGBITS, 0, false },
	{ ".zdebug_info", SHT_PROGBITS, 0, false },
	{ ".data", SHT_PROGBITS, SHF_ALLOC, false }, /* the only one that does not */
};

static void make_file(struct elf_maker *maker)
{
	static const char content[CONTENT_BYTES];

	elf_maker_init(maker);
	elf_maker_add_symbols(maker, SHT_SYMTAB, functions);
	for (size_t i = 0; i < array_len(sections); i++)
		elf_maker_add(
			maker, sections[i].name,
			(Elf64_Shdr){ .sh_type = sections[i].type, .sh_flags = sections[i].flags },
			content, sizeof(content));
	elf_maker_finish(maker);
}

static struct elf_fingerprint take(const struct elf_maker *maker)
{
	_cleanup_close_ int fd = elf_maker_write(maker->bytes.data, maker->bytes.len);
	struct elf_fingerprint print;

	assert_int_equal(elf_fingerprint_take(fd, MAX_BYTES, true, &print), 0);
	return print;
}

static void copies_have_one_fingerprint(void **state)
{
	_cleanup_(elf_maker_done) struct elf_maker maker;
	(void)state;

	make_file(&maker);
	const struct elf_fingerprint first = take(&maker);
	const struct elf_fingerprint second = take(&maker);
	assert_true(elf_fingerprint_is_equal(&first, &second));
}

static void a_changed_byte_that_may_name_something_gives_another(void **state)
{
	_cleanup_(elf_maker_done) struct elf_maker maker;
	(void)state;

	make_file(&maker);
	const struct elf_fingerprint first = take(&maker);
	for (size_t i = 1; i < maker.nr_sections; i++) {
		const Elf64_Shdr *section = &maker.sections[i];
		const char *name = maker.names.data + section->sh_name;

		if (section->sh_type == SHT_NOBITS)
			continue;
		maker.bytes.data[section->sh_offset + section->sh_size - 1] ^= 1;
		const struct elf_fingerprint changed = take(&maker);
		assert_int_equal(elf_fingerprint_is_equal(&first, &changed),
				 strcmp(name, ".data") == 0);
		maker.bytes.data[section->sh_offset + section->sh_size - 1] ^= 1;
	}
}

static void a_changed_header_gives_another(void **state)
{
	_cleanup_(elf_maker_done) struct elf_maker maker;
	(void)state;

	make_file(&maker);
	const struct elf_fingerprint first = take(&maker);
	elf_maker_header(&maker)->e_machine = EM_ARM;
	const struct elf_fingerprint machine = take(&maker);
	assert_false(elf_fingerprint_is_equal(&first, &machine));

	elf_maker_header(&maker)->e_machine = EM_X86_64;
	elf_maker_segment(&maker)->p_vaddr++;
	const struct elf_fingerprint segment = take(&maker);
	assert_false(elf_fingerprint_is_equal(&first, &segment));
}

static void it_tells_how_many_bytes_of_symbols_there_are(void **state)
{
	_cleanup_(elf_maker_done) struct elf_maker maker;
	(void)state;

	make_file(&maker);
	assert_int_equal(take(&maker).symbol_bytes,
			 2 * sizeof(Elf64_Sym) + sizeof("\0function") + 2 * CONTENT_BYTES);
}

static void many_sections_over_the_same_bytes_have_none(void **state)
{
	static const char content[MAX_BYTES];
	_cleanup_(elf_maker_done) struct elf_maker maker;
	struct elf_fingerprint print;
	(void)state;

	elf_maker_init(&maker);
	elf_maker_add_plain(&maker, ".plt.got", content, sizeof(content));
	for (size_t i = 0; i < 10; i++)
		elf_maker_add_plain(&maker, ".rela", NULL, 0);
	elf_maker_finish(&maker);
	for (size_t i = 3; i < 13; i++)
		*elf_maker_section(&maker, i) = (Elf64_Shdr){
			.sh_type = SHT_RELA,
			.sh_flags = SHF_ALLOC,
			.sh_offset = elf_maker_section(&maker, 2)->sh_offset,
			.sh_size = sizeof(content),
		};
	_cleanup_close_ int fd = elf_maker_write(maker.bytes.data, maker.bytes.len);
	assert_int_equal(elf_fingerprint_take(fd, MAX_BYTES, false, &print), -ENOSPC);
}

static void debug_information_matters_to_those_who_read_it(void **state)
{
	static const char other[CONTENT_BYTES] = "other";
	struct elf_fingerprint prints[2][2];
	(void)state;

	for (size_t i = 0; i < 2; i++) {
		_cleanup_(elf_maker_done) struct elf_maker maker;

		make_file(&maker);
		for (size_t k = 0; k < maker.nr_sections && i == 1; k++)
			if (strcmp(maker.names.data + maker.sections[k].sh_name, ".debug_str") == 0)
				memcpy(maker.bytes.data + maker.sections[k].sh_offset, other,
				       sizeof(other));
		_cleanup_close_ int fd = elf_maker_write(maker.bytes.data, maker.bytes.len);
		for (size_t k = 0; k < 2; k++)
			assert_int_equal(elf_fingerprint_take(fd, MAX_BYTES, k, &prints[i][k]), 0);
	}
	assert_true(elf_fingerprint_is_equal(&prints[0][0], &prints[1][0]));
	assert_false(elf_fingerprint_is_equal(&prints[0][1], &prints[1][1]));
}

static void much_debug_information_has_none(void **state)
{
	_cleanup_(elf_maker_done) struct elf_maker maker;
	_cleanup_free_ char *content = calloc(1, ELF_FINGERPRINT_MAX_DEBUG_BYTES + 1);
	struct elf_fingerprint print;
	(void)state;

	assert_non_null(content);
	elf_maker_init(&maker);
	elf_maker_add_symbols(&maker, SHT_SYMTAB, functions);
	elf_maker_add_plain(&maker, ".debug_info", content, ELF_FINGERPRINT_MAX_DEBUG_BYTES / 2);
	elf_maker_add_plain(&maker, ".debug_str", content, ELF_FINGERPRINT_MAX_DEBUG_BYTES / 2 + 1);
	elf_maker_finish(&maker);
	_cleanup_close_ int fd = elf_maker_write(maker.bytes.data, maker.bytes.len);
	assert_int_equal(elf_fingerprint_take(fd, ELF_FINGERPRINT_MAX_DEBUG_BYTES, true, &print),
			 -ENOSPC);
	assert_int_equal(elf_fingerprint_take(fd, ELF_FINGERPRINT_MAX_DEBUG_BYTES, false, &print),
			 0);
}

static void what_cannot_be_read_whole_has_none(void **state)
{
	_cleanup_(elf_maker_done) struct elf_maker maker;
	struct elf_fingerprint print = { .size = 7 };
	(void)state;

	make_file(&maker);
	_cleanup_close_ int fd = elf_maker_write(maker.bytes.data, maker.bytes.len);
	assert_int_equal(elf_fingerprint_take(fd, CONTENT_BYTES - 1, true, &print), -ENOSPC);

	for (size_t i = 2; i < maker.nr_sections; i++) {
		Elf64_Shdr *section = elf_maker_section(&maker, i);
		Elf64_Shdr before = *section;

		if (strcmp(maker.names.data + section->sh_name, ".data") == 0)
			continue;
		section->sh_offset = UINT64_MAX - 8;
		_cleanup_close_ int bad = elf_maker_write(maker.bytes.data, maker.bytes.len);
		assert_int_equal(elf_fingerprint_take(bad, MAX_BYTES, true, &print), -EBADMSG);
		*section = before;
	}
	assert_int_equal(print.size, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_have_one_fingerprint),
		cmocka_unit_test(a_changed_byte_that_may_name_something_gives_another),
		cmocka_unit_test(a_changed_header_gives_another),
		cmocka_unit_test(it_tells_how_many_bytes_of_symbols_there_are),
		cmocka_unit_test(many_sections_over_the_same_bytes_have_none),
		cmocka_unit_test(debug_information_matters_to_those_who_read_it),
		cmocka_unit_test(much_debug_information_has_none),
		cmocka_unit_test(what_cannot_be_read_whole_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of all formats are those of the fuzz target's corpus. */
#include "base/cleanup.h"
#include "base/fileio.h"
#include "elf_maker.h"
#include "function_count.h"
#include "symbol/elf/elf_symbols.h"
#include "torture.h"
#include "unit.h"

#include <fcntl.h>
#include <string.h>

#define MAX_BYTES ((size_t)1 << 20)
#define CORPUS FIXTURES_DIR "/../corpus/fuzz_gopclntab/"

static const char *const formats[] = { "go1.2", "go1.16", "go1.18", "go1.20" };

static struct strbuf read_table(const char *name)
{
	struct strbuf table = strbuf_with_max(MAX_BYTES);
	_cleanup_close_ int dir_fd = open(CORPUS, O_PATH | O_DIRECTORY | O_CLOEXEC);

	assert_true(dir_fd >= 0);
	assert_int_equal(file_read_at(dir_fd, name, &table), 0);
	return table;
}

/* A Go program without symbols, or with one. */
static int make_file(const struct strbuf *table, const char *section, bool has_symtab)
{
	static const struct maker_symbol symbols[] = { { "symbol", 0x100, 0x10 }, { 0 } };
	static const uint64_t module[] = { [22] = MAKER_TEXT_ADDRESS }; /* runtime.text */
	_cleanup_(elf_maker_done) struct elf_maker maker;

	elf_maker_init(&maker);
	if (has_symtab)
		elf_maker_add_symbols(&maker, SHT_SYMTAB, symbols);
	elf_maker_add_plain(&maker, section, table->data, table->len);
	elf_maker_add_plain(&maker, ".go.module", module, sizeof(module));
	elf_maker_finish(&maker);
	return elf_maker_write(maker.bytes.data, maker.bytes.len);
}

static void every_format_names_its_functions(void **state)
{
	static const struct {
		uint64_t delta;
		const char *name; /* NULL: none */
	} cases[] = {
		{ 0xff, NULL },
		{ 0x100, "main.main" },
		{ 0x1ff, "main.main" },
		{ 0x200, "runtime.sigreturn" },
		{ 0x240, "runtime.mcall" },
		{ 0x300, "crosscall2" },
		{ 0x400, "old" },
		{ 0x500, "runtime.goexit" },
		{ 0xfff, "runtime.goexit" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(formats) * array_len(cases); i++) {
		size_t which = i % array_len(cases);
		_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
		_cleanup_(strbuf_done) struct strbuf table = read_table(
			formats[i / array_len(cases)]);
		_cleanup_close_ int fd = make_file(&table, ".gopclntab", false);
		struct elf_symbol found = { .name = NULL };

		assert_int_equal(elf_symbols_load(fd, MAX_BYTES, &symbols), 0);
		assert_int_equal(
			elf_symbols_find(symbols, MAKER_TEXT_ADDRESS + cases[which].delta, &found),
			cases[which].name ? 0 : -ENOENT);
		if (cases[which].name)
			assert_string_equal(found.name, cases[which].name);
		assert_int_equal(elf_symbols_info(symbols)->go_start, MAKER_TEXT_ADDRESS + 0x100);
		assert_int_equal(elf_symbols_info(symbols)->go_end, MAKER_TEXT_ADDRESS + 0x1000);
	}
}

static void with_a_symbol_table_only_the_range_is_told(void **state)
{
	_cleanup_(strbuf_done) struct strbuf table = read_table("go1.20");
	_cleanup_close_ int fd = make_file(&table, ".data.rel.ro.gopclntab", true);
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
	(void)state;

	assert_int_equal(elf_symbols_load(fd, MAX_BYTES, &symbols), 0);
	assert_int_equal(function_count(symbols), 1);
	assert_true(elf_symbols_info(symbols)->has_symtab);
	assert_int_equal(elf_symbols_info(symbols)->go_start, MAKER_TEXT_ADDRESS + 0x100);
}

static void a_truncated_table_gives_what_it_has_or_an_error(void **state)
{
	(void)state;

	for (size_t i = 0; i < array_len(formats); i++) {
		_cleanup_(strbuf_done) struct strbuf table = read_table(formats[i]);

		while (table.len > 1) {
			_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;

			strbuf_truncate(&table, table.len - 1);
			_cleanup_close_ int fd = make_file(&table, ".gopclntab", false);
			int r = elf_symbols_load(fd, MAX_BYTES, &symbols);
			assert_true(r == -EBADMSG || (r == 0 && function_count(symbols) <= 6));
		}
	}
}

static void any_changed_byte_leaves_a_sound_table_or_none(void **state)
{
	static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff };
	(void)state;

	for (size_t i = 0; i < array_len(formats); i++) {
		_cleanup_(strbuf_done) struct strbuf table = read_table(formats[i]);

		for (size_t k = 0; k < table.len * array_len(values); k++) {
			_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
			char old = table.data[k / array_len(values)];

			table.data[k / array_len(values)] = (char)values[k % array_len(values)];
			_cleanup_close_ int fd = make_file(&table, ".gopclntab", false);
			int r = elf_symbols_load(fd, MAX_BYTES, &symbols);
			assert_true(r == -EBADMSG || (r == 0 && function_count(symbols) <= 6));
			table.data[k / array_len(values)] = old;
		}
	}
}

static void names_over_the_limit_are_refused(void **state)
{
	_cleanup_(strbuf_done) struct strbuf table = read_table("go1.2");
	_cleanup_close_ int fd = make_file(&table, ".gopclntab", false);
	struct elf_symbols *symbols = NULL;
	(void)state;

	assert_int_equal(elf_symbols_load(fd, table.len - 1, &symbols), -ENOSPC);
	assert_null(symbols);
}

static void want_of_memory_is_reported(void **state)
{
	_cleanup_(strbuf_done) struct strbuf table = read_table("go1.20");
	_cleanup_close_ int fd = make_file(&table, ".gopclntab", false);
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
		cmocka_unit_test(every_format_names_its_functions),
		cmocka_unit_test(with_a_symbol_table_only_the_range_is_told),
		cmocka_unit_test(a_truncated_table_gives_what_it_has_or_an_error),
		cmocka_unit_test(any_changed_byte_leaves_a_sound_table_or_none),
		cmocka_unit_test(names_over_the_limit_are_refused),
		cmocka_unit_test(want_of_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

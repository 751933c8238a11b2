/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/elf/minidebug.h"

#include "elf_maker.h"
#include "function_count.h"
#include "symbol/elf/elf_symbols.h"
#include "torture.h"
#include "unit.h"
#include "xz_bytes.h"

#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)16 << 20)
#define BLOCK_HEADER 12 /* of an xz file: behind its header */

static const struct maker_symbol exported[] = { { "exported", 0, 0x10 }, { 0 } };
static const struct maker_symbol internal[] = {
	{ "exported_too", 0, 0x10 },
	{ "internal", 0x20, 0x10 },
	{ 0 },
};

/* A file with one symbol in .dynsym and a payload in .gnu_debugdata. */
static int make_file(const void *payload, size_t len, bool has_symtab)
{
	_cleanup_(elf_maker_done) struct elf_maker maker;

	elf_maker_init(&maker);
	elf_maker_add_symbols(&maker, SHT_DYNSYM, exported);
	if (has_symtab)
		elf_maker_add_symbols(&maker, SHT_SYMTAB, exported);
	elf_maker_add_plain(&maker, ".gnu_debugdata", payload, len);
	elf_maker_finish(&maker);
	return elf_maker_write(maker.bytes.data, maker.bytes.len);
}

static struct strbuf make_inner(const struct strbuf *nested)
{
	_cleanup_(elf_maker_done) struct elf_maker maker;

	elf_maker_init(&maker);
	elf_maker_add_symbols(&maker, SHT_SYMTAB, internal);
	if (nested)
		elf_maker_add_plain(&maker, ".gnu_debugdata", nested->data, nested->len);
	elf_maker_finish(&maker);
	return xz_compress(maker.bytes.data, maker.bytes.len);
}

static void expect(int fd, size_t count, uint32_t nr_bad)
{
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
	struct elf_symbol found;

	assert_int_equal(elf_symbols_load(fd, MAX_BYTES, &symbols), 0);
	assert_int_equal(function_count(symbols), count);
	assert_int_equal(elf_symbols_info(symbols)->nr_bad_sources, nr_bad);
	assert_int_equal(elf_symbols_find(symbols, MAKER_TEXT_ADDRESS, &found), 0);
	assert_string_equal(found.name, "exported");
	assert_int_equal(elf_symbols_find(symbols, MAKER_TEXT_ADDRESS + 0x2f, &found),
			 count == 2 ? 0 : -ENOENT);
}

static void its_functions_join_the_dynamic_ones(void **state)
{
	_cleanup_(strbuf_done) struct strbuf inner = make_inner(NULL);
	_cleanup_close_ int fd = make_file(inner.data, inner.len, false);
	(void)state;

	expect(fd, 2, 0);
}

static void it_is_not_read_when_there_is_a_whole_table(void **state)
{
	_cleanup_close_ int fd = make_file("rubbish", 7, true);
	(void)state;

	expect(fd, 1, 0);
}

static void another_one_within_is_ignored(void **state)
{
	_cleanup_(strbuf_done) struct strbuf bomb = xz_compress("rubbish", 7);
	_cleanup_(strbuf_done) struct strbuf inner = make_inner(&bomb);
	_cleanup_close_ int fd = make_file(inner.data, inner.len, false);
	(void)state;

	expect(fd, 2, 0);
}

static void a_truncated_payload_leaves_the_other_symbols(void **state)
{
	_cleanup_(strbuf_done) struct strbuf inner = make_inner(NULL);
	(void)state;

	for (size_t len = 1; len < inner.len; len++) {
		_cleanup_close_ int fd = make_file(inner.data, len, false);

		expect(fd, 1, 1);
	}
}

static void a_changed_payload_leaves_the_other_symbols(void **state)
{
	_cleanup_(strbuf_done) struct strbuf inner = make_inner(NULL);
	(void)state;

	for (size_t i = 0; i < inner.len; i++) {
		inner.data[i] ^= 0x55;
		_cleanup_close_ int fd = make_file(inner.data, inner.len, false);

		expect(fd, 1, 1);
		inner.data[i] ^= 0x55;
	}
}

static void what_is_no_program_inside_is_refused(void **state)
{
	static const char text[] = "\177ELF and then nothing";
	static const size_t lens[] = { 0, 1, 4, sizeof(text) };
	(void)state;

	for (size_t i = 0; i < array_len(lens); i++) {
		_cleanup_(strbuf_done) struct strbuf inner = xz_compress(text, lens[i]);
		_cleanup_close_ int fd = make_file(inner.data, inner.len, false);

		expect(fd, 1, 1);
	}
}

static struct strbuf make_bomb(size_t len)
{
	char *zeros = calloc(1, len);

	assert_non_null(zeros);
	struct strbuf bomb = xz_compress(zeros, len);
	free(zeros);
	return bomb;
}

/* Opens a payload as such. */
static int open_payload(const struct strbuf *payload, size_t max_bytes,
			struct minidebug *ret_minidebug)
{
	const struct elf_reader file = {
		.fd = -EBADF,
		.image = payload->data,
		.size = payload->len,
	};
	const GElf_Shdr section = { .sh_size = payload->len };

	return minidebug_open(ret_minidebug, &file, &section, max_bytes);
}

static void a_bomb_is_stopped_at_the_limits(void **state)
{
	_cleanup_(strbuf_done) struct strbuf bomb = make_bomb(MINIDEBUG_MAX_BYTES + 1);
	struct minidebug minidebug = { 0 };
	(void)state;

	assert_true(bomb.len < 64 << 10);
	assert_int_equal(open_payload(&bomb, 1000, &minidebug), -ENOSPC);
	assert_int_equal(open_payload(&bomb, bomb.len, &minidebug), -ENOSPC);
	assert_int_equal(open_payload(&bomb, (size_t)1 << 20, &minidebug), -ENOSPC);
	assert_int_equal(open_payload(&bomb, SIZE_MAX, &minidebug), -ENOSPC);
	assert_false(minidebug.is_open);
}

/* The size of the dictionary is one byte of the block's header, which has a checksum. */
static void a_dictionary_that_is_too_large_is_refused(void **state)
{
	_cleanup_(strbuf_done) struct strbuf inner = make_inner(NULL);
	struct minidebug minidebug = { 0 };
	uint8_t *header = (uint8_t *)inner.data + BLOCK_HEADER;
	size_t header_len = ((size_t)header[0] + 1) * 4;
	(void)state;

	assert_int_equal(open_payload(&inner, MAX_BYTES, &minidebug), 0);
	minidebug_close(&minidebug);

	uint8_t *filter = memmem(header, header_len, "\x21\x01", 2);
	assert_non_null(filter);
	filter[2] = 40; /* 4 GB */
	uint32_t crc = lzma_crc32(header, header_len - sizeof(crc), 0);
	memcpy(header + header_len - sizeof(crc), &crc, sizeof(crc));
	assert_int_equal(open_payload(&inner, MAX_BYTES, &minidebug), -ENOSPC);
}

static void a_section_outside_of_the_file_is_refused(void **state)
{
	const struct elf_reader file = { .fd = -EBADF, .image = (char[8]){ 0 }, .size = 8 };
	const GElf_Shdr sections[] = {
		{ .sh_offset = 9, .sh_size = 1 },
		{ .sh_offset = 1, .sh_size = 8 },
		{ .sh_offset = UINT64_MAX, .sh_size = 2 },
	};
	struct minidebug minidebug = { 0 };
	(void)state;

	for (size_t i = 0; i < array_len(sections); i++)
		assert_int_equal(minidebug_open(&minidebug, &file, &sections[i], MAX_BYTES),
				 -EBADMSG);
}

static void want_of_memory_is_reported(void **state)
{
	_cleanup_(strbuf_done) struct strbuf inner = make_inner(NULL);
	_cleanup_close_ int fd = make_file(inner.data, inner.len, false);
	struct elf_symbols *symbols = NULL;
	int r = -ENOMEM;
	(void)state;

	for (unsigned int n = 1;
	     torture_begin(n), r = elf_symbols_load(fd, MAX_BYTES, &symbols), torture_end(); n++) {
		assert_int_equal(r, -ENOMEM);
		assert_null(symbols);
	}
	assert_int_equal(r, 0);
	elf_symbols_free(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_functions_join_the_dynamic_ones),
		cmocka_unit_test(it_is_not_read_when_there_is_a_whole_table),
		cmocka_unit_test(another_one_within_is_ignored),
		cmocka_unit_test(a_truncated_payload_leaves_the_other_symbols),
		cmocka_unit_test(a_changed_payload_leaves_the_other_symbols),
		cmocka_unit_test(what_is_no_program_inside_is_refused),
		cmocka_unit_test(a_bomb_is_stopped_at_the_limits),
		cmocka_unit_test(a_dictionary_that_is_too_large_is_refused),
		cmocka_unit_test(a_section_outside_of_the_file_is_refused),
		cmocka_unit_test(want_of_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/elf/elf_block.h"
#include "symbol/elf/elf_symbols.h"

#include "elf_maker.h"
#include "function_count.h"
#include "symbol/worker/symbol_worker.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)1 << 20)

static const struct maker_symbol functions[] = {
	{ "first", 0, 0x10 },
	{ "second_function", 0x10, 0x20 },
	{ "x", 0x40, 0x40 },
	{ 0 },
};

enum { NR_FUNCTIONS = 3 };

/* The bytes of a sound table. */
struct bytes {
	char *data; /* owned */
	size_t len;
};

static void bytes_done(struct bytes *bytes)
{
	free(bytes->data);
}

static int make_file(void)
{
	_cleanup_(elf_maker_done) struct elf_maker maker;

	elf_maker_init(&maker);
	elf_maker_add_symbols(&maker, SHT_SYMTAB, functions);
	elf_maker_finish(&maker);
	return elf_maker_write(maker.bytes.data, maker.bytes.len);
}

static char *copy_of(const void *data, size_t len)
{
	char *copy = malloc(len + 1);

	assert_non_null(copy);
	memcpy(copy, data, len);
	return copy;
}

static struct bytes make_block(void)
{
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
	_cleanup_close_ int fd = make_file();
	struct bytes bytes;

	assert_int_equal(elf_symbols_load(fd, MAX_BYTES, &symbols), 0);
	const void *block = elf_symbols_block(symbols, &bytes.len);
	bytes.data = copy_of(block, bytes.len);
	return bytes;
}

static int load_copy(const struct bytes *bytes, struct elf_symbols **ret_symbols)
{
	return elf_symbols_from_block(copy_of(bytes->data, bytes->len), bytes->len, ret_symbols);
}

static void a_table_survives_being_sent(void **state)
{
	_cleanup_(bytes_done) struct bytes bytes = make_block();
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
	struct elf_symbol found;
	uint64_t address = 0;
	(void)state;

	assert_int_equal(load_copy(&bytes, &symbols), 0);
	assert_int_equal(function_count(symbols), NR_FUNCTIONS);
	assert_true(elf_symbols_info(symbols)->has_symtab);
	assert_int_equal(elf_symbols_find(symbols, MAKER_TEXT_ADDRESS + 0x11, &found), 0);
	assert_string_equal(found.name, "second_function");
	assert_int_equal(found.address, MAKER_TEXT_ADDRESS + 0x10);
	assert_int_equal(found.size, 0x20);
	assert_int_equal(elf_symbols_address_of(symbols, MAKER_TEXT_OFFSET + 7, &address), 0);
	assert_int_equal(address, MAKER_TEXT_ADDRESS + 7);
	assert_true(elf_symbols_bytes(symbols) > bytes.len);
}

static void without_its_names_a_table_has_no_block(void **state)
{
	_cleanup_(bytes_done) struct bytes bytes = make_block();
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
	size_t len = 1;
	uint64_t address;
	(void)state;

	assert_int_equal(load_copy(&bytes, &symbols), 0);
	elf_symbols_drop_names(symbols);
	assert_null(elf_symbols_block(symbols, &len));
	assert_int_equal(len, 0);
	assert_int_equal(function_count(symbols), 0);
	assert_true(elf_symbols_info(symbols)->has_symtab);
	assert_int_equal(elf_symbols_address_of(symbols, MAKER_TEXT_OFFSET, &address), 0);
	elf_symbols_drop_names(symbols);
}

#define HEADER(member)                                                                             \
	offsetof(struct elf_block_header, member), sizeof(((struct elf_block_header *)0)->member)
#define INFO(member)                                                                               \
	offsetof(struct elf_block_header, info.member),                                            \
		sizeof(((struct elf_symbols_info *)0)->member)
#define SEGMENT(member)                                                                            \
	sizeof(struct elf_block_header) + offsetof(struct elf_block_segment, member), 8
#define FUNCTION(number, member)                                                                   \
	sizeof(struct elf_block_header) + sizeof(struct elf_block_segment) +                       \
		(number) * sizeof(struct elf_block_function) +                                     \
		offsetof(struct elf_block_function, member),                                       \
		4
#define NAMES                                                                                      \
	(sizeof(struct elf_block_header) + sizeof(struct elf_block_segment) +                      \
	 NR_FUNCTIONS * sizeof(struct elf_block_function))

/* A field, or the beginning of one, set to something it must not be. */
static const struct damage {
	size_t offset;
	size_t bytes;
	uint64_t value;
} damages[] = {
	{ HEADER(base), UINT64_MAX - 0x41 },
	{ HEADER(nr_segments), 0 },
	{ HEADER(nr_segments), 2 },
	{ HEADER(nr_segments), UINT32_MAX },
	{ HEADER(nr_functions), 2 },
	{ HEADER(nr_functions), 4 },
	{ HEADER(nr_functions), UINT32_MAX },
	{ HEADER(names_len), 0 },
	{ HEADER(names_len), UINT32_MAX },
	{ HEADER(unused), 1 },
	{ INFO(has_symtab), 2 },
	{ INFO(has_debug_info), 0xff },
	{ INFO(go_start), 1 }, /* behind its end */
	{ offsetof(struct elf_block_header, info.build_id), 4, 0x2f2e2e }, /* "../" */
	{ offsetof(struct elf_block_header, info.build_id), 4, 0x4142 }, /* upper case */
	{ offsetof(struct elf_block_header, info.alt_build_id), 4, 0x7a7a },
	{ offsetof(struct elf_block_header, info.link_name), 4, 0x2f61 }, /* "a/" */
	{ offsetof(struct elf_block_header, info.link_name), 4, 0x2e2e }, /* ".." */
	{ offsetof(struct elf_block_header, info.link_name), 4, 0x2e }, /* "." */
	{ offsetof(struct elf_block_header, info.htlhash), 4, 0x7a7a },
	{ offsetof(struct elf_block_header, info.go_build_id), 4, 0x2261 }, /* a" */
	{ SEGMENT(size), 0 },
	{ SEGMENT(size), UINT64_MAX },
	{ SEGMENT(offset), UINT64_MAX },
	{ SEGMENT(address), UINT64_MAX },
	{ FUNCTION(0, name), ELF_BLOCK_NAMELESS }, /* its name is there */
	{ FUNCTION(0, delta), 0x10 }, /* the second one's */
	{ FUNCTION(1, delta), 0 },
	{ FUNCTION(2, delta), 0x0f },
	{ FUNCTION(0, size), 0 },
	{ FUNCTION(2, size), 0 },
	{ FUNCTION(0, name), 1 },
	{ FUNCTION(1, name), 0 }, /* the first one's */
	{ FUNCTION(1, name), UINT32_MAX },
	{ FUNCTION(2, name), 23 },
	{ NAMES, 1, 0 }, /* "" */
	{ NAMES + 5, 1, 'x' }, /* two names become one */
	{ NAMES + 2, 1, 0 }, /* one becomes two */
	{ NAMES + 23, 1, 'x' }, /* the end */
};

static void a_damaged_block_is_refused(void **state)
{
	_cleanup_(bytes_done) struct bytes bytes = make_block();
	(void)state;

	assert_int_equal(bytes.len,
			 NAMES + sizeof("first") + sizeof("second_function") + sizeof("x"));
	for (size_t i = 0; i < array_len(damages); i++) {
		struct bytes copy = { copy_of(bytes.data, bytes.len), bytes.len };
		struct elf_symbols *symbols = NULL;

		memcpy(copy.data + damages[i].offset, &damages[i].value, damages[i].bytes);
		assert_int_equal(elf_symbols_from_block(copy.data, copy.len, &symbols), -EBADMSG);
		assert_null(symbols);
	}
}

static void strings_without_an_end_are_refused(void **state)
{
	static const struct {
		size_t offset;
		size_t bytes;
	} cases[] = { { INFO(build_id) },
		      { INFO(link_name) },
		      { INFO(alt_build_id) },
		      { INFO(htlhash) },
		      { INFO(go_build_id) } };
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct bytes bytes = make_block();
		struct elf_symbols *symbols = NULL;

		memset(bytes.data + cases[i].offset, 'a', cases[i].bytes);
		assert_int_equal(elf_symbols_from_block(bytes.data, bytes.len, &symbols), -EBADMSG);
	}
}

static void a_block_of_another_length_is_refused(void **state)
{
	_cleanup_(bytes_done) struct bytes bytes = make_block();
	struct elf_symbols *symbols = NULL;
	(void)state;

	for (size_t len = 0; len < bytes.len; len++)
		assert_int_equal(elf_symbols_from_block(copy_of(bytes.data, len), len, &symbols),
				 -EBADMSG);

	char *longer = realloc(copy_of(bytes.data, bytes.len), bytes.len + 1);
	assert_non_null(longer);
	longer[bytes.len] = '\0';
	assert_int_equal(elf_symbols_from_block(longer, bytes.len + 1, &symbols), -EBADMSG);
}

static void a_name_that_is_too_long_is_refused(void **state)
{
	size_t len = NAMES + 2 + 2 + ELF_MAX_LINK_NAME * 20;
	_cleanup_(bytes_done) struct bytes bytes = make_block();
	char *longer = calloc(1, len);
	struct elf_block block;
	struct elf_symbols *symbols = NULL;
	(void)state;

	assert_non_null(longer);
	memcpy(longer, bytes.data, NAMES);
	struct elf_block_header *header = (void *)longer;
	header->names_len = (uint32_t)(len - NAMES);
	elf_block_find_parts(longer, &block);
	((struct elf_block_function *)block.functions)[1].name = 2;
	((struct elf_block_function *)block.functions)[2].name = 4;
	memset(longer + NAMES, 'a', len - NAMES - 1);
	longer[NAMES + 1] = '\0';
	longer[NAMES + 3] = '\0';
	assert_int_equal(elf_symbols_from_block(longer, len, &symbols), -EBADMSG);
}

static void any_changed_byte_leaves_a_sound_table_or_none(void **state)
{
	static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff };
	_cleanup_(bytes_done) struct bytes bytes = make_block();
	(void)state;

	for (size_t i = 0; i < bytes.len * array_len(values); i++) {
		_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
		char *copy = copy_of(bytes.data, bytes.len);
		struct elf_symbol found;

		copy[i / array_len(values)] = (char)values[i % array_len(values)];
		if (elf_symbols_from_block(copy, bytes.len, &symbols) < 0)
			continue;
		for (uint64_t delta = 0; delta < 0x80; delta++)
			if (elf_symbols_find(symbols, MAKER_TEXT_ADDRESS + delta, &found) == 0)
				assert_true(strlen(found.name) < sizeof("second_function"));
	}
}

static void the_worker_answers_with_a_block(void **state)
{
	_cleanup_(bytes_done) struct bytes bytes = make_block();
	_cleanup_(strbuf_done) struct strbuf reply = strbuf_with_max(MAX_BYTES);
	_cleanup_close_ int fd = make_file();
	struct worker_call call = {
		.request = { .kind = SYMBOL_REQUEST_TABLE, .key = 1, .max_bytes = MAX_BYTES },
		.nr_fds = 1,
		.fds = { fd },
	};
	(void)state;

	assert_int_equal(symbol_worker_answer(&call, &reply, NULL), 0);
	assert_int_equal(reply.len, bytes.len);
	assert_memory_equal(reply.data, bytes.data, bytes.len);

	call.request.max_bytes = bytes.len - 1;
	assert_int_equal(symbol_worker_answer(&call, &reply, NULL), -ENOSPC);

	_cleanup_close_ int not_elf = elf_maker_write("text", 4);
	call.fds[0] = not_elf;
	assert_int_equal(symbol_worker_answer(&call, &reply, NULL), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_survives_being_sent),
		cmocka_unit_test(without_its_names_a_table_has_no_block),
		cmocka_unit_test(a_damaged_block_is_refused),
		cmocka_unit_test(strings_without_an_end_are_refused),
		cmocka_unit_test(a_block_of_another_length_is_refused),
		cmocka_unit_test(a_name_that_is_too_long_is_refused),
		cmocka_unit_test(any_changed_byte_leaves_a_sound_table_or_none),
		cmocka_unit_test(the_worker_answers_with_a_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cpython/cpython_text.h"

#include "base/cleanup.h"
#include "cpython_memory.h"
#include "runtime/cpython/cpython_naming.h"
#include "unit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CHARS 1024
#define OUT_MAX_BYTES ((size_t)4 * MAX_CHARS)

static void texts_of_each_kind_become_utf8(void **state)
{
	(void)state;
	static const uint16_t two[] = { 0x6570, 0x3048, 0x308b, 'x', 0xe9 };
	static const uint32_t four[] = { 'a', 0xdf, 0x20ac, 0x1f525, 0x10ffff };
	static const struct {
		uint32_t state;
		uint64_t length;
		const void *chars;
		size_t nr_bytes;
		const char *expected;
	} cases[] = {
		{ CPYTHON_ASCII, 4, "main", 4, "main" },
		{ CPYTHON_ASCII, 0, "", 0, "" },
		{ CPYTHON_LATIN_1, 5, "gr\xf6\xdf\x65", 5, "größe" },
		{ CPYTHON_UCS_2, 5, two, sizeof(two), "数えるxé" },
		{ CPYTHON_UCS_4, 5, four, sizeof(four), "aß€🔥\xf4\x8f\xbf\xbf" },
		/* interned, and static */
		{ CPYTHON_ASCII | 3 | 1 << 7, 1, "f", 1, "f" },
		/* free-threaded, from 3.14 on: `interned` is a byte */
		{ CPYTHON_ASCII << 6, 1, "f", 1, "f" },
		{ CPYTHON_ASCII << 6 | 3, 1, "f", 1, "f" },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(cpython_memory_done) struct cpython_memory objects;
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);
		bool is_ascii = (cases[i].state & CPYTHON_ASCII) == CPYTHON_ASCII ||
				cases[i].state >= CPYTHON_ASCII << 6;

		cpython_memory_init(&objects, 13);
		uint64_t text = cpython_memory_put_text(
			&objects, is_ascii ? CPYTHON_ASCII : cases[i].state, cases[i].length,
			cases[i].chars, cases[i].nr_bytes);
		cpython_memory_put(&objects, text + objects.naming[CPYTHON_NAMING_UNICODE_STATE],
				   &cases[i].state, sizeof(cases[i].state));
		assert_int_equal(
			cpython_text_append(&objects.memory, objects.naming, text, MAX_CHARS, &out),
			0);
		assert_string_equal(strbuf_str(&out), cases[i].expected);
	}
}

static void what_is_no_character_is_replaced(void **state)
{
	(void)state;
	/* A pair of surrogates is two characters in Python, and none in UTF-8. */
	static const uint16_t two[] = { 0xd83d, 0xdd25, 0xdc80, 0xe000, 0xd7ff };
	static const uint32_t four[] = { 0xd800, 0x110000, UINT32_MAX, 'x', 0 };
	_cleanup_(cpython_memory_done) struct cpython_memory objects;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);

	cpython_memory_init(&objects, 13);
	uint64_t text = cpython_memory_put_text(&objects, CPYTHON_UCS_2, array_len(two), two,
						sizeof(two));
	assert_int_equal(
		cpython_text_append(&objects.memory, objects.naming, text, MAX_CHARS, &out), 0);
	assert_string_equal(strbuf_str(&out), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
					      "\xee\x80\x80\xed\x9f\xbf");

	strbuf_clear(&out);
	text = cpython_memory_put_text(&objects, CPYTHON_UCS_4, array_len(four), four,
				       sizeof(four));
	assert_int_equal(
		cpython_text_append(&objects.memory, objects.naming, text, MAX_CHARS, &out), 0);
	assert_int_equal(out.len, 11); /* the NUL stays: frame_writer takes it out */
	assert_memory_equal(out.data, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx", 11);
}

static void long_texts_are_read_to_the_limit(void **state)
{
	(void)state;
	static const size_t lengths[] = { 400, 600, MAX_CHARS, MAX_CHARS + 1, 1 << 20 };
	static const struct {
		uint32_t state;
		size_t kind;
	} kinds[] = { { CPYTHON_ASCII, 1 }, { CPYTHON_UCS_2, 2 }, { CPYTHON_UCS_4, 4 } };
	_cleanup_free_ char *chars = malloc((size_t)4 << 20);

	assert_non_null(chars);
	memset(chars, 0, (size_t)4 << 20);
	for (size_t i = 0; i < array_len(kinds) * array_len(lengths); i++) {
		size_t length = lengths[i % array_len(lengths)];
		size_t kind = kinds[i / array_len(lengths)].kind;
		_cleanup_(cpython_memory_done) struct cpython_memory objects;
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);

		cpython_memory_init(&objects, 9);
		uint64_t text = cpython_memory_put_text(&objects,
							kinds[i / array_len(lengths)].state, length,
							chars, length * kind);
		assert_int_equal(
			cpython_text_append(&objects.memory, objects.naming, text, MAX_CHARS, &out),
			0);
		assert_int_equal(out.len, length < MAX_CHARS ? length : MAX_CHARS);
		assert_true(CPYTHON_MEMORY_QUOTA - objects.memory.nr_left < 8 * MAX_CHARS);
	}
}

static void what_is_no_string_is_refused(void **state)
{
	(void)state;
	static const struct {
		uint32_t state;
		uint64_t length;
	} cases[] = {
		/* not compact */
		{ CPYTHON_TEXT_STATE(1, 0, 1), 4 },
		{ CPYTHON_TEXT_STATE(4, 0, 0), 4 },
		/* kinds that there are not */
		{ CPYTHON_TEXT_STATE(0, 1, 1), 4 },
		{ CPYTHON_TEXT_STATE(3, 1, 0), 4 },
		{ CPYTHON_TEXT_STATE(7, 1, 0), 4 },
		{ 0, 4 },
		{ 3, 4 },
		{ UINT32_MAX, 4 },
		/* lengths that are negative */
		{ CPYTHON_ASCII, UINT64_MAX },
		{ CPYTHON_UCS_4, 1ULL << 63 },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(cpython_memory_done) struct cpython_memory objects;
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);

		cpython_memory_init(&objects, 13);
		uint64_t text = cpython_memory_put_text(&objects, cases[i].state, cases[i].length,
							"sixteen letters!", 16);
		assert_int_equal(
			cpython_text_append(&objects.memory, objects.naming, text, MAX_CHARS, &out),
			-ENOENT);
		assert_int_equal(out.len, 0);
	}
}

static void a_text_that_is_not_all_mapped_cannot_be_read(void **state)
{
	(void)state;
	static const uint64_t lengths[] = { 17, 600, 1ULL << 40, INT64_MAX };
	_cleanup_(cpython_memory_done) struct cpython_memory objects;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);

	cpython_memory_init(&objects, 13);
	for (size_t i = 0; i < array_len(lengths); i++) {
		uint64_t text = cpython_memory_put_text(&objects, CPYTHON_ASCII, lengths[i],
							"sixteen letters!", 16);
		assert_int_equal(
			cpython_text_append(&objects.memory, objects.naming, text, MAX_CHARS, &out),
			-EFAULT);
	}
	assert_int_equal(
		cpython_text_append(&objects.memory, objects.naming, objects.end, MAX_CHARS, &out),
		-EFAULT);
	/* only a head that is cut */
	cpython_memory_put(&objects, objects.end, "x", 1);
	assert_int_equal(cpython_text_append(&objects.memory, objects.naming, objects.end - 1,
					     MAX_CHARS, &out),
			 -ENOENT);
	assert_int_equal(out.len, 0);
}

static void offsets_that_cannot_be_are_refused(void **state)
{
	(void)state;
	static const struct {
		enum cpython_naming index;
		uint64_t value;
	} cases[] = {
		{ CPYTHON_NAMING_UNICODE_LENGTH, 512 },
		{ CPYTHON_NAMING_UNICODE_LENGTH, UINT64_MAX },
		{ CPYTHON_NAMING_UNICODE_STATE, 1 << 20 },
		{ CPYTHON_NAMING_UNICODE_STATE, UINT64_MAX - 2 },
		{ CPYTHON_NAMING_ASCII_DATA, 513 },
		{ CPYTHON_NAMING_ASCII_DATA, UINT64_MAX },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(cpython_memory_done) struct cpython_memory objects;
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);
		uint64_t naming[CPYTHON_NAMING_NR];

		cpython_memory_init(&objects, 13);
		uint64_t text = cpython_memory_put_ascii(&objects, "main");
		memcpy(naming, objects.naming, sizeof(naming));
		naming[cases[i].index] = cases[i].value;
		assert_int_equal(
			cpython_text_append(&objects.memory, naming, text, MAX_CHARS, &out),
			-ENOENT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_of_each_kind_become_utf8),
		cmocka_unit_test(what_is_no_character_is_replaced),
		cmocka_unit_test(long_texts_are_read_to_the_limit),
		cmocka_unit_test(what_is_no_string_is_refused),
		cmocka_unit_test(a_text_that_is_not_all_mapped_cannot_be_read),
		cmocka_unit_test(offsets_that_cannot_be_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

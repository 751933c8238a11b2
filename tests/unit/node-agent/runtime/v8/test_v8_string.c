/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_string.h"

#include "base/cleanup.h"
#include "unit.h"
#include "v8_memory.h"

#include <string.h>

#define MAX_CHARS 1024
#define OUT_MAX_BYTES ((size_t)4 * MAX_CHARS)

static int append(struct v8_memory *objects, uint64_t string, struct strbuf *out)
{
	return v8_string_append(&objects->heap, string, MAX_CHARS, out);
}

static void strings_become_utf8(void **state)
{
	(void)state;
	static const uint16_t two[] = { 0x6570, 'x', 0xe9, 0xd83d, 0xdd25, 0xdc80, 0xd800 };
	_cleanup_(v8_memory_done) struct v8_memory objects;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);

	v8_memory_init(&objects, V8_MEMORY_12);
	assert_int_equal(append(&objects, v8_memory_put_string(&objects, "gr\xf6\xdf\x65"), &out),
			 0);
	assert_string_equal(strbuf_str(&out), "größe");
	strbuf_clear(&out);
	assert_int_equal(
		append(&objects, v8_memory_put_two_byte(&objects, two, array_len(two)), &out), 0);
	assert_string_equal(strbuf_str(&out), "数xé🔥\xef\xbf\xbd\xef\xbf\xbd");
}

static void refer_to_others(enum v8_memory_layout layout)
{
	_cleanup_(v8_memory_done) struct v8_memory objects;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);

	v8_memory_init(&objects, layout);
	uint64_t foo = v8_memory_put_string(&objects, "xFoox");
	uint64_t bar = v8_memory_put_string(&objects, ".bar");
	foo = v8_memory_put_reference(&objects, V8_STRING_SLICED, 3, foo, v8_memory_smi(1));
	bar = v8_memory_put_reference(&objects, V8_STRING_THIN, 4, bar, 0);
	uint64_t both = v8_memory_put_reference(&objects, V8_STRING_CONS, 7, foo, bar);
	both = v8_memory_put_reference(&objects, V8_STRING_CONS, 11, both, bar);
	assert_int_equal(append(&objects, both, &out), 0);
	assert_string_equal(strbuf_str(&out), "Foo.bar.bar");
}

static void strings_that_refer_to_others_are_followed(void **state)
{
	(void)state;
	refer_to_others(V8_MEMORY_12);
	refer_to_others(V8_MEMORY_COMPRESSED);
	refer_to_others(V8_MEMORY_CAGED);
}

/* With compressed pointers, addresses are whole. Where there is a trusted cage, tables have it. */
static void external_characters_of_compressed_strings(void **state)
{
	(void)state;
	static const struct {
		enum v8_memory_layout layout;
		int result;
		const char *text;
	} cases[] = { { V8_MEMORY_COMPRESSED, 0, "outside" }, { V8_MEMORY_CAGED, -ENOENT, "" } };

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(v8_memory_done) struct v8_memory objects;
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);

		v8_memory_init(&objects, cases[i].layout);
		v8_memory_put(&objects, 0x700000, "outside", 7);
		uint64_t string = v8_memory_put_reference(&objects, V8_STRING_EXTERNAL, 7, 0x600000,
							  0x700000);
		assert_int_equal(append(&objects, string, &out), cases[i].result);
		assert_string_equal(strbuf_str(&out), cases[i].text);
	}
}

static void external_characters_are_read_where_they_are(void **state)
{
	(void)state;
	_cleanup_(v8_memory_done) struct v8_memory objects;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);

	v8_memory_init(&objects, V8_MEMORY_12);
	v8_memory_put(&objects, 0x700000, "outside", 7);
	uint64_t string = v8_memory_put_reference(&objects, V8_STRING_EXTERNAL, 7, 0x600000,
						  0x700000);
	assert_int_equal(append(&objects, string, &out), 0);
	assert_string_equal(strbuf_str(&out), "outside");
	string = v8_memory_put_reference(&objects, V8_STRING_UNCACHED, 7, 0x600000, 0x700000);
	assert_int_equal(append(&objects, string, &out), -ENOENT);
}

static void only_the_first_characters_are_read(void **state)
{
	(void)state;
	_cleanup_(v8_memory_done) struct v8_memory objects;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);

	v8_memory_init(&objects, V8_MEMORY_12);
	uint64_t string = v8_memory_put_reference(&objects, V8_STRING_EXTERNAL, UINT32_MAX, 0,
						  v8_memory_put_string(&objects, "abcdef") + 15);
	assert_int_equal(v8_string_append(&objects.heap, string, 4, &out), 0);
	assert_string_equal(strbuf_str(&out), "abcd");
}

static void damaged_strings_are_refused(void **state)
{
	(void)state;
	_cleanup_(v8_memory_done) struct v8_memory objects;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);

	v8_memory_init(&objects, V8_MEMORY_12);
	uint64_t text = v8_memory_put_string(&objects, "text");
	uint64_t other = v8_memory_put_object(&objects, V8_TYPE_OTHER, 32);
	const uint64_t bad[] = {
		0,
		2,
		v8_memory_smi(5),
		UINT64_MAX,
		0x7fffffffffff,
		other,
		v8_memory_put_reference(&objects, V8_STRING_THIN, 4, other, 0),
		v8_memory_put_reference(&objects, V8_STRING_SLICED, 4, text, v8_memory_smi(1)),
		v8_memory_put_reference(&objects, V8_STRING_SLICED, 4, text, v8_memory_smi(-1)),
		v8_memory_put_reference(&objects, V8_STRING_SLICED, 4, text, text),
		v8_memory_put_reference(&objects, V8_STRING_CONS, 4, other, text),
		v8_memory_put_reference(&objects, V8_STRING_TWO_BYTE | 4, 4, text, text),
	};

	for (size_t i = 0; i < array_len(bad); i++) {
		int r = append(&objects, bad[i], &out);

		assert_true(r == -ENOENT || r == -EFAULT);
	}
	assert_int_equal(out.len, 0);
}

static void cycles_end(void **state)
{
	(void)state;
	_cleanup_(v8_memory_done) struct v8_memory objects;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);

	v8_memory_init(&objects, V8_MEMORY_12);
	uint64_t thin = v8_memory_put_reference(&objects, V8_STRING_THIN, 4, 0, 0);
	v8_memory_set(&objects, thin, 16, thin);
	assert_int_equal(append(&objects, thin, &out), -ENOENT);
	uint64_t cons = v8_memory_put_reference(&objects, V8_STRING_CONS, 4, 0, 0);
	v8_memory_set(&objects, cons, 16, cons);
	v8_memory_set(&objects, cons, 24, cons);
	assert_int_equal(append(&objects, cons, &out), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_become_utf8),
		cmocka_unit_test(strings_that_refer_to_others_are_followed),
		cmocka_unit_test(external_characters_are_read_where_they_are),
		cmocka_unit_test(external_characters_of_compressed_strings),
		cmocka_unit_test(only_the_first_characters_are_read),
		cmocka_unit_test(damaged_strings_are_refused),
		cmocka_unit_test(cycles_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

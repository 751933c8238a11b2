/* SPDX-License-Identifier: Apache-2.0 */
#define ZLIB_CONST
#include "base/cleanup.h"
#include "base/gzip.h"
#include "unit.h"

#include <stdbool.h>
#include <zlib.h>

#define MAX_BYTES ((size_t)4 << 20)

/* Inflates one gzip member and compares. 31: largest window, gzip header expected. */
static void assert_inflates_to(const char *packed, size_t packed_len, const void *data, size_t len)
{
	_cleanup_free_ char *unpacked = malloc(len + 1);
	z_stream stream = { .next_in = (const Bytef *)packed,
			    .avail_in = (uInt)packed_len,
			    .next_out = (Bytef *)unpacked,
			    .avail_out = (uInt)len + 1 };

	assert_non_null(unpacked);
	assert_int_equal(inflateInit2(&stream, 31), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.total_out, len);
	assert_int_equal(stream.avail_in, 0);
	if (len > 0)
		assert_memory_equal(unpacked, data, len);
	inflateEnd(&stream);
}

static void fill(unsigned char *data, size_t len, bool is_random)
{
	uint32_t seed = 1;

	for (size_t i = 0; i < len; i++) {
		seed = seed * 1664525 + 1013904223;
		data[i] = is_random ? (unsigned char)(seed >> 24) : (unsigned char)(i / 100);
	}
}

static void what_was_packed_unpacks_to_the_same_bytes(void **state)
{
	static const size_t lengths[] = { 0, 1, 100, 65536, 1000000 };
	static unsigned char data[1000000];
	(void)state;

	for (size_t i = 0; i < 2 * array_len(lengths); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
		size_t len = lengths[i / 2];

		fill(data, len, i % 2);
		gzip_append(&out, data, len);
		assert_int_equal(strbuf_error(&out), 0);
		assert_inflates_to(out.data, out.len, data, len);
		assert_int_equal(out.data[out.len], 0);
	}
}

static void packing_appends_behind_what_is_there(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);

	strbuf_append_str(&out, "head");
	gzip_append(&out, "hello", 5);
	strbuf_append_str(&out, "tail");
	assert_memory_equal(out.data, "head", 4);
	assert_inflates_to(out.data + 4, out.len - 8, "hello", 5);
	assert_string_equal(out.data + out.len - 4, "tail");
}

static void equal_input_gives_equal_output(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf a = strbuf_with_max(MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf b = strbuf_with_max(MAX_BYTES);

	gzip_append(&a, "hello", 5);
	gzip_append(&b, "hello", 5);
	assert_int_equal(a.len, b.len);
	assert_memory_equal(a.data, b.data, a.len);
}

static void a_limit_below_the_worst_case_is_an_error(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(10);

	gzip_append(&out, "hello", 5);
	assert_int_equal(strbuf_error(&out), -ENOSPC);
	assert_int_equal(out.len, 0);
}

static void input_over_two_gigabytes_is_refused(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);

	gzip_append(&out, "", (size_t)3 << 30);
	assert_int_equal(strbuf_error(&out), -ENOSPC);
}

static void an_earlier_failure_is_kept(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);

	out.error = -ENOMEM;
	gzip_append(&out, "", (size_t)3 << 30);
	gzip_append(&out, "hello", 5);
	assert_int_equal(strbuf_error(&out), -ENOMEM);
	assert_int_equal(out.len, 0);
}

static void packed_data_are_told_by_their_first_bytes(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf packed = strbuf_with_max(MAX_BYTES);

	gzip_append(&packed, "hello", 5);
	assert_true(gzip_is(packed.data, packed.len));
	assert_true(gzip_is(packed.data, 2));
	assert_false(gzip_is(packed.data, 1));
	assert_false(gzip_is("hello", 5));
	assert_false(gzip_is("", 0));
}

static void unpacking_gives_what_was_packed_whatever_is_in_front(void **state)
{
	static const size_t lengths[] = { 0, 1, 65535, 65536, 65537, 1000000 };
	static unsigned char data[1000000];
	(void)state;

	for (size_t i = 0; i < 2 * array_len(lengths); i++) {
		_cleanup_(strbuf_done) struct strbuf packed = strbuf_with_max(MAX_BYTES);
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
		size_t len = lengths[i / 2];

		fill(data, len, i % 2);
		gzip_append(&packed, data, len);
		strbuf_append_str(&out, "head");
		gunzip_append(&out, packed.data, packed.len);
		assert_int_equal(strbuf_error(&out), 0);
		assert_int_equal(out.len, 4 + len);
		assert_memory_equal(out.data, "head", 4);
		if (len > 0)
			assert_memory_equal(out.data + 4, data, len);
	}
}

static void members_behind_each_other_are_one_text(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf packed = strbuf_with_max(MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);

	gzip_append(&packed, "one ", 4);
	gzip_append(&packed, "", 0);
	gzip_append(&packed, "text", 4);
	gunzip_append(&out, packed.data, packed.len);
	assert_int_equal(strbuf_error(&out), 0);
	assert_string_equal(strbuf_str(&out), "one text");
}

static void what_is_cut_or_changed_or_goes_on_is_malformed(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf packed = strbuf_with_max(MAX_BYTES);

	gzip_append(&packed, "hello, hello, hello", 19);
	for (size_t len = 0; len < packed.len; len++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);

		strbuf_append_str(&out, "head");
		gunzip_append(&out, packed.data, len);
		assert_int_equal(strbuf_error(&out), -EBADMSG);
		assert_string_equal(strbuf_str(&out), "head");
	}
	for (size_t at = packed.len - 8; at < packed.len; at++) { /* check sum and length */
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);

		packed.data[at] ^= 1;
		gunzip_append(&out, packed.data, packed.len);
		assert_int_equal(strbuf_error(&out), -EBADMSG);
		packed.data[at] ^= 1;
	}
	strbuf_append_str(&packed, "tail");
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	gunzip_append(&out, packed.data, packed.len);
	assert_int_equal(strbuf_error(&out), -EBADMSG);
	assert_int_equal(out.len, 0);
}

static void the_limit_holds_to_the_byte(void **state)
{
	static const size_t lengths[] = { 1, 19, 65535, 65536, 65537, 1000000 };
	static unsigned char data[1000000];
	(void)state;

	for (size_t i = 0; i < array_len(lengths); i++) {
		_cleanup_(strbuf_done) struct strbuf packed = strbuf_with_max(MAX_BYTES);
		_cleanup_(strbuf_done) struct strbuf exact = strbuf_with_max(lengths[i]);
		_cleanup_(strbuf_done) struct strbuf less = strbuf_with_max(lengths[i] - 1);

		fill(data, lengths[i], false);
		gzip_append(&packed, data, lengths[i]);
		gunzip_append(&exact, packed.data, packed.len);
		assert_int_equal(strbuf_error(&exact), 0);
		assert_int_equal(exact.len, lengths[i]);
		gunzip_append(&less, packed.data, packed.len);
		assert_int_equal(strbuf_error(&less), -ENOSPC);
		assert_int_equal(less.len, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_packed_unpacks_to_the_same_bytes),
		cmocka_unit_test(packing_appends_behind_what_is_there),
		cmocka_unit_test(equal_input_gives_equal_output),
		cmocka_unit_test(a_limit_below_the_worst_case_is_an_error),
		cmocka_unit_test(input_over_two_gigabytes_is_refused),
		cmocka_unit_test(an_earlier_failure_is_kept),
		cmocka_unit_test(packed_data_are_told_by_their_first_bytes),
		cmocka_unit_test(unpacking_gives_what_was_packed_whatever_is_in_front),
		cmocka_unit_test(members_behind_each_other_are_one_text),
		cmocka_unit_test(what_is_cut_or_changed_or_goes_on_is_malformed),
		cmocka_unit_test(the_limit_holds_to_the_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

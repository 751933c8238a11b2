/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/zstd.h"
#include "unit.h"

#include <stdbool.h>
#include <string.h>

#define MAX_BYTES ((size_t)4 << 20)

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
		_cleanup_(strbuf_done) struct strbuf packed = strbuf_with_max(MAX_BYTES);
		_cleanup_(strbuf_done) struct strbuf plain = strbuf_with_max(MAX_BYTES);
		size_t len = lengths[i / 2];

		fill(data, len, i % 2);
		strbuf_append_str(&packed, "head");
		strbuf_append_str(&plain, "head");
		zstd_append(&packed, data, len);
		assert_int_equal(strbuf_error(&packed), 0);
		assert_memory_equal(packed.data, "head", 4);
		assert_int_equal(zstd_unpack(&plain, packed.data + 4, packed.len - 4, len), 0);
		assert_int_equal(plain.len, 4 + len);
		assert_memory_equal(plain.data, "head", 4);
		assert_memory_equal(plain.data + 4, data, len);
		assert_int_equal(plain.data[plain.len], 0);
	}
}

static void a_checked_frame_says_its_length_and_detects_damage(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf packed = strbuf_with_max(MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf plain = strbuf_with_max(MAX_BYTES);
	unsigned char data[1000];
	size_t len = 0;

	fill(data, sizeof(data), true);
	zstd_append_checked(&packed, data, sizeof(data), 6);
	assert_int_equal(strbuf_error(&packed), 0);
	assert_int_equal(zstd_content_len(packed.data, packed.len, &len), 0);
	assert_int_equal(len, sizeof(data));
	assert_int_equal(zstd_unpack(&plain, packed.data, packed.len, len), 0);
	assert_memory_equal(plain.data, data, sizeof(data));
	packed.data[packed.len / 2] ^= 1;
	assert_int_equal(zstd_unpack(&plain, packed.data, packed.len, len), -EBADMSG);
}

static void what_is_no_frame_has_no_length(void **state)
{
	(void)state;
	/* The second one is a frame that does not say its length. */
	static const unsigned char frames[][8] = { "nothing", { 0x28, 0xb5, 0x2f, 0xfd, 0, 0, 1 } };
	size_t len;

	assert_int_equal(zstd_content_len(NULL, 0, &len), -EBADMSG);
	for (size_t i = 0; i < array_len(frames); i++)
		assert_int_equal(zstd_content_len(frames[i], sizeof(frames[i]), &len), -EBADMSG);
}

static void packing_has_a_limit(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(10);

	zstd_append(&out, "hello", 5);
	assert_int_equal(strbuf_error(&out), -ENOSPC);
	assert_int_equal(out.len, 0);
}

static void more_than_can_be_packed_is_refused(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);

	zstd_append(&out, "", SIZE_MAX);
	assert_int_equal(strbuf_error(&out), -ENOSPC);
	assert_int_equal(out.len, 0);
}

static void an_earlier_failure_is_kept(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);

	out.error = -ENOMEM;
	zstd_append(&out, "hello", 5);
	assert_int_equal(strbuf_error(&out), -ENOMEM);
	assert_int_equal(out.len, 0);
}

static void unpacking_has_a_limit(void **state)
{
	static const unsigned char zeros[MAX_BYTES];
	(void)state;
	_cleanup_(strbuf_done) struct strbuf packed = strbuf_with_max(2 * MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf plain = strbuf_with_max(MAX_BYTES - 1);

	zstd_append(&packed, zeros, sizeof(zeros));
	assert_true(packed.len < 1000);
	assert_int_equal(zstd_unpack(&plain, packed.data, packed.len, MAX_BYTES), -ENOSPC);
	assert_int_equal(strbuf_error(&plain), -ENOSPC);
	assert_null(plain.data);
}

/* What a frame says of its length, and what the caller knows of it, must be the same. */
static void a_frame_of_another_length_is_refused(void **state)
{
	static const size_t lengths[] = { 0, 4, 6, MAX_BYTES, SIZE_MAX };
	(void)state;
	_cleanup_(strbuf_done) struct strbuf packed = strbuf_with_max(MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf plain = strbuf_with_max(MAX_BYTES);

	zstd_append(&packed, "hello", 5);
	for (size_t i = 0; i < array_len(lengths); i++) {
		assert_int_equal(zstd_unpack(&plain, packed.data, packed.len, lengths[i]),
				 -EBADMSG);
		assert_int_equal(strbuf_error(&plain), 0);
		assert_null(plain.data);
	}
}

static void what_is_no_whole_frame_is_refused(void **state)
{
	static unsigned char data[100000];
	(void)state;
	_cleanup_(strbuf_done) struct strbuf packed = strbuf_with_max(MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf plain = strbuf_with_max(MAX_BYTES);

	fill(data, sizeof(data), true);
	zstd_append(&packed, data, sizeof(data));
	strbuf_append_str(&plain, "head");
	for (size_t len = 0; len < packed.len; len += len < 100 ? 1 : 1000) {
		assert_int_equal(zstd_unpack(&plain, packed.data, len, sizeof(data)), -EBADMSG);
		assert_string_equal(plain.data, "head");
		assert_int_equal(strbuf_error(&plain), 0);
	}
	strbuf_append_str(&packed, "tail");
	assert_int_equal(zstd_unpack(&plain, packed.data, packed.len, sizeof(data)), -EBADMSG);
	assert_int_equal(zstd_unpack(&plain, "no zstd at all", 14, 14), -EBADMSG);
	assert_string_equal(plain.data, "head");
}

static void frames_are_unpacked_one_after_the_other_also_after_a_damaged_one(void **state)
{
	(void)state;
	_cleanup_(zstd_unpacker_done) struct zstd_unpacker unpacker = { 0 };
	_cleanup_(strbuf_done) struct strbuf one = strbuf_with_max(MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf other = strbuf_with_max(MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf plain = strbuf_with_max(MAX_BYTES);

	zstd_append(&one, "one ", 4);
	zstd_append_checked(&other, "other", 5, 13);
	assert_int_equal(zstd_unpacker_unpack(&unpacker, &plain, one.data, one.len, 4), 0);
	other.data[other.len - 1] ^= 1;
	assert_int_equal(zstd_unpacker_unpack(&unpacker, &plain, other.data, other.len, 5),
			 -EBADMSG);
	other.data[other.len - 1] ^= 1;
	assert_int_equal(zstd_unpacker_unpack(&unpacker, &plain, other.data, other.len, 5), 0);
	assert_string_equal(strbuf_str(&plain), "one other");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_packed_unpacks_to_the_same_bytes),
		cmocka_unit_test(a_checked_frame_says_its_length_and_detects_damage),
		cmocka_unit_test(what_is_no_frame_has_no_length),
		cmocka_unit_test(packing_has_a_limit),
		cmocka_unit_test(more_than_can_be_packed_is_refused),
		cmocka_unit_test(an_earlier_failure_is_kept),
		cmocka_unit_test(unpacking_has_a_limit),
		cmocka_unit_test(a_frame_of_another_length_is_refused),
		cmocka_unit_test(what_is_no_whole_frame_is_refused),
		cmocka_unit_test(frames_are_unpacked_one_after_the_other_also_after_a_damaged_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

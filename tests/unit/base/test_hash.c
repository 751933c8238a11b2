/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "unit.h"

static void equal_bytes_have_equal_hashes_wherever_they_lie(void **state)
{
	char text[64] = "x/usr/lib/libc.so.6";
	char copy[64] = "/usr/lib/libc.so.6";
	(void)state;

	assert_int_equal(hash_bytes(text + 1, 18), hash_bytes(copy, 18));
}

static void length_and_every_byte_matter(void **state)
{
	char text[40] = { 0 };
	(void)state;

	uint32_t zeros = hash_bytes(text, sizeof(text));
	assert_int_not_equal(hash_bytes(text, sizeof(text) - 1), zeros);
	for (size_t i = 0; i < sizeof(text); i++) {
		text[i] = 1;
		assert_int_not_equal(hash_bytes(text, sizeof(text)), zeros);
		text[i] = 0;
	}
}

/* Tables use the low bits: consecutive pids and page-aligned addresses must not pile up there.
 * The limit is several times what chance gives (about 8 in the fullest of 4096 buckets). */
static void regular_numbers_spread_over_the_low_bits(void **state)
{
	static const uint64_t strides[] = { 1, 16, 4096, UINT64_C(1) << 32 };
	(void)state;

	for (size_t s = 0; s < sizeof(strides) / sizeof(strides[0]); s++) {
		unsigned char buckets[4096] = { 0 };

		for (uint64_t i = 0; i < 4096; i++)
			assert_in_range(++buckets[hash_u64(i * strides[s]) % 4096], 1, 30);
	}
}

static void nothing_at_all_has_a_hash(void **state)
{
	(void)state;
	assert_int_equal(hash_bytes("", 0), hash_bytes("x", 0));
}

/* Of XXH3, 128 bits, as others compute it: what is kept under such a name is found by a later
 * version. */
static void names_are_the_same_in_every_process(void **state)
{
	uint64_t empty[2], word[2];
	(void)state;

	hash_128("", 0, empty);
	assert_true(empty[0] == UINT64_C(0x6001c324468d497f));
	assert_true(empty[1] == UINT64_C(0x99aa06d3014798d8));
	hash_128("flamelet", 8, word);
	assert_memory_not_equal(empty, word, sizeof(empty));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_bytes_have_equal_hashes_wherever_they_lie),
		cmocka_unit_test(length_and_every_byte_matter),
		cmocka_unit_test(regular_numbers_spread_over_the_low_bits),
		cmocka_unit_test(nothing_at_all_has_a_hash),
		cmocka_unit_test(names_are_the_same_in_every_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cpython/cpython_debug_offsets.h"

#include "base/cleanup.h"
#include "runtime/cpython/cpython_naming.h"
#include "runtime/cpython/cpython_values.h"
#include "unit.h"

#include <string.h>

#define NR_WORDS (CPYTHON_DEBUG_OFFSETS_BYTES / 8)
#define COOKIE 0x7970677562656478 /* "xdebugpy" */

/* The words of programs as they are, as far as they are read. */
static const uint64_t words_3_13[NR_WORDS] = {
	COOKIE, 0x30d05f0, 0,	 283376, 608,  632,  194976, 7272, 7264, 7344, 7400, 7656, 7640,
	7648,	16,	   7752, 0,	 7768, 7760, 304,    0,	   8,	 16,   72,   152,  160,
	232,	32,	   80,	 8,	 0,    56,   72,     70,   208,	 112,  120,  128,  136,
	68,	52,	   96,	 104,	 200,  16,   8,	     416,  24,	 88,   168,  32,   24,
	16,	40,	   24,	 16,	 48,   32,   40,     24,   16,	 32,   16,   24,   40,
	16,	32,	   64,	 32,	 16,   40,   240,    200,
};
static const uint64_t words_3_14[NR_WORDS] = {
	COOKIE, 0x30e0af0, 0,	 316616, 784,  808, 225864, 7280, 7272, 7344, 7360, 7408,
	7688,	7672,	   7680, 16,	 7784, 0,   7800,   7792, 7992, 0,    832,  0,
	8,	16,	   72,	 152,	 160,  232, 32,	    88,	  8,	0,    56,   80,
	74,	64,	   0,	 216,	 112,  120, 128,    136,  68,	52,   96,   104,
	208,	0,	   16,	 8,	 416,  24,  88,	    168,  40,	32,   16,   40,
	24,	16,	   200,	 24,	 40,   32,  48,	    32,	  40,	24,   16,   32,
	16,	24,	   40,	 16,	 32,   64,  32,	    16,	  40,	264,  192,
};
static const uint64_t words_3_15[NR_WORDS] = {
	COOKIE, 0x30f02f0, 0,	 346568, 912,  936, 226240, 7272, 7264, 7336, 7352, 7400,
	7592,	7576,	   7584, 16,	 7736, 0,   7752,   7744, 7944, 0,    888,  0,
	8,	16,	   72,	 80,	 88,   96,  176,    184,  256,	32,   36,   40,
	136,	288,	   0,	 88,	 8,    0,   56,	    80,	  74,	64,   0,    216,
	112,	120,	   128,	 136,	 68,   52,  96,	    104,  208,	0,    16,   8,
	424,	24,	   88,	 168,	 32,   288, 944,    888,  40,	32,   16,   40,
	24,	16,	   200,	 24,	 40,   32,  48,	    32,	  40,	24,   16,   32,
	16,	24,	   40,	 16,	 32,   64,  32,	    16,	  40,
};

/* Words of 3.14. */
enum {
	WORD_COOKIE,
	WORD_VERSION,
	WORD_FREE_THREADED,
	WORD_THREADS = 9,
	WORD_FRAME_BYTES = 31,
	WORD_FRAME_OWNER = 36,
	WORD_TLBC_INDEX = 38,
	WORD_CODE_BYTES = 39,
	WORD_CODE_TLBC = 49,
	WORD_UNICODE_BYTES = 77,
	WORD_ASCII_BYTES = 80,
};

static int decode(const uint64_t *words, uint32_t version, struct runtime_file *ret_file)
{
	uint8_t bytes[CPYTHON_DEBUG_OFFSETS_BYTES];

	memcpy(bytes, words, sizeof(bytes));
	*ret_file = (struct runtime_file){ .kind = RUNTIME_CPYTHON, .version = version };
	return cpython_debug_offsets_decode(bytes, ret_file);
}

static int decode_changed(size_t word, uint64_t value)
{
	uint64_t words[NR_WORDS];
	struct runtime_file file;

	memcpy(words, words_3_14, sizeof(words));
	words[word] = value;
	return decode(words, 0x030e0a00, &file);
}

static void the_known_versions_are_read(void **state)
{
	static const struct {
		const uint64_t *words;
		uint32_t version;
		uint64_t interpreters, threads, thread_id, owner, bytecode;
	} cases[] = {
		{ words_3_13, 0x030d0500, 632, 7344, 152, 70, 200 },
		{ words_3_14, 0x030e0a00, 808, 7344, 152, 74, 208 },
		{ words_3_15, 0x030f0200, 936, 7336, 176, 74, 208 },
	};
	struct runtime_file file;
	const uint64_t *values = file.values;
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		assert_int_equal(decode(cases[i].words, cases[i].version, &file), 0);
		assert_int_equal(values[CPYTHON_HAS_OFFSETS], 1);
		assert_int_equal(values[CPYTHON_IS_GUESS], 0);
		assert_int_equal(values[CPYTHON_OFFSET_INTERPRETERS], cases[i].interpreters);
		assert_int_equal(values[CPYTHON_OFFSET_THREADS], cases[i].threads);
		assert_int_equal(values[CPYTHON_OFFSET_THREAD_ID], cases[i].thread_id);
		assert_int_equal(values[CPYTHON_OFFSET_CURRENT_FRAME], 72);
		assert_int_equal(values[CPYTHON_OFFSET_FRAME_OWNER], cases[i].owner);
		assert_int_equal(values[CPYTHON_OFFSET_CODE_BYTECODE], cases[i].bytecode);
		assert_int_equal(values[CPYTHON_OFFSET_CODE_LINETABLE], 136);
		assert_int_equal(values[CPYTHON_OFFSET_CODE_FIRSTLINENO], 68);
		assert_int_equal(values[CPYTHON_OFFSET_UNICODE_LENGTH], 16);
		assert_int_equal(values[CPYTHON_OFFSET_UNICODE_STATE], 32);
		assert_int_equal(values[CPYTHON_OFFSET_ASCII_DATA], 40);
		assert_int_equal(values[CPYTHON_OFFSET_COMPACT_DATA], 56);
		assert_int_equal(values[CPYTHON_OFFSET_BYTES_DATA], 32);
		assert_int_equal(values[CPYTHON_OFFSET_FRAME_TLBC_INDEX], CPYTHON_NONE);
		assert_int_equal(values[CPYTHON_OFFSET_THREAD_CFRAME], CPYTHON_NONE);
		assert_int_equal(values[CPYTHON_LINES], CPYTHON_LINES_LOCATIONS);
	}
}

static void free_threaded_builds_have_bytecode_of_threads(void **state)
{
	uint64_t words[NR_WORDS];
	struct runtime_file file;
	(void)state;

	memcpy(words, words_3_14, sizeof(words));
	words[WORD_FREE_THREADED] = 1;
	words[WORD_TLBC_INDEX] = 72;
	words[WORD_CODE_TLBC] = 200;
	assert_int_equal(decode(words, 0x030e0a00, &file), 0);
	assert_int_equal(file.values[CPYTHON_FREE_THREADED], 1);
	assert_int_equal(file.values[CPYTHON_OFFSET_FRAME_TLBC_INDEX], 72);
	assert_int_equal(file.values[CPYTHON_OFFSET_CODE_TLBC], 200);
}

static void a_newer_version_is_read_like_the_newest(void **state)
{
	uint64_t words[NR_WORDS];
	struct runtime_file file;
	(void)state;

	memcpy(words, words_3_15, sizeof(words));
	words[WORD_VERSION] = 0x31001f0;
	assert_int_equal(decode(words, 0x03100100, &file), 0);
	assert_int_equal(file.values[CPYTHON_IS_GUESS], 1);
	assert_int_equal(file.values[CPYTHON_OFFSET_THREAD_ID], 176);
}

static void offsets_that_make_no_sense_are_refused(void **state)
{
	static const struct {
		size_t word;
		uint64_t value;
	} changes[] = {
		{ WORD_COOKIE, 0 },	     { WORD_COOKIE, COOKIE + 1 },
		{ WORD_VERSION, 0x30d05f0 }, { WORD_VERSION, UINT64_C(0x10030e0af0) },
		{ WORD_THREADS, 225864 },    { WORD_THREADS, UINT64_MAX },
		{ WORD_FRAME_BYTES, 0 },     { WORD_FRAME_BYTES, 74 },
		{ WORD_FRAME_OWNER, 88 },    { WORD_CODE_BYTES, 200 },
		{ WORD_UNICODE_BYTES, 39 },  { WORD_UNICODE_BYTES, UINT64_MAX },
		{ WORD_ASCII_BYTES, 0 },     { WORD_ASCII_BYTES, UINT64_MAX },
	};
	struct runtime_file file, before;
	(void)state;

	for (size_t i = 0; i < array_len(changes); i++)
		assert_int_equal(decode_changed(changes[i].word, changes[i].value), -EBADMSG);
	assert_int_equal(decode(words_3_13, 0x030e0500, &file), -EBADMSG);
	before = (struct runtime_file){ .kind = RUNTIME_CPYTHON, .version = 0x030e0500 };
	assert_memory_equal(&file, &before, sizeof(file));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_known_versions_are_read),
		cmocka_unit_test(free_threaded_builds_have_bytecode_of_threads),
		cmocka_unit_test(a_newer_version_is_read_like_the_newest),
		cmocka_unit_test(offsets_that_make_no_sense_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

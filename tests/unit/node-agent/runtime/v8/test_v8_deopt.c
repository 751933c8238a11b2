/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_deopt.h"

#include "base/cleanup.h"
#include "unit.h"
#include "v8_memory.h"

#define MAGLEV 12
#define OPTIMIZED 13
#define CODE_BYTES 64 /* of instructions, before the table */
#define TABLE_BYTES 24
#define CALL 32
#define NR_WORDS 14

/* A call at CALL, with the data at index 0. */
static const uint8_t safepoints[TABLE_BYTES] = { 0, 0, 0, 0, 1, 0, 0,	 0, 0x91, 0,
						 0, 0, 0, 0, 0, 0, CALL, 1, 60,	  0 };
/* At 1: a function whose bytecode 2 calls an inlined one, which has just begun. */
static const uint8_t translation[] = { 0, 14, 0, 4, 4, 1, 4, 0, 0, 0, 1, 1, 2, 2, 0 };

struct maglev {
	struct v8_memory objects;
	struct v8_code code;
	uint64_t outer, inner;
	uint64_t words[NR_WORDS]; /* of the DeoptimizationData */
};

static void put_words(struct maglev *maglev)
{
	v8_memory_set(&maglev->objects, maglev->code.object, maglev->objects.values[V8_CODE_DEOPT],
		      v8_memory_put_array(&maglev->objects, maglev->words, NR_WORDS));
}

static void maglev_init(struct maglev *maglev)
{
	/* From 0 on 19, from 2 on 39. */
	static const uint8_t positions[] = { 0x02, 0x50, 0x04, 0x50 };
	struct v8_memory *objects = &maglev->objects;
	uint64_t start, *words = maglev->words;

	v8_memory_init(objects, V8_MEMORY_13);
	maglev->outer = v8_memory_put_shared(objects, 0, 0, 0);
	maglev->inner = v8_memory_put_shared(objects, 0, 0, 0);
	uint64_t bytecode = v8_memory_put_bytecode(
		objects, "\4\4\4", 3, v8_memory_put_bytes(objects, positions, sizeof(positions)));
	uint64_t literals[] = { maglev->outer, maglev->inner };
	uint64_t bytecodes[] = { bytecode, bytecode };
	for (size_t i = 0; i < NR_WORDS; i++)
		words[i] = 0;
	words[0] = v8_memory_put_bytes(objects, translation, sizeof(translation));
	words[objects->values[V8_DEOPT_LITERALS] - 1] = v8_memory_put_array(objects, bytecodes, 2);
	words[objects->values[V8_DEOPT_LITERALS]] = v8_memory_put_array(objects, literals, 2);
	words[objects->values[V8_DEOPT_INLINING] + 5] = v8_memory_smi(1);
	uint64_t object = v8_memory_put_code(objects, MAGLEV, CODE_BYTES + TABLE_BYTES, &start);
	uint32_t size = CODE_BYTES;
	v8_memory_put(objects, object - 1 + objects->values[V8_CODE_SIZE], &size, sizeof(size));
	v8_memory_put(objects, start + CODE_BYTES, safepoints, sizeof(safepoints));
	assert_int_equal(v8_code_find(&objects->heap, start + CALL, &maglev->code), 0);
	put_words(maglev);
}

static void maglev_done(struct maglev *maglev)
{
	v8_memory_done(&maglev->objects);
}

static int read_at(struct maglev *maglev, uint64_t offset, struct v8_deopt_frame *frames)
{
	return v8_deopt_read(&maglev->objects.heap, &maglev->code, maglev->code.start + offset,
			     frames);
}

static void calls_have_their_functions(void **state)
{
	(void)state;
	_cleanup_(maglev_done) struct maglev maglev;
	struct v8_deopt_frame frames[V8_DEOPT_MAX_FRAMES];

	maglev_init(&maglev);
	assert_int_equal(read_at(&maglev, CALL, frames), 2);
	assert_int_equal(frames[0].shared, maglev.outer);
	assert_int_equal(frames[0].position, 39);
	assert_int_equal(frames[1].shared, maglev.inner);
	assert_int_equal(frames[1].position, 19);
	assert_int_equal(read_at(&maglev, 59, frames), 2);
}

/* At 1, the address is 32, as in the table above. */
static void calls_of_turbofan_have_a_packed_table(void **state)
{
	(void)state;
	static const uint8_t packed[] = { 0, 0, 0, 0, 12, 0, 0, 0x80, CALL - 1, 1, 60, 0 };
	_cleanup_(maglev_done) struct maglev maglev;
	struct v8_deopt_frame frames[V8_DEOPT_MAX_FRAMES];

	maglev_init(&maglev);
	v8_memory_put(&maglev.objects, maglev.code.start + CODE_BYTES, packed, sizeof(packed));
	maglev.code.kind = OPTIMIZED;
	maglev.objects.values[V8_CODE_KIND_TURBOFAN] = OPTIMIZED;
	assert_int_equal(read_at(&maglev, CALL, frames), 2);
	assert_int_equal(frames[1].shared, maglev.inner);
	assert_int_equal(read_at(&maglev, 60, frames), 2);
	assert_int_equal(read_at(&maglev, CALL + 1, frames), -ENOENT);
}

static void other_addresses_and_code_have_none(void **state)
{
	(void)state;
	_cleanup_(maglev_done) struct maglev maglev;
	struct v8_deopt_frame frames[V8_DEOPT_MAX_FRAMES];

	maglev_init(&maglev);
	assert_int_equal(read_at(&maglev, CALL + 1, frames), -ENOENT);
	assert_int_equal(read_at(&maglev, 0, frames), -ENOENT);
	maglev.code.kind = OPTIMIZED;
	assert_int_equal(read_at(&maglev, CALL, frames), -ENOENT);
	maglev.code.kind = 0;
	maglev.objects.values[V8_CODE_KIND_MAGLEV] = 0;
	assert_int_equal(read_at(&maglev, CALL, frames), -ENOENT);
}

static void damaged_data_tell_nothing(void **state)
{
	(void)state;
	_cleanup_(maglev_done) struct maglev maglev;
	struct v8_deopt_frame frames[V8_DEOPT_MAX_FRAMES];

	maglev_init(&maglev);
	const uint64_t *values = maglev.objects.values;
	uint64_t other = v8_memory_put_object(&maglev.objects, V8_TYPE_OTHER, 32);
	uint64_t others[] = { other, other };
	const struct {
		uint64_t index;
		uint64_t word;
	} damages[] = {
		{ 0, other },
		{ 0, v8_memory_put_bytes(&maglev.objects, translation, 1) },
		{ values[V8_DEOPT_LITERALS] - 1, other },
		{ values[V8_DEOPT_LITERALS], v8_memory_put_array(&maglev.objects, others, 2) },
		{ values[V8_DEOPT_LITERALS] - 1, v8_memory_put_array(&maglev.objects, others, 1) },
		{ values[V8_DEOPT_INLINING] + 5, v8_memory_smi(-1) },
		{ values[V8_DEOPT_INLINING] + 5, v8_memory_smi(2) },
		{ values[V8_DEOPT_INLINING] + 5, other },
	};
	for (size_t i = 0; i < array_len(damages); i++) {
		uint64_t word = maglev.words[damages[i].index];

		maglev.words[damages[i].index] = damages[i].word;
		put_words(&maglev);
		assert_int_equal(read_at(&maglev, CALL, frames), -ENOENT);
		maglev.words[damages[i].index] = word;
	}
	v8_memory_set(&maglev.objects, maglev.code.object, values[V8_CODE_DEOPT], other);
	assert_int_equal(read_at(&maglev, CALL, frames), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_have_their_functions),
		cmocka_unit_test(calls_of_turbofan_have_a_packed_table),
		cmocka_unit_test(other_addresses_and_code_have_none),
		cmocka_unit_test(damaged_data_tell_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

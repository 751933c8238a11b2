/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cpython/cpython_place.h"

#include "bpf/shared/cfi.h"
#include "cpython_process.h"
#include "runtime/cpython/cpython_values.h"
#include "unit.h"

#include <string.h>

#define NR_THREADS 3
#define FIRST_KEY (0x310 + 8) /* of glibc */
#define TABLE_OF_KEYS_32_TO_63 0x518
#define TABLE_OF_MUSL 128

struct fixture {
	struct cpython_process process;
	uint64_t interpreter;
	uint64_t pointers[NR_THREADS];
};

static void setup_threads(struct fixture *fixture, size_t nr)
{
	if (CFI_IS_ARM64)
		skip();
	cpython_process_init(&fixture->process);
	fixture->interpreter = cpython_process_start(&fixture->process);
	for (size_t i = 0; i < nr; i++)
		fixture->pointers[i] = cpython_process_add_thread(&fixture->process,
								  fixture->interpreter);
}

static void setup_threads_without_keys(struct fixture *fixture, size_t nr)
{
	setup_threads(fixture, nr);
	fixture->process.file.version = CPYTHON_VERSION(3, 15);
}

static int learn(struct fixture *fixture, struct cpython_place *ret_place)
{
	struct cpython_process *process = &fixture->process;
	const uint64_t *values = process->file.values;
	struct cpython_threads threads;

	assert_int_equal(cpython_threads_read(&process->memory, values,
					      values[CPYTHON_RUNTIME] + CPYTHON_PROCESS_BIAS,
					      &threads),
			 0);
	return cpython_place_learn(&process->memory, &process->file, &threads, ret_place);
}

/* Puts the state of a thread at a distance from its thread pointer. */
static void put_state(struct fixture *fixture, size_t thread, int64_t distance)
{
	uint64_t pointer = fixture->pointers[thread];

	cpython_process_put(&fixture->process, pointer + (uint64_t)distance,
			    cpython_process_state(pointer));
}

static void put_all_states(struct fixture *fixture, int64_t distance)
{
	for (size_t i = 0; i < NR_THREADS; i++)
		put_state(fixture, i, distance);
}

static void put_all_words(struct fixture *fixture, int64_t distance, int64_t word)
{
	for (size_t i = 0; i < NR_THREADS; i++)
		cpython_process_put(&fixture->process, fixture->pointers[i] + (uint64_t)distance,
				    fixture->pointers[i] + (uint64_t)word);
}

static void assert_place(struct fixture *fixture, uint8_t kind, uint8_t nr, const int32_t *offsets)
{
	struct cpython_place place;

	assert_int_equal(learn(fixture, &place), 0);
	assert_int_equal(place.kind, kind);
	assert_int_equal(place.nr, nr);
	assert_memory_equal(place.offsets, offsets, nr * sizeof(*offsets));
	assert_true(strcmp(cpython_place_name(kind), "unknown") != 0);
	cpython_process_done(&fixture->process);
}

static void assert_near(struct fixture *fixture, uint8_t kind, int32_t offset)
{
	assert_place(fixture, kind, 1, &offset);
}

static void a_key_is_found(void **state)
{
	struct fixture fixture;
	(void)state;

	setup_threads(&fixture, NR_THREADS);
	put_all_states(&fixture, FIRST_KEY + 16 * 31);
	assert_near(&fixture, CPYTHON_PLACE_KEY, FIRST_KEY + 16 * 31);
}

static void the_lowest_key_is_that_of_cpython(void **state)
{
	struct fixture fixture;
	(void)state;

	setup_threads(&fixture, NR_THREADS);
	put_all_states(&fixture, FIRST_KEY + 16 * 5);
	put_all_states(&fixture, FIRST_KEY + 16 * 2);
	assert_near(&fixture, CPYTHON_PLACE_KEY, FIRST_KEY + 16 * 2);
}

static void a_place_of_all_threads_wins(void **state)
{
	struct fixture fixture;
	(void)state;

	setup_threads(&fixture, NR_THREADS);
	put_state(&fixture, 1, FIRST_KEY);
	put_all_states(&fixture, FIRST_KEY + 16 * 4);
	assert_near(&fixture, CPYTHON_PLACE_KEY, FIRST_KEY + 16 * 4);
	setup_threads_without_keys(&fixture, NR_THREADS);
	put_state(&fixture, 2, -16);
	put_all_states(&fixture, -8);
	assert_near(&fixture, CPYTHON_PLACE_STATIC_TLS, -8);
}

/* A process that starts may have the other one already. */
static void a_version_that_has_keys_has_the_state_there(void **state)
{
	struct cpython_place place;
	struct fixture fixture;
	(void)state;

	setup_threads(&fixture, NR_THREADS);
	put_all_states(&fixture, -8);
	assert_int_equal(learn(&fixture, &place), -ENOENT);
	put_all_states(&fixture, FIRST_KEY);
	assert_near(&fixture, CPYTHON_PLACE_KEY, FIRST_KEY);
}

static void the_stack_below_static_tls_is_not_searched(void **state)
{
	struct cpython_place place;
	struct fixture fixture;
	(void)state;

	setup_threads_without_keys(&fixture, NR_THREADS);
	put_all_states(&fixture, -CPYTHON_PROCESS_STATIC_BYTES - 8);
	put_all_states(&fixture, FIRST_KEY);
	assert_int_equal(learn(&fixture, &place), -ENOENT);
	cpython_process_done(&fixture.process);
}

static void keys_from_32_on_are_found(void **state)
{
	const int32_t offsets[] = { TABLE_OF_KEYS_32_TO_63, 16 * 7 + 8 };
	struct fixture fixture;
	(void)state;

	setup_threads(&fixture, NR_THREADS);
	put_all_words(&fixture, TABLE_OF_KEYS_32_TO_63, -0x2000);
	put_all_states(&fixture, -0x2000 + 16 * 7 + 8);
	assert_place(&fixture, CPYTHON_PLACE_FAR_KEY, 2, offsets);
}

static void a_key_of_musl_is_found(void **state)
{
	const int32_t offsets[] = { TABLE_OF_MUSL, 8 * 3 };
	struct fixture fixture;
	(void)state;

	setup_threads(&fixture, NR_THREADS);
	put_all_words(&fixture, TABLE_OF_MUSL, -0x2000);
	put_all_states(&fixture, -0x2000 + 8 * 3);
	assert_place(&fixture, CPYTHON_PLACE_FAR_KEY, 2, offsets);
}

/* The vector is 0x2000 behind the thread pointer; see cpython_process.c. */
static void a_block_of_a_library_that_was_loaded_later_is_found(void **state)
{
	const int32_t offsets[] = { 8, 16 * 5, 24 };
	struct fixture fixture;
	(void)state;

	setup_threads_without_keys(&fixture, NR_THREADS);
	put_all_words(&fixture, 0x2000 + 16 * 5, -0x3000);
	put_all_states(&fixture, -0x3000 + 24);
	assert_place(&fixture, CPYTHON_PLACE_DYNAMIC_TLS, 3, offsets);
}

static void code_tells_which_of_two_variables_keeps_the_state(void **state)
{
	struct cpython_place place;
	struct fixture fixture;
	(void)state;

	setup_threads_without_keys(&fixture, 1);
	put_state(&fixture, 0, -40);
	put_state(&fixture, 0, -32);
	assert_int_equal(learn(&fixture, &place), 0);
	assert_false(place.is_only);
	fixture.process.file.values[CPYTHON_GILSTATE_PLACE] = (uint32_t)-32;
	assert_int_equal(learn(&fixture, &place), 0);
	assert_true(place.is_only);
	assert_near(&fixture, CPYTHON_PLACE_STATIC_TLS, -32);
}

/* One of the two states is in the key at a time. */
static void a_thread_with_two_interpreters_counts_once(void **state)
{
	struct cpython_place place;
	struct fixture fixture;
	uint64_t other;
	(void)state;

	setup_threads(&fixture, NR_THREADS);
	other = cpython_process_add_interpreter(&fixture.process, fixture.interpreter);
	put_all_states(&fixture, FIRST_KEY);
	cpython_process_put(
		&fixture.process, fixture.pointers[0] + FIRST_KEY,
		cpython_process_add_state(&fixture.process, other, fixture.pointers[0]));
	assert_int_equal(learn(&fixture, &place), 0);
	assert_int_equal(place.nr_threads, NR_THREADS);
	assert_near(&fixture, CPYTHON_PLACE_KEY, FIRST_KEY);
}

static void the_state_of_another_thread_is_none(void **state)
{
	struct cpython_place place;
	struct fixture fixture;
	(void)state;

	setup_threads(&fixture, 2);
	cpython_process_put(&fixture.process, fixture.pointers[0] + FIRST_KEY,
			    cpython_process_state(fixture.pointers[1]));
	assert_int_equal(learn(&fixture, &place), -ENOENT);
	cpython_process_done(&fixture.process);
}

static void pointers_to_nowhere_are_ignored(void **state)
{
	struct cpython_place place;
	struct fixture fixture;
	(void)state;

	setup_threads(&fixture, 1);
	for (int64_t at = 8; at < 0x1000; at += 8)
		cpython_process_put(&fixture.process, fixture.pointers[0] + (uint64_t)at,
				    UINT64_MAX - 7);
	assert_int_equal(learn(&fixture, &place), -ENOENT);
	cpython_process_done(&fixture.process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_is_found),
		cmocka_unit_test(the_lowest_key_is_that_of_cpython),
		cmocka_unit_test(a_place_of_all_threads_wins),
		cmocka_unit_test(a_version_that_has_keys_has_the_state_there),
		cmocka_unit_test(the_stack_below_static_tls_is_not_searched),
		cmocka_unit_test(keys_from_32_on_are_found),
		cmocka_unit_test(a_key_of_musl_is_found),
		cmocka_unit_test(a_block_of_a_library_that_was_loaded_later_is_found),
		cmocka_unit_test(code_tells_which_of_two_variables_keeps_the_state),
		cmocka_unit_test(a_thread_with_two_interpreters_counts_once),
		cmocka_unit_test(the_state_of_another_thread_is_none),
		cmocka_unit_test(pointers_to_nowhere_are_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

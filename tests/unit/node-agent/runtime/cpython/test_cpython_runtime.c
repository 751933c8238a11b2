/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/shared/cfi.h"
#include "cpython_naming_table.h"
#include "cpython_process.h"
#include "runtime/cpython/cpython_values.h"
#include "runtime/cpython/cpython_versions.h"
#include "unit.h"

#include <string.h>

#define FIRST_KEY (0x310 + 8) /* of glibc */
#define MUSL_KEYS 128
#define MUSL_TABLE (-0x2000)

static struct runtime_found inspect(struct cpython_process *process)
{
	struct runtime_found found;

	assert_int_equal(cpython_runtime.inspect(&process->memory, &process->file,
						 CPYTHON_PROCESS_BIAS, &found),
			 0);
	return found;
}

static void setup(struct cpython_process *process)
{
	if (CFI_IS_ARM64)
		skip();
	cpython_process_init(process);
}

/* A process with one thread, whose state is in a key. */
static uint64_t setup_thread(struct cpython_process *process)
{
	uint64_t interpreter, pointer;

	setup(process);
	interpreter = cpython_process_start(process);
	pointer = cpython_process_add_thread(process, interpreter);
	cpython_process_put(process, pointer + FIRST_KEY, cpython_process_state(pointer));
	return interpreter;
}

static void a_process_with_a_thread_is_ready(void **state)
{
	struct cpython_process process;
	struct runtime_found found;
	(void)state;

	setup_thread(&process);
	found = inspect(&process);
	assert_int_equal(found.state, RUNTIME_READY);
	assert_true(found.is_shared);
	assert_false(found.is_likely);
	assert_false(found.has_process);
	assert_string_equal(found.reason, "");
	assert_int_equal(found.layout.cpython.kind, RUNTIME_CPYTHON);
	assert_int_equal(found.layout.cpython.chain, CPYTHON_CHAIN_BY_SHIM);
	assert_int_equal(found.layout.cpython.shim_owner, 3);
	assert_int_equal(found.layout.cpython.nr_place, 1);
	assert_int_equal(found.layout.cpython.place[0], FIRST_KEY);
	assert_int_equal(found.layout.cpython.cframe, 56);
	assert_int_equal(found.layout.cpython.frame_bytes, 72);
	assert_int_equal(found.layout.cpython.filename, 112);
	assert_int_equal(found.layout.cpython.name, 128);
	assert_int_equal(found.layout.cpython.lines, 136);
	assert_int_equal(found.layout.cpython.bytes_size, 16);
	cpython_process_done(&process);
}

static void a_library_may_be_different_in_each_program(void **state)
{
	struct cpython_process process;
	struct runtime_found found;
	(void)state;

	setup_thread(&process);
	process.file.values[CPYTHON_IS_PROGRAM] = 0;
	found = inspect(&process);
	assert_true(found.is_shared);
	assert_true(found.is_likely);
	assert_int_equal(found.process.kind, RUNTIME_CPYTHON);
	assert_int_equal(found.layout.kind, RUNTIME_CPYTHON);
	cpython_process_done(&process);
}

/* As musl keeps all keys: the thread's block refers to the table. */
static void a_key_in_a_table_is_that_of_one_process(void **state)
{
	struct cpython_process process;
	struct runtime_found found;
	uint64_t interpreter, pointer;
	(void)state;

	setup(&process);
	interpreter = cpython_process_start(&process);
	pointer = cpython_process_add_thread(&process, interpreter);
	cpython_process_put(&process, pointer + (uint64_t)MUSL_KEYS,
			    pointer + (uint64_t)MUSL_TABLE);
	cpython_process_put(&process, pointer + (uint64_t)MUSL_TABLE + 8,
			    cpython_process_state(pointer));
	found = inspect(&process);
	assert_int_equal(found.state, RUNTIME_READY);
	assert_int_equal(found.layout.cpython.nr_place, 2);
	assert_false(found.is_shared);
	assert_true(found.has_process);
	cpython_process_done(&process);
}

static void each_version_is_named_as_its_debug_information_says(void **state)
{
	struct cpython_process process;
	struct runtime_found found;
	(void)state;

	for (int minor = CPYTHON_FIRST_MINOR; minor <= 12; minor++) {
		const uint64_t *naming = cpython_naming_of(minor);

		setup(&process);
		process.file.version = CPYTHON_VERSION(3, minor);
		assert_true(cpython_versions_fill(&process.file));
		uint64_t pointer = cpython_process_add_thread(&process,
							      cpython_process_start(&process));
		cpython_process_put(&process, pointer + FIRST_KEY, cpython_process_state(pointer));
		found = inspect(&process);
		assert_int_equal(found.state, RUNTIME_READY);
		for (int i = 0; i < CPYTHON_NAMING_NR; i++)
			if (i != CPYTHON_NAMING_CODE_BYTES && i != CPYTHON_NAMING_BYTECODE)
				assert_int_equal(found.naming[i], naming[i]);
		assert_in_range(found.naming[CPYTHON_NAMING_CODE_BYTES], 1,
				naming[CPYTHON_NAMING_CODE_BYTES]);
		assert_in_range(found.layout.cpython.frame_bytes, 1, 120);
		assert_int_equal(found.layout.cpython.frame_bytes % 8, 0);
		cpython_process_done(&process);
	}
}

static void only_a_process_of_3_8_says_where_its_runtime_is(void **state)
{
	struct cpython_process process;
	struct runtime_found found;
	(void)state;

	for (int minor = CPYTHON_FIRST_MINOR; minor <= 12; minor++) {
		setup(&process);
		process.file.version = CPYTHON_VERSION(3, minor);
		assert_true(cpython_versions_fill(&process.file));
		uint64_t pointer = cpython_process_add_thread(&process,
							      cpython_process_start(&process));
		cpython_process_put(&process, pointer + FIRST_KEY, cpython_process_state(pointer));
		found = inspect(&process);
		assert_int_equal(found.has_process, minor == 8);
		assert_int_equal(found.is_shared, minor != 8);
		assert_int_equal(found.process.words[CPYTHON_WORD_RUNTIME],
				 CPYTHON_PROCESS_BIAS + process.file.values[CPYTHON_RUNTIME]);
		assert_int_equal(found.layout.cpython.current != 0, minor < 12);
		assert_int_equal(found.layout.cpython.interpreter != 0, minor > 8 && minor < 12);
		cpython_process_done(&process);
	}
}

static void what_has_not_started_is_pending(void **state)
{
	struct cpython_process process;
	uint64_t interpreter;
	(void)state;

	setup(&process);
	assert_int_equal(inspect(&process).state, RUNTIME_PENDING);
	interpreter = cpython_process_start(&process);
	assert_int_equal(inspect(&process).state, RUNTIME_PENDING);
	cpython_process_add_thread(&process, interpreter);
	assert_int_equal(inspect(&process).state, RUNTIME_PENDING);
	assert_string_not_equal(inspect(&process).reason, "");
	cpython_process_done(&process);
}

static void versions_without_offsets_are_unsupported(void **state)
{
	struct cpython_process process;
	struct runtime_found found;
	(void)state;

	setup_thread(&process);
	process.file.values[CPYTHON_HAS_OFFSETS] = 0;
	found = inspect(&process);
	assert_int_equal(found.state, RUNTIME_UNSUPPORTED);
	assert_non_null(strstr(found.reason, "3.12"));
	process.file.version = 0;
	found = inspect(&process);
	assert_int_equal(found.state, RUNTIME_UNSUPPORTED);
	assert_string_not_equal(found.reason, "");
	cpython_process_done(&process);
}

static void a_frame_that_is_too_large_is_unsupported(void **state)
{
	struct cpython_process process;
	(void)state;

	setup_thread(&process);
	process.file.values[CPYTHON_OFFSET_FRAME_INSTR] = 120;
	assert_int_equal(inspect(&process).state, RUNTIME_UNSUPPORTED);
	cpython_process_done(&process);
}

static void an_unknown_version_says_so(void **state)
{
	struct cpython_process process;
	struct runtime_found found;
	(void)state;

	setup_thread(&process);
	process.file.values[CPYTHON_IS_GUESS] = 1;
	found = inspect(&process);
	assert_int_equal(found.state, RUNTIME_READY);
	assert_string_not_equal(found.reason, "");
	cpython_process_done(&process);
}

static void lists_that_are_circles_come_to_an_end(void **state)
{
	struct cpython_process process;
	uint64_t interpreter;
	(void)state;

	interpreter = setup_thread(&process);
	const uint64_t *values = process.file.values;
	cpython_process_put(&process, interpreter + values[CPYTHON_OFFSET_INTERPRETER_NEXT],
			    interpreter);
	uint64_t pointer = cpython_process_add_thread(&process, interpreter);
	cpython_process_put(&process,
			    cpython_process_state(pointer) + values[CPYTHON_OFFSET_THREAD_NEXT],
			    cpython_process_state(pointer));
	cpython_process_put(&process, pointer + FIRST_KEY, cpython_process_state(pointer));
	assert_int_equal(inspect(&process).state, RUNTIME_READY);
	/* No thread has a thread pointer. */
	cpython_process_put(&process, pointer, 0);
	assert_int_equal(inspect(&process).state, RUNTIME_PENDING);
	cpython_process_done(&process);
}

static void wild_pointers_are_harmless(void **state)
{
	static const uint64_t wild[] = { 1, 0xfff, UINT64_MAX, INT64_MAX, (uint64_t)1 << 47 };
	struct cpython_process process;
	(void)state;

	for (size_t i = 0; i < sizeof(wild) / sizeof(*wild); i++) {
		uint64_t interpreter = setup_thread(&process);
		const uint64_t *values = process.file.values;

		cpython_process_put(&process, interpreter + values[CPYTHON_OFFSET_THREADS],
				    wild[i]);
		assert_int_equal(inspect(&process).state, RUNTIME_PENDING);
		cpython_process_done(&process);
	}
}

static void memory_that_cannot_be_read_is_an_error(void **state)
{
	struct cpython_process process;
	struct runtime_found found;
	(void)state;

	setup_thread(&process);
	assert_int_equal(
		cpython_runtime.inspect(&process.memory, &process.file, UINT64_MAX / 2, &found),
		-EFAULT);
	process.memory.nr_left = 0;
	assert_int_equal(cpython_runtime.inspect(&process.memory, &process.file,
						 CPYTHON_PROCESS_BIAS, &found),
			 -EDQUOT);
	cpython_process_done(&process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_with_a_thread_is_ready),
		cmocka_unit_test(a_library_may_be_different_in_each_program),
		cmocka_unit_test(a_key_in_a_table_is_that_of_one_process),
		cmocka_unit_test(each_version_is_named_as_its_debug_information_says),
		cmocka_unit_test(only_a_process_of_3_8_says_where_its_runtime_is),
		cmocka_unit_test(what_has_not_started_is_pending),
		cmocka_unit_test(versions_without_offsets_are_unsupported),
		cmocka_unit_test(a_frame_that_is_too_large_is_unsupported),
		cmocka_unit_test(an_unknown_version_says_so),
		cmocka_unit_test(lists_that_are_circles_come_to_an_end),
		cmocka_unit_test(wild_pointers_are_harmless),
		cmocka_unit_test(memory_that_cannot_be_read_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

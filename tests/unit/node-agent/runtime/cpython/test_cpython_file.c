/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cpython/cpython_file.h"

#include "base/cleanup.h"
#include "bpf/shared/cfi.h"
#include "export_image.h"
#include "runtime/cpython/cpython_values.h"
#include "unit.h"

#include <string.h>

/* Offsets in the data. */
#define RUNTIME 0
#define VERSION 4096
#define EVAL 4200
#define GETTER 6000
#define EVAL_BYTES 300
#define OTHER 2000
#define COLD 3000
#define COLD_BYTES 64
#define STARTS 7000

static void add_runtime(struct export_image *image)
{
	export_image_init(image);
	export_image_add(image, "_PyRuntime", EXPORT_IMAGE_DATA + RUNTIME, 1000);
}

static void add_version(struct export_image *image, uint64_t version)
{
	export_image_add(image, "Py_Version", EXPORT_IMAGE_DATA + VERSION, sizeof(version));
	memcpy(image->data + VERSION, &version, sizeof(version));
}

static void add_code(struct export_image *image, const char *name, size_t at, const void *code,
		     size_t len)
{
	export_image_add(image, name, EXPORT_IMAGE_DATA + at, EVAL_BYTES);
	memcpy(image->data + at, code, len);
}

static int read_image(const struct export_image *image, struct runtime_file *ret_file)
{
	_cleanup_(elf_reader_done) struct elf_reader reader = { .fd = -EBADF };
	struct elf_exports exports;

	assert_int_equal(elf_reader_init_bytes(&reader, image, sizeof(*image)), 0);
	assert_int_equal(elf_exports_init(&exports, &reader), 0);
	return cpython_file_read(&exports, ret_file);
}

static void other_files_are_none(void **state)
{
	struct export_image image;
	struct runtime_file file;
	(void)state;

	export_image_init(&image);
	assert_int_equal(read_image(&image, &file), 0);
	export_image_add(&image, "PyInit_extension", EXPORT_IMAGE_DATA, 10);
	export_image_add(&image, "Py_Version", EXPORT_IMAGE_DATA, 8);
	assert_int_equal(read_image(&image, &file), 0);
}

static void functions_tell_an_old_version(void **state)
{
	static const struct {
		const char *functions[3];
		uint32_t version;
	} cases[] = {
		{ { NULL }, 0 },
		{ { "PyCode_NewWithPosOnlyArgs" }, 0x03080000 },
		{ { "PyCode_NewWithPosOnlyArgs", "PyFrame_GetCode" }, 0x03090000 },
		{ { "PyCode_NewWithPosOnlyArgs", "PyFrame_GetCode", "PyIter_Send" }, 0x030a0000 },
	};
	struct export_image image;
	struct runtime_file file;
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		add_runtime(&image);
		for (size_t k = 0; k < 3 && cases[i].functions[k]; k++)
			export_image_add(&image, cases[i].functions[k], EXPORT_IMAGE_DATA, 1);
		assert_int_equal(read_image(&image, &file), 1);
		assert_int_equal(file.kind, RUNTIME_CPYTHON);
		assert_int_equal(file.version, cases[i].version);
		assert_int_equal(file.values[CPYTHON_HAS_OFFSETS], cases[i].version != 0);
		assert_int_equal(file.values[CPYTHON_RUNTIME], EXPORT_IMAGE_DATA + RUNTIME);
	}
}

static void a_constant_tells_a_newer_version(void **state)
{
	struct export_image image;
	struct runtime_file file;
	(void)state;

	add_runtime(&image);
	add_version(&image, 0x030b02f0);
	assert_int_equal(read_image(&image, &file), 1);
	assert_int_equal(file.version, 0x030b0200);
	assert_int_equal(file.values[CPYTHON_OFFSET_THREAD_ID], 152);
	assert_int_equal(file.values[CPYTHON_CHAIN], CPYTHON_CHAIN_BY_CFRAME);
}

static void a_version_without_sound_offsets_has_none(void **state)
{
	static const uint64_t versions[] = { 0x030d00f0, 0x030f00f0, 0x02071200,
					     0x030700f0, 0x040000f0, UINT32_MAX };
	struct export_image image;
	struct runtime_file file;
	(void)state;

	for (size_t i = 0; i < array_len(versions); i++) {
		add_runtime(&image);
		add_version(&image, versions[i]);
		assert_int_equal(read_image(&image, &file), 1);
		assert_int_equal(file.values[CPYTHON_HAS_OFFSETS], 0);
	}
}

static void symbols_outside_of_the_file_are_no_data(void **state)
{
	struct export_image image;
	struct runtime_file file;
	(void)state;

	export_image_init(&image);
	export_image_add(&image, "_PyRuntime", UINT64_MAX - 7, 1000);
	add_version(&image, 0x030e00f0);
	export_image_add(&image, "_PyEval_EvalFrameDefault", UINT64_MAX - 7, 100);
	assert_int_equal(read_image(&image, &file), 1);
	assert_int_equal(file.values[CPYTHON_HAS_OFFSETS], 0);
	assert_int_equal(file.values[CPYTHON_TAIL_CALLS], 0);
	export_image_init(&image);
	export_image_add(&image, "_PyRuntime", EXPORT_IMAGE_DATA, 1000);
	export_image_add(&image, "Py_Version", UINT64_MAX - 7, 8);
	assert_int_equal(read_image(&image, &file), 1);
	assert_int_equal(file.version, 0);
	assert_int_equal(file.values[CPYTHON_HAS_OFFSETS], 0);
}

static void the_eval_loop_of_an_old_version_is_a_range_of_the_file(void **state)
{
	struct export_image image;
	struct runtime_file file;
	(void)state;

	add_runtime(&image);
	export_image_add(&image, "PyIter_Send", EXPORT_IMAGE_DATA, 1);
	export_image_add(&image, "_PyEval_EvalFrameDefault", EXPORT_IMAGE_DATA + EVAL, EVAL_BYTES);
	assert_int_equal(read_image(&image, &file), 1);
	assert_int_equal(file.values[CPYTHON_EVAL_START],
			 offsetof(struct export_image, data) + EVAL);
	assert_int_equal(file.values[CPYTHON_EVAL_END],
			 offsetof(struct export_image, data) + EVAL + EVAL_BYTES);
	assert_int_equal(file.values[CPYTHON_EVAL_COLD_START], 0);
	assert_int_equal(file.values[CPYTHON_EVAL_COLD_END], 0);
}

/* Writes a jump: 0f 84 (je) or e9 (jmp), and the distance from its end. Returns its end. */
static size_t add_jump(struct export_image *image, size_t at, bool is_conditional, size_t target)
{
	int32_t distance;

	if (is_conditional) {
		image->data[at++] = 0x0f;
		image->data[at++] = 0x84;
	} else {
		image->data[at++] = 0xe9;
	}
	distance = (int32_t)target - (int32_t)(at + sizeof(distance));
	memcpy(image->data + at, &distance, sizeof(distance));
	return at + sizeof(distance);
}

/* An old version whose loop jumps `nr` times into another function, and often to the start of a
 * third one. */
static void make_jumps(struct export_image *image, size_t nr)
{
	const uint64_t starts[] = {
		EXPORT_IMAGE_DATA + OTHER,
		EXPORT_IMAGE_DATA + COLD,
		EXPORT_IMAGE_DATA + COLD + COLD_BYTES,
		EXPORT_IMAGE_DATA + EVAL,
	};
	size_t at = EVAL;

	add_runtime(image);
	export_image_add(image, "PyIter_Send", EXPORT_IMAGE_DATA, 1);
	export_image_add(image, "_PyEval_EvalFrameDefault", EXPORT_IMAGE_DATA + EVAL, EVAL_BYTES);
	export_image_add_starts(image, STARTS, starts, array_len(starts));
	for (size_t i = 0; i < 8; i++)
		at = add_jump(image, at, false, OTHER);
	for (size_t i = 0; i < nr; i++)
		at = add_jump(image, at, i % 2 == 0, COLD + 8 + i);
	at = add_jump(image, at, true, EVAL + 8);
	add_jump(image, at, true, 100000);
}

static void jumps_tell_the_cold_part_of_the_eval_loop(void **state)
{
	struct export_image image;
	struct runtime_file file;
	(void)state;

	if (CFI_IS_ARM64)
		skip();
	make_jumps(&image, 3);
	assert_int_equal(read_image(&image, &file), 1);
	assert_int_equal(file.values[CPYTHON_EVAL_COLD_START],
			 offsetof(struct export_image, data) + COLD);
	assert_int_equal(file.values[CPYTHON_EVAL_COLD_END],
			 offsetof(struct export_image, data) + COLD + COLD_BYTES);
}

static void without_jumps_or_their_targets_there_is_no_cold_part(void **state)
{
	/* Bytes of the header: version, encodings, number. */
	static const size_t damaged[] = { 0, 2, 3, 11 };
	struct export_image image;
	struct runtime_file file;
	(void)state;

	make_jumps(&image, 2);
	assert_int_equal(read_image(&image, &file), 1);
	assert_int_equal(file.values[CPYTHON_EVAL_COLD_END], 0);
	for (size_t i = 0; i < array_len(damaged); i++) {
		make_jumps(&image, 3);
		image.data[STARTS + damaged[i]] ^= 0x10;
		assert_int_equal(read_image(&image, &file), 1);
		assert_int_equal(file.values[CPYTHON_EVAL_COLD_END], 0);
	}
	make_jumps(&image, 3);
	image.segments[4].p_vaddr = UINT64_MAX;
	assert_int_equal(read_image(&image, &file), 1);
	assert_int_equal(file.values[CPYTHON_EVAL_COLD_END], 0);
}

static void a_program_is_told_from_a_library(void **state)
{
	struct export_image image;
	struct runtime_file file;
	(void)state;

	add_runtime(&image);
	assert_int_equal(read_image(&image, &file), 1);
	assert_int_equal(file.values[CPYTHON_IS_PROGRAM], 0);
	assert_int_equal(file.values[CPYTHON_TLS_BYTES], 0);
	export_image_add_interpreter(&image);
	export_image_add_tls(&image, 24);
	assert_int_equal(read_image(&image, &file), 1);
	assert_int_equal(file.values[CPYTHON_IS_PROGRAM], 1);
	assert_int_equal(file.values[CPYTHON_TLS_BYTES], 24);
	export_image_add_tls(&image, UINT64_MAX);
	assert_int_equal(read_image(&image, &file), 1);
	assert_int_equal(file.values[CPYTHON_TLS_BYTES], 4096);
}

static void a_call_of_the_first_handler_means_tail_calls(void **state)
{
	static const struct {
		uint8_t code[8];
		uint8_t has_tail_calls;
	} cases[] = {
		{ { 0xff, 0x14, 0xc5, 0x60, 0x68, 0xfc, 0 }, 1 }, /* call *table(,%rax,8) */
		{ { 0x90, 0xff, 0x14, 0xc1 }, 1 }, /* call *(%rcx,%rax,8) */
		{ { 0xff, 0xd0 }, 1 }, /* call *%rax */
		{ { 0xff, 0xe0 }, 0 }, /* jmp *%rax */
		{ { 0xff, 0x24, 0xc5 }, 0 }, /* jmp *table(,%rax,8) */
		{ { 0xe8, 1, 2, 3, 4 }, 0 }, /* call */
	};
	struct export_image image;
	struct runtime_file file;
	(void)state;

	if (CFI_IS_ARM64)
		skip();
	for (size_t i = 0; i < array_len(cases); i++) {
		add_runtime(&image);
		add_version(&image, 0x030e00f0);
		add_code(&image, "_PyEval_EvalFrameDefault", EVAL, cases[i].code,
			 sizeof(cases[i].code));
		assert_int_equal(read_image(&image, &file), 1);
		assert_int_equal(file.values[CPYTHON_TAIL_CALLS], cases[i].has_tail_calls);
	}
}

static void code_tells_a_thread_local_variable(void **state)
{
	/* endbr64; mov %fs:-40,%rax; ret */
	static const uint8_t getter[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x64, 0x48, 0x8b,
					  0x04, 0x25, 0xd8, 0xff, 0xff, 0xff, 0xc3 };
	struct export_image image;
	struct runtime_file file;
	(void)state;

	if (CFI_IS_ARM64)
		skip();
	add_runtime(&image);
	add_version(&image, 0x030f00f0);
	add_code(&image, "PyGILState_GetThisThreadState", GETTER, getter, sizeof(getter));
	assert_int_equal(read_image(&image, &file), 1);
	assert_int_equal(file.values[CPYTHON_GILSTATE_PLACE], (uint32_t)-40);
	image.data[GETTER + 6] = 0x8d;
	assert_int_equal(read_image(&image, &file), 1);
	assert_int_equal(file.values[CPYTHON_GILSTATE_PLACE], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_files_are_none),
		cmocka_unit_test(functions_tell_an_old_version),
		cmocka_unit_test(a_constant_tells_a_newer_version),
		cmocka_unit_test(a_version_without_sound_offsets_has_none),
		cmocka_unit_test(symbols_outside_of_the_file_are_no_data),
		cmocka_unit_test(the_eval_loop_of_an_old_version_is_a_range_of_the_file),
		cmocka_unit_test(jumps_tell_the_cold_part_of_the_eval_loop),
		cmocka_unit_test(without_jumps_or_their_targets_there_is_no_cold_part),
		cmocka_unit_test(a_program_is_told_from_a_library),
		cmocka_unit_test(a_call_of_the_first_handler_means_tail_calls),
		cmocka_unit_test(code_tells_a_thread_local_variable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

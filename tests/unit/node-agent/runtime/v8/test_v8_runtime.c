/* SPDX-License-Identifier: Apache-2.0 */
/* The file with a V8 is this program: it exports constants for debuggers, of Node 20. */
#include "base/cleanup.h"
#include "runtime/runtime.h"
#include "runtime/v8/v8_values.h"
#include "unit.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((used, visibility("default")))
#define CONSTANT(name, value)                                                                      \
	extern const int32_t v8dbg_##name;                                                         \
	EXPORTED const int32_t v8dbg_##name = value;

CONSTANT(HeapObjectTag, 1)
CONSTANT(TaggedSize, 8)
CONSTANT(type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE, 262)
CONSTANT(type_ScopeInfo__SCOPE_INFO_TYPE, 261)
CONSTANT(type_Script__SCRIPT_TYPE, 167)
CONSTANT(type_Code__CODE_TYPE, 245)
CONSTANT(type_InstructionStream__INSTRUCTION_STREAM_TYPE, 252)
CONSTANT(type_BytecodeArray__BYTECODE_ARRAY_TYPE, 191)
CONSTANT(class_SharedFunctionInfo__name_or_scope_info__Tagged_Object_, 17)
CONSTANT(class_Script__name__Object, -1)
CONSTANT(class_InstructionStream__instruction_start__uintptr_t, 16)

extern const int32_t major __asm__("_ZN2v88internal7Version6major_E");
EXPORTED const int32_t major = 11;
extern const int32_t minor __asm__("_ZN2v88internal7Version6minor_E");
EXPORTED const int32_t minor = 3;
extern const uint8_t sizes[9] __asm__("_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE");
EXPORTED const uint8_t sizes[9] = { 1, 3, 5, 1, 5, 4, 1, 9, 7 };

static void read_file(const char *path, int expected, struct runtime_file *file)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_(elf_reader_done) struct elf_reader reader;
	struct elf_exports exports;

	assert_int_equal(elf_reader_init(&reader, fd), 0);
	assert_int_equal(elf_exports_init(&exports, &reader), 0);
	assert_int_equal(v8_runtime.read_file(&exports, file), expected);
}

static void constants_are_read_under_any_of_their_names(void **state)
{
	(void)state;
	struct runtime_file file;

	read_file("/proc/self/exe", 1, &file);
	assert_int_equal(file.kind, RUNTIME_V8);
	assert_int_equal(file.version, 11 << 24 | 3 << 16);
	assert_int_equal(file.values[V8_TYPE_SHARED], 262);
	assert_int_equal(file.values[V8_SHARED_NAME], 17);
	assert_int_equal(file.values[V8_CODE_HEADER], 16);
}

static void missing_constants_have_the_value_of_their_version(void **state)
{
	(void)state;
	struct runtime_file file;

	read_file("/proc/self/exe", 1, &file);
	assert_int_equal(file.values[V8_BYTECODE_POSITIONS], 32);
	assert_int_equal(file.values[V8_CODE_FLAGS], 48);
	assert_int_equal(file.values[V8_SCRIPT_NAME], 16); /* -1 is no offset */
	assert_int_equal(file.values[V8_TYPE_WRAPPER], 0);
}

static void sizes_of_bytecodes_are_read(void **state)
{
	(void)state;
	struct runtime_file file;

	read_file("/proc/self/exe", 1, &file);
	const uint8_t *read = (const uint8_t *)&file.values[V8_BYTECODE_SIZES];
	assert_int_equal(file.values[V8_NR_BYTECODES], 3);
	assert_int_equal(read[0], 0x01);
	assert_int_equal(read[1], 0x23);
	assert_int_equal(read[2], 0); /* smaller when it is wide: damaged */
}

static void other_files_are_no_v8(void **state)
{
	(void)state;
	struct runtime_file file;

	read_file("/bin/sh", 0, &file);
}

static void a_process_gets_the_layout_of_its_file(void **state)
{
	(void)state;
	struct process_memory memory = { .fd = -1 };
	struct runtime_found found;
	struct runtime_file file;

	read_file("/proc/self/exe", 1, &file);
	assert_int_equal(v8_runtime.inspect(&memory, &file, 0, &found), 0);
	assert_int_equal(found.state, RUNTIME_READY);
	assert_string_equal(found.reason, "");
	assert_false(found.is_shared);
	assert_int_equal(found.process.kind, RUNTIME_V8);
	assert_int_equal(found.layout.v8.kind, RUNTIME_V8);
	assert_int_equal(found.layout.v8.shared_type, 262);
	assert_int_equal(found.layout.v8.function_shared, 24);
	assert_memory_equal(found.naming, file.values, V8_NR_VALUES * sizeof(*file.values));
}

static void what_cannot_be_read_is_not_supported(void **state)
{
	(void)state;
	static const struct {
		enum v8_value value;
		uint64_t number;
		const char *reason;
	} cases[] = {
		{ V8_TAGGED_BYTES, 4, "V8 with compressed pointers and constants for debuggers" },
		{ V8_TYPE_SHARED, 0, "V8 without the constants for debuggers" },
		{ V8_TYPE_BYTECODE, 0, "V8 without the constants for debuggers" },
	};
	struct process_memory memory = { .fd = -1 };

	for (size_t i = 0; i < array_len(cases); i++) {
		struct runtime_found found;
		struct runtime_file file;

		read_file("/proc/self/exe", 1, &file);
		file.values[cases[i].value] = cases[i].number;
		assert_int_equal(v8_runtime.inspect(&memory, &file, 0, &found), 0);
		assert_int_equal(found.state, RUNTIME_UNSUPPORTED);
		assert_string_equal(found.reason, cases[i].reason);
		/* Its frames can be recognized, but not named. */
		assert_int_equal(found.is_marked, cases[i].value == V8_TAGGED_BYTES);
		assert_int_equal(found.layout.v8.is_marked, found.is_marked);
	}
}

static void unknown_types_are_told(void **state)
{
	(void)state;
	struct process_memory memory = { .fd = -1 };
	struct runtime_found found;
	struct runtime_file file;

	read_file("/proc/self/exe", 1, &file);
	file.values[V8_TYPE_SHARED] = V8_UNKNOWN_TYPE;
	assert_int_equal(v8_runtime.inspect(&memory, &file, 0, &found), 0);
	assert_int_equal(found.state, RUNTIME_READY);
	assert_string_equal(found.reason, "no constants for debuggers: read like V8 14.6");
	assert_int_equal(found.layout.v8.shared_type, V8_UNKNOWN_TYPE);
}

static void compressed_pointers_without_constants_are_read(void **state)
{
	(void)state;
	struct process_memory memory = { .fd = -1 };
	struct runtime_found found;
	struct runtime_file file;

	read_file("/proc/self/exe", 1, &file);
	file.values[V8_TYPE_SHARED] = V8_UNKNOWN_TYPE;
	file.values[V8_TAGGED_BYTES] = 4;
	file.values[V8_TRUSTED_CAGE] = 592;
	file.values[V8_EXPOSED_HEAD] = 8;
	assert_int_equal(v8_runtime.inspect(&memory, &file, 0, &found), 0);
	assert_int_equal(found.state, RUNTIME_READY);
	assert_false(found.is_marked);
	assert_false(found.layout.v8.is_marked);
	assert_true(found.layout.v8.is_compressed);
	assert_int_equal(found.layout.v8.map_type, 8);
	assert_int_equal(found.layout.v8.trusted_cage, 592);
	assert_int_equal(found.layout.v8.bytecode_length, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constants_are_read_under_any_of_their_names),
		cmocka_unit_test(missing_constants_have_the_value_of_their_version),
		cmocka_unit_test(sizes_of_bytecodes_are_read),
		cmocka_unit_test(other_files_are_no_v8),
		cmocka_unit_test(a_process_gets_the_layout_of_its_file),
		cmocka_unit_test(what_cannot_be_read_is_not_supported),
		cmocka_unit_test(unknown_types_are_told),
		cmocka_unit_test(compressed_pointers_without_constants_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

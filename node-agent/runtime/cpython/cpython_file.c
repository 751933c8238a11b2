/* SPDX-License-Identifier: Apache-2.0 */
/* All builds export _PyRuntime. From 3.11 on, they also export Py_Version. For older builds, the
 * version is found by the functions of the C API: each minor version has added some, and all builds
 * export them, because extension modules call them. Offsets of fields come from the file as well,
 * because a process could have changed the copy in its memory. */
#include "runtime/cpython/cpython_file.h"

#include "base/cleanup.h"
#include "runtime/cpython/cpython_cold.h"
#include "runtime/cpython/cpython_debug_offsets.h"
#include "runtime/cpython/cpython_eval_code.h"
#include "runtime/cpython/cpython_values.h"
#include "runtime/cpython/cpython_versions.h"

#include <string.h>

#define FIRST_WITH_DEBUG_OFFSETS CPYTHON_VERSION(3, 13)
#define LAST_BY_CODE 10 /* minor version */
#define VERSION_BITS 0xffffff00u /* of Py_Version, without the release level */
#define MAX_TLS_BYTES 4096

/* Functions that a minor version was the first to have, newest first. */
static const struct {
	const char *name;
	uint8_t minor;
} added[] = {
	{ "PyIter_Send", 10 },
	{ "PyFrame_GetCode", 9 },
	{ "PyCode_NewWithPosOnlyArgs", 8 },
};

static int version_by_functions(const struct elf_exports *exports, uint32_t *ret_version)
{
	struct elf_export function;

	for (size_t i = 0; i < array_len(added); i++) {
		int r = elf_exports_find(exports, added[i].name, &function);

		if (r == 0)
			*ret_version = CPYTHON_VERSION(3, added[i].minor);
		if (r != -ENOENT)
			return r;
	}
	return 0;
}

/* Leaves the version at 0 if the file has neither. */
static int read_version(const struct elf_exports *exports, uint32_t *ret_version)
{
	struct elf_export constant;
	uint32_t version;

	int r = elf_exports_find(exports, "Py_Version", &constant);
	if (r == -ENOENT)
		return version_by_functions(exports, ret_version);
	if (r == 0)
		r = elf_exports_read(exports, constant.address, &version, sizeof(version));
	if (r == 0)
		*ret_version = version & VERSION_BITS;
	return r == -ENOENT ? 0 : r;
}

static int read_debug_offsets(const struct elf_exports *exports, struct runtime_file *file)
{
	uint8_t bytes[CPYTHON_DEBUG_OFFSETS_BYTES];

	int r = elf_exports_read(exports, file->values[CPYTHON_RUNTIME], bytes, sizeof(bytes));
	if (r == 0)
		r = cpython_debug_offsets_decode(bytes, file);
	return r;
}

/* Leaves CPYTHON_HAS_OFFSETS at 0 if the offsets are damaged or unknown. */
static int read_offsets(const struct elf_exports *exports, struct runtime_file *file)
{
	int r = 0;

	if (file->version < FIRST_WITH_DEBUG_OFFSETS)
		cpython_versions_fill(file);
	else
		r = read_debug_offsets(exports, file);
	return r == -EBADMSG || r == -ENOENT ? 0 : r;
}

static bool is_program(const struct elf_reader *reader)
{
	for (size_t i = 0; i < reader->nr_segments; i++)
		if (reader->segments[i].p_type == PT_INTERP)
			return true;
	return false;
}

static uint64_t count_tls_bytes(const struct elf_reader *reader)
{
	for (size_t i = 0; i < reader->nr_segments; i++)
		if (reader->segments[i].p_type == PT_TLS)
			return reader->segments[i].p_memsz < MAX_TLS_BYTES
				       ? reader->segments[i].p_memsz
				       : MAX_TLS_BYTES;
	return 0;
}

/* Returns the offset in the file of an address, or 0. */
static uint64_t offset_of(const struct elf_reader *reader, uint64_t address)
{
	for (size_t i = 0; i < reader->nr_segments; i++) {
		const GElf_Phdr *segment = &reader->segments[i];

		if (segment->p_type == PT_LOAD && address - segment->p_vaddr < segment->p_filesz)
			return segment->p_offset + (address - segment->p_vaddr);
	}
	return 0;
}

/* Sets the range of the loop in the file, and of the part of it that the compiler has moved
 * away. */
static int read_eval_ranges(const struct elf_exports *exports, const struct elf_export *eval,
			    struct runtime_file *file)
{
	struct elf_export cold = { 0 };

	int r = cpython_cold_find(exports, eval, &cold);
	if (r < 0 && r != -ENOENT)
		return r;
	file->values[CPYTHON_EVAL_START] = offset_of(exports->reader, eval->address);
	file->values[CPYTHON_EVAL_END] = file->values[CPYTHON_EVAL_START] + eval->size;
	if (r == 0) {
		file->values[CPYTHON_EVAL_COLD_START] = offset_of(exports->reader, cold.address);
		file->values[CPYTHON_EVAL_COLD_END] = file->values[CPYTHON_EVAL_COLD_START] +
						      cold.size;
	}
	return 0;
}

static int read_eval(const struct elf_exports *exports, struct runtime_file *file)
{
	struct elf_export function;

	int r = elf_exports_find(exports, "_PyEval_EvalFrameDefault", &function);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (CPYTHON_MINOR(file->version) <= LAST_BY_CODE)
		return read_eval_ranges(exports, &function, file);
	if (file->version < CPYTHON_VERSION(3, 14))
		return 0;
	r = cpython_eval_code_has_tail_calls(exports, &function);
	if (r >= 0)
		file->values[CPYTHON_TAIL_CALLS] = (uint64_t)r;
	return r < 0 ? r : 0;
}

/* PyGILState_GetThisThreadState() of 3.15 returns a thread-local variable. */
static int read_gilstate(const struct elf_exports *exports, struct runtime_file *file)
{
	struct elf_export function;
	int32_t place = 0;

	if (file->version < CPYTHON_VERSION(3, 15))
		return 0;
	int r = elf_exports_find(exports, "PyGILState_GetThisThreadState", &function);
	if (r == 0)
		r = cpython_eval_code_thread_local(exports, &function, &place);
	if (r == 0)
		file->values[CPYTHON_GILSTATE_PLACE] = (uint32_t)place;
	return r == -ENOENT ? 0 : r;
}

int cpython_file_read(struct elf_exports *exports, struct runtime_file *ret_file)
{
	struct runtime_file file = { .kind = RUNTIME_CPYTHON };
	struct elf_export runtime;

	int r = elf_exports_find(exports, "_PyRuntime", &runtime);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	file.values[CPYTHON_RUNTIME] = runtime.address;
	file.values[CPYTHON_IS_PROGRAM] = is_program(exports->reader);
	file.values[CPYTHON_TLS_BYTES] = count_tls_bytes(exports->reader);
	r = read_version(exports, &file.version);
	if (r == 0)
		r = read_offsets(exports, &file);
	if (r == 0)
		r = read_eval(exports, &file);
	if (r == 0)
		r = read_gilstate(exports, &file);
	if (r < 0)
		return r;
	*ret_file = file;
	return 1;
}

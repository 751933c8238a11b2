/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_file.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "runtime/v8/v8_builtins.h"
#include "runtime/v8/v8_bytecodes.h"
#include "runtime/v8/v8_embedded.h"
#include "runtime/v8/v8_positions.h"
#include "runtime/v8/v8_values.h"
#include "runtime/v8/v8_version.h"

#include <stdbool.h>

#define PREFIX "v8dbg_"
#define MAX_NAME_BYTES 128
#define MAX_NAMES 3
#define VERSION(major, minor) ((major) << V8_MAJOR_SHIFT | (uint32_t)(minor) << 16)
#define MAX_CONSTANT UINT16_MAX /* a larger number is no offset and no type */
#define FIRST_SHIFTED VERSION(14, 0) /* 14.6 and 14.7 were tried, and 13.6 */
#define FIRST_SHIFTED_3 VERSION(14, 9) /* 15.0 was tried; 14.7 is not so */
#define LAST_MAJOR_WITH_RECEIVER 9
#define LAST_MAJOR_WITH_BASELINE_10 13 /* as CodeKind::BASELINE; 13.6 was tried */
#define FIRST_LENGTHS VERSION(15, 0) /* of arrays that are no small integers */
#define FIRST_MAGLEV VERSION(13, 6) /* whose deoptimization data are known */
#define FIRST_PACKED VERSION(14, 7) /* TurboFan's tables of calls; 15.0 was tried */

/* V8 12 has objects in a trusted space, among them BytecodeArray and Code; 12.4 was tried first. */
#define TRUSTED_SPACE "class_BytecodeArray__wrapper__Tagged_BytecodeWrapper_"

/* The layouts of objects. */
enum layout {
	LAYOUT_PLAIN,
	LAYOUT_TRUSTED, /* with a trusted space */
	LAYOUT_COMPRESSED, /* the same with compressed pointers, as in V8 14.4 and 15.8 */
	LAYOUT_CAGED, /* and with a trusted cage: objects have handles, and Code has no address */
	NR_LAYOUTS,
};

/* A constant, under the names that it has in one version or another, and its value where it is
 * missing. */
struct constant {
	enum v8_value value;
	const char *names[MAX_NAMES];
	uint16_t fallback[NR_LAYOUTS];
};

static const struct constant constants[] = {
	{ V8_TAGGED_BYTES, { "TaggedSize" }, { 8, 8, 4, 4 } },
	{ V8_TYPE_SHARED, { "type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE" }, { 0 } },
	{ V8_TYPE_SCOPE, { "type_ScopeInfo__SCOPE_INFO_TYPE" }, { 0 } },
	{ V8_TYPE_SCRIPT, { "type_Script__SCRIPT_TYPE" }, { 0 } },
	{ V8_TYPE_CODE, { "type_Code__CODE_TYPE" }, { 0 } },
	{ V8_TYPE_STREAM, { "type_InstructionStream__INSTRUCTION_STREAM_TYPE" }, { 0 } },
	{ V8_TYPE_BYTECODE, { "type_BytecodeArray__BYTECODE_ARRAY_TYPE" }, { 0 } },
	{ V8_TYPE_INTERPRETER_DATA, { "type_InterpreterData__INTERPRETER_DATA_TYPE" }, { 0 } },
	{ V8_TYPE_BASELINE_DATA, { "type_BaselineData__BASELINE_DATA_TYPE" }, { 0 } },
	{ V8_TYPE_WRAPPER,
	  { "type_SharedFunctionInfoWrapper__SHARED_FUNCTION_INFO_WRAPPER_TYPE" },
	  { 0 } },
	{ V8_TYPE_FIXED_ARRAY, { "type_FixedArray__FIXED_ARRAY_TYPE" }, { 0 } },
	{ V8_FIRST_NONSTRING, { "FirstNonstringType" }, { 128, 128, 128, 128 } },
	{ V8_FUNCTION_SHARED,
	  { "class_JSFunction__shared__SharedFunctionInfo" },
	  { 24, 32, 16, 16 } },
	{ V8_SHARED_DATA, { "class_SharedFunctionInfo__function_data__Object" }, { 8, 8, 4, 4 } },
	{ V8_SHARED_NAME,
	  { "class_SharedFunctionInfo__name_or_scope_info__Object",
	    "class_SharedFunctionInfo__name_or_scope_info__Tagged_Object_",
	    "class_SharedFunctionInfo__name_or_scope_info__Tagged_NameOrScopeInfoT_" },
	  { 16, 24, 12, 12 } },
	{ V8_SHARED_SCRIPT,
	  { "class_SharedFunctionInfo__script_or_debug_info__HeapObject",
	    "class_SharedFunctionInfo__script__Tagged_HeapObject_",
	    "class_SharedFunctionInfo__raw_script__Tagged_Object_" },
	  { 32, 40, 20, 20 } },
	{ V8_SHARED_LENGTH, { "class_SharedFunctionInfo__length__uint16_t" }, { 40, 48, 24, 24 } },
	{ V8_SCRIPT_SOURCE, { "class_Script__source__Object" }, { 8, 8, 4, 4 } },
	{ V8_SCRIPT_NAME, { "class_Script__name__Object" }, { 16, 16, 8, 8 } },
	{ V8_SCRIPT_LINE_ENDS, { "class_Script__line_ends__Object" }, { 56, 56, 28, 28 } },
	{ V8_SCRIPT_LAZY,
	  { "class_Script__compiled_lazy_function_positions__Object" },
	  { 0, 96, 48, 48 } },
	{ V8_SCOPE_VARIABLES, { "scopeinfo_idx_first_vars" }, { 3, 5, 5, 5 } },
	{ V8_EXPOSED_HEAD, { 0 }, { 8, 8, 4, 8 } },
	{ V8_BYTECODE_DATA, { "class_BytecodeArray__data__uintptr_t" }, { 54, 64, 36, 40 } },
	{ V8_BYTECODE_POSITIONS, { 0 }, { 32, 24, 12, 16 } },
	{ V8_CODE_DEOPT, { 0 }, { 16, 8, 4, 8 } },
	{ V8_CODE_POSITIONS, { 0 }, { 24, 16, 8, 12 } },
	{ V8_CODE_START, { "class_Code__instruction_start__Address" }, { 40, 40, 20, 0 } },
	{ V8_CODE_STREAM, { 0 }, { 0, 0, 16, 20 } },
	{ V8_CODE_SIZE, { "class_Code__instruction_size__int" }, { 56, 56, 36, 32 } },
	{ V8_CODE_FLAGS, { "class_Code__flags__uint32_t" }, { 48, 52, 32, 28 } },
	{ V8_CODE_HEADER,
	  { "class_InstructionStream__instruction_start__uintptr_t",
	    "class_Code__instruction_start__uintptr_t" },
	  { 96, 32, 16, 16 } },
	{ V8_CODE_KIND_MASK, { "CodeKindFieldMask" }, { 15, 15, 15, 15 } },
	{ V8_CODE_KIND_BASELINE, { "CodeKindBaseline" }, { 11, 11, 11, 11 } },
	{ V8_DEOPT_LITERALS, { "DeoptimizationDataLiteralArrayIndex" }, { 2, 3, 3, 3 } },
	{ V8_DEOPT_SHARED,
	  { "DeoptimizationDataSharedFunctionInfoIndex",
	    "DeoptimizationDataWrappedSharedFunctionInfoIndex" },
	  { 6, 7, 7, 7 } },
	{ V8_DEOPT_INLINING, { "DeoptimizationDataInliningPositionsIndex" }, { 7, 8, 8, 8 } },
};

/* Returns 1 if there is such a symbol, whose number it sets. */
static int read_number(const struct elf_exports *exports, const char *name, int32_t *ret_number)
{
	struct elf_export found;

	int r = elf_exports_find(exports, name, &found);
	if (r == 0)
		r = elf_exports_read(exports, found.address, ret_number, sizeof(*ret_number));
	if (r == -ENOENT)
		return 0;
	return r < 0 ? r : 1;
}

static int read_constant(const struct elf_exports *exports, const char *name, int32_t *ret_number)
{
	_cleanup_(strbuf_done) struct strbuf symbol = strbuf_with_max(MAX_NAME_BYTES);

	strbuf_appendf(&symbol, PREFIX "%s", name);
	int r = strbuf_error(&symbol);
	return r < 0 ? r : read_number(exports, strbuf_str(&symbol), ret_number);
}

static int set_value(const struct elf_exports *exports, const struct constant *constant,
		     enum layout layout, struct runtime_file *file)
{
	int32_t number = 0;

	file->values[constant->value] = constant->fallback[layout];
	for (size_t i = 0; i < MAX_NAMES && constant->names[i]; i++) {
		int r = read_constant(exports, constant->names[i], &number);

		if (r < 0)
			return r;
		if (r == 0 || number < 0 || number > MAX_CONSTANT)
			continue;
		file->values[constant->value] = (uint64_t)number;
		return 0;
	}
	return 0;
}

static int read_constants(const struct elf_exports *exports, struct runtime_file *file)
{
	int32_t number;

	int r = read_constant(exports, TRUSTED_SPACE, &number);
	enum layout layout = r > 0 ? LAYOUT_TRUSTED : LAYOUT_PLAIN;
	for (size_t i = 0; i < array_len(constants) && r >= 0; i++)
		r = set_value(exports, &constants[i], layout, file);
	return r < 0 ? r : 0;
}

/* Types of objects have other numbers in each version. */
static const enum v8_value types[] = {
	V8_TYPE_SHARED, V8_TYPE_SCOPE,	  V8_TYPE_SCRIPT,	    V8_TYPE_CODE,
	V8_TYPE_STREAM, V8_TYPE_BYTECODE, V8_TYPE_INTERPRETER_DATA, V8_TYPE_WRAPPER,
};

static enum layout layout_of(const struct v8_embedded *embedded)
{
	if (!embedded->is_compressed)
		return LAYOUT_TRUSTED;
	return embedded->trusted_cage != 0 ? LAYOUT_CAGED : LAYOUT_COMPRESSED;
}

/* Sets the values of a file without constants, if it has a V8: those of the newest version that is
 * known. Returns 1 if it has one. */
static int read_unexported(struct elf_exports *exports, struct runtime_file *file)
{
	struct v8_embedded embedded;

	int r = v8_embedded_find(exports->reader, &embedded);
	if (r == 0)
		r = v8_version_exported(exports, &file->version);
	if (r == 0 && file->version == 0)
		r = v8_version_in_data(exports->reader, &file->version);
	for (size_t i = 0; i < array_len(constants) && r == 0; i++)
		r = set_value(exports, &constants[i], layout_of(&embedded), file);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	for (size_t i = 0; i < array_len(types); i++)
		file->values[types[i]] = V8_UNKNOWN_TYPE;
	file->values[V8_TRUSTED_CAGE] = embedded.trusted_cage;
	if (file->version != 0 && file->version >> V8_MAJOR_SHIFT <= LAST_MAJOR_WITH_BASELINE_10)
		file->values[V8_CODE_KIND_BASELINE] = 10;
	file->values[V8_BUILTINS_START] = embedded.start;
	file->values[V8_BUILTINS_END] = embedded.end;
	r = v8_bytecodes_in_data(exports->reader, file);
	return r < 0 ? r : 1;
}

/* The same of a file with constants. */
static int read_exported(const struct elf_exports *exports, struct runtime_file *file)
{
	int r = v8_version_exported(exports, &file->version);
	if (r == 0)
		r = read_constants(exports, file);
	if (r == 0)
		r = v8_bytecodes_read(exports, file);
	if (r == 0)
		r = v8_builtins_find(exports, file);
	return r < 0 ? r : 1;
}

/* Returns how the distances in tables of positions are written. */
static enum v8_distances distances_of(uint32_t version)
{
	if (version < FIRST_SHIFTED)
		return V8_DISTANCES_SIGNED;
	return version < FIRST_SHIFTED_3 ? V8_DISTANCES_SHIFTED : V8_DISTANCES_SHIFTED_3;
}

/* Sets what the version tells; that of the newest one if it is not known. */
static void set_by_version(struct runtime_file *file)
{
	uint32_t version = file->version != 0 ? file->version : UINT32_MAX;

	file->values[V8_POSITION_DISTANCES] = distances_of(version);
	file->values[V8_SMI_LENGTHS] = version < FIRST_LENGTHS;
	file->values[V8_SCOPE_HAS_RECEIVER] = version >> V8_MAJOR_SHIFT <= LAST_MAJOR_WITH_RECEIVER;
	/* The kinds are the next ones. */
	if (version >= FIRST_MAGLEV)
		file->values[V8_CODE_KIND_MAGLEV] = file->values[V8_CODE_KIND_BASELINE] + 1;
	if (version >= FIRST_PACKED)
		file->values[V8_CODE_KIND_TURBOFAN] = file->values[V8_CODE_KIND_BASELINE] + 2;
}

int v8_file_read(struct elf_exports *exports, struct runtime_file *ret_file)
{
	struct runtime_file file = { .kind = RUNTIME_V8 };
	int32_t number = 0;

	int r = read_constant(exports, "HeapObjectTag", &number);
	bool is_exported = r > 0 && number == V8_OBJECT_TAG;
	if (r >= 0)
		r = is_exported ? read_exported(exports, &file) : read_unexported(exports, &file);
	if (r <= 0)
		return r;
	set_by_version(&file);
	*ret_file = file;
	return 1;
}

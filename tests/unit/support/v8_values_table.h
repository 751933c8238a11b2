/* SPDX-License-Identifier: Apache-2.0 */
/* Values (enum v8_value) of made-up versions of V8. */
#ifndef TESTS_UNIT_V8_VALUES_TABLE_H
#define TESTS_UNIT_V8_VALUES_TABLE_H

#include "bpf/shared/runtime_v8.h"
#include "runtime/v8/v8_values.h"

#include <stdint.h>
#include <string.h>

/* The layouts that differ: instructions that follow their Code, an InstructionStream, a ScopeInfo
 * with its positions at its start, one whose instance types are not known, that with compressed
 * pointers, and one with a trusted cage. */
enum v8_memory_layout {
	V8_MEMORY_9,
	V8_MEMORY_12,
	V8_MEMORY_13,
	V8_MEMORY_15,
	V8_MEMORY_COMPRESSED,
	V8_MEMORY_CAGED,
	V8_MEMORY_NR_LAYOUTS,
};

static const uint64_t v8_common_values[V8_NR_VALUES] = {
	[V8_TAGGED_BYTES] = 8,
	[V8_TYPE_SHARED] = 0x100,
	[V8_TYPE_SCOPE] = 0x101,
	[V8_TYPE_SCRIPT] = 0x102,
	[V8_TYPE_CODE] = 0x103,
	[V8_TYPE_BYTECODE] = 0x105,
	[V8_TYPE_INTERPRETER_DATA] = 0x106,
	[V8_TYPE_FIXED_ARRAY] = 0x108,
	[V8_FIRST_NONSTRING] = 0x80,
	[V8_FUNCTION_SHARED] = 32,
	[V8_SHARED_DATA] = 8,
	[V8_SHARED_NAME] = 16,
	[V8_SHARED_SCRIPT] = 32,
	[V8_SHARED_LENGTH] = 40,
	[V8_SCRIPT_SOURCE] = 8,
	[V8_SCRIPT_NAME] = 16,
	[V8_SCRIPT_LINE_ENDS] = 56,
	[V8_SCRIPT_LAZY] = 96,
	[V8_SCOPE_VARIABLES] = 3,
	[V8_EXPOSED_HEAD] = 8,
	[V8_BYTECODE_DATA] = 54,
	[V8_BYTECODE_POSITIONS] = 32,
	[V8_CODE_DEOPT] = 16,
	[V8_CODE_POSITIONS] = 24,
	[V8_CODE_START] = 40,
	[V8_CODE_SIZE] = 40,
	[V8_CODE_FLAGS] = 48,
	[V8_CODE_HEADER] = 96,
	[V8_CODE_KIND_MASK] = 15,
	[V8_CODE_KIND_BASELINE] = 11,
	[V8_DEOPT_LITERALS] = 2,
	[V8_DEOPT_SHARED] = 6,
	[V8_DEOPT_INLINING] = 7,
};

/* Values with compressed pointers, where they are different. */
static inline void v8_compress_values(enum v8_memory_layout layout, uint64_t *values)
{
	uint64_t handle = layout == V8_MEMORY_CAGED ? 4 : 0;

	values[V8_TAGGED_BYTES] = 4;
	values[V8_FUNCTION_SHARED] = 16;
	values[V8_SHARED_DATA] = 4;
	values[V8_SHARED_NAME] = 12;
	values[V8_SHARED_SCRIPT] = 20;
	values[V8_SHARED_LENGTH] = 24;
	values[V8_SCRIPT_SOURCE] = 4;
	values[V8_SCRIPT_NAME] = 8;
	values[V8_SCRIPT_LINE_ENDS] = 28;
	values[V8_SCRIPT_LAZY] = 48;
	values[V8_EXPOSED_HEAD] = 4 + handle;
	values[V8_BYTECODE_DATA] = 36 + handle;
	values[V8_BYTECODE_POSITIONS] = 12 + handle;
	values[V8_CODE_DEOPT] = 4 + handle;
	values[V8_CODE_POSITIONS] = 8 + handle;
	values[V8_CODE_START] = handle ? 0 : 20;
	values[V8_CODE_STREAM] = 16 + handle;
	values[V8_CODE_SIZE] = 36 - handle;
	values[V8_CODE_FLAGS] = 32 - handle;
	values[V8_CODE_HEADER] = 16;
	values[V8_TRUSTED_CAGE] = handle ? 592 : 0;
	values[V8_SMI_LENGTHS] = handle != 0;
}

/* Sets all values of a layout. */
static inline void v8_values_of(enum v8_memory_layout layout, uint64_t *values)
{
	memcpy(values, v8_common_values, sizeof(v8_common_values));
	values[V8_SCOPE_HAS_RECEIVER] = layout == V8_MEMORY_9;
	if (layout == V8_MEMORY_9)
		return;
	values[V8_TYPE_STREAM] = 0x104;
	values[V8_BYTECODE_DATA] = 64;
	values[V8_BYTECODE_POSITIONS] = 24;
	values[V8_CODE_DEOPT] = 8;
	values[V8_CODE_POSITIONS] = 16;
	values[V8_CODE_SIZE] = 52;
	values[V8_CODE_HEADER] = 32;
	if (layout == V8_MEMORY_12)
		return;
	values[V8_TYPE_WRAPPER] = 0x107;
	values[V8_CODE_KIND_MAGLEV] = 12;
	values[V8_SCOPE_VARIABLES] = 5;
	values[V8_SHARED_NAME] = 24;
	values[V8_SHARED_SCRIPT] = 40;
	values[V8_SHARED_LENGTH] = 48;
	values[V8_CODE_FLAGS] = 60;
	if (layout == V8_MEMORY_13)
		return;
	for (int type = V8_TYPE_SHARED; type <= V8_TYPE_WRAPPER; type++)
		if (type != V8_TYPE_BASELINE_DATA)
			values[type] = V8_UNKNOWN_TYPE;
	if (layout > V8_MEMORY_15)
		v8_compress_values(layout, values);
}

#endif

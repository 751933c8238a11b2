/* SPDX-License-Identifier: Apache-2.0 */
/* Read from the debug information of 3.8.18, 3.9.18, 3.10.13, 3.11.7 and 3.12.1. */
#include "runtime/cpython/cpython_versions.h"

#include "base/cleanup.h"
#include "runtime/cpython/cpython_naming.h"
#include "runtime/cpython/cpython_values.h"

#define NONE CPYTHON_NONE
#define AT(NAME) [CPYTHON_OFFSET_##NAME - CPYTHON_FIRST_OFFSET]

struct version {
	uint8_t minor;
	uint8_t chain; /* enum cpython_chain */
	uint8_t instr; /* enum cpython_instr */
	uint8_t lines; /* enum cpython_lines */
	uint8_t shim_owner;
	uint16_t offsets[CPYTHON_NR_OFFSETS];
};

/* The values that 3.8 to 3.10 have in common. */
#define OFFSETS_BY_CODE                                                                            \
	AT(INTERPRETERS) = 32, AT(INTERPRETER_NEXT) = 0, AT(THREADS) = 8, AT(THREAD_NEXT) = 8,     \
	AT(THREAD_ID) = 176, AT(CURRENT_FRAME) = 24, AT(CFRAME_PREVIOUS) = NONE,                   \
	AT(FRAME_CODE) = 32, AT(FRAME_PREVIOUS) = 24, AT(FRAME_OWNER) = NONE,                      \
	AT(FRAME_TLBC_INDEX) = NONE, AT(CODE_FILENAME) = 104, AT(CODE_NAME) = 112,                 \
	AT(CODE_QUALNAME) = NONE, AT(CODE_FIRSTLINENO) = 40, AT(CODE_LINETABLE) = 120,             \
	AT(CODE_BYTECODE) = NONE, AT(CODE_TLBC) = NONE

/* Fields that a code object has had in the same places from 3.11 on. */
#define OFFSETS_OF_CODE                                                                            \
	AT(CODE_FILENAME) = 112, AT(CODE_NAME) = 120, AT(CODE_QUALNAME) = 128,                     \
	AT(CODE_LINETABLE) = 136, AT(CODE_TLBC) = NONE

/* The fields that lead to the state of the running thread. */
#define CURRENT(INTERPRETER, RUNTIME, THREAD)                                                      \
	AT(THREAD_INTERPRETER) = INTERPRETER, AT(INTERPRETER_RUNTIME) = RUNTIME,                   \
	AT(CURRENT_THREAD) = THREAD

#define OFFSETS_OF_BYTES                                                                           \
	AT(BYTES_SIZE) = 16, AT(BYTES_DATA) = 32, AT(UNICODE_LENGTH) = 16, AT(UNICODE_STATE) = 32

#define OFFSETS_OF_TEXT AT(ASCII_DATA) = 48, AT(COMPACT_DATA) = 72, OFFSETS_OF_BYTES

static const struct version versions[] = {
	{
		.minor = 8,
		.chain = CPYTHON_CHAIN_BY_CODE,
		.instr = CPYTHON_INSTR_BYTES,
		.lines = CPYTHON_LINES_LNOTAB,
		.offsets = { OFFSETS_BY_CODE, AT(FRAME_INSTR) = 104, AT(THREAD_CFRAME) = NONE,
			     CURRENT(NONE, NONE, 1368), OFFSETS_OF_TEXT },
	},
	{
		.minor = 9,
		.chain = CPYTHON_CHAIN_BY_CODE,
		.instr = CPYTHON_INSTR_BYTES,
		.lines = CPYTHON_LINES_LNOTAB,
		.offsets = { OFFSETS_BY_CODE, AT(FRAME_INSTR) = 104, AT(THREAD_CFRAME) = NONE,
			     CURRENT(16, 16, 568), OFFSETS_OF_TEXT },
	},
	{
		.minor = 10,
		.chain = CPYTHON_CHAIN_BY_CODE,
		.instr = CPYTHON_INSTR_UNITS,
		.lines = CPYTHON_LINES_LINETABLE,
		.offsets = { OFFSETS_BY_CODE, AT(FRAME_INSTR) = 96, AT(THREAD_CFRAME) = 48,
			     CURRENT(16, 16, 568), OFFSETS_OF_TEXT },
	},
	{
		.minor = 11,
		.chain = CPYTHON_CHAIN_BY_CFRAME,
		.instr = CPYTHON_INSTR_POINTER,
		.lines = CPYTHON_LINES_LOCATIONS,
		.offsets = { AT(INTERPRETERS) = 40, AT(INTERPRETER_NEXT) = 0, AT(THREADS) = 16,
			     AT(THREAD_NEXT) = 8, AT(THREAD_ID) = 152, AT(THREAD_CFRAME) = 56,
			     AT(CURRENT_FRAME) = 8, AT(CFRAME_PREVIOUS) = 16, AT(FRAME_CODE) = 32,
			     AT(FRAME_PREVIOUS) = 48, AT(FRAME_INSTR) = 56, AT(FRAME_OWNER) = 68,
			     AT(FRAME_TLBC_INDEX) = NONE, AT(CODE_FIRSTLINENO) = 72,
			     AT(CODE_BYTECODE) = 184, OFFSETS_OF_CODE, CURRENT(16, 40, 576),
			     OFFSETS_OF_TEXT },
	},
	{
		.minor = 12,
		.chain = CPYTHON_CHAIN_BY_SHIM,
		.instr = CPYTHON_INSTR_POINTER,
		.lines = CPYTHON_LINES_LOCATIONS,
		.shim_owner = 3,
		.offsets = { AT(INTERPRETERS) = 40,	AT(INTERPRETER_NEXT) = 0,
			     AT(THREADS) = 72,		AT(THREAD_NEXT) = 8,
			     AT(THREAD_ID) = 136,	AT(THREAD_CFRAME) = 56,
			     CURRENT(NONE, NONE, NONE), AT(CURRENT_FRAME) = 0,
			     AT(CFRAME_PREVIOUS) = 8,	AT(FRAME_CODE) = 0,
			     AT(FRAME_PREVIOUS) = 8,	AT(FRAME_INSTR) = 56,
			     AT(FRAME_OWNER) = 70,	AT(FRAME_TLBC_INDEX) = NONE,
			     AT(CODE_FIRSTLINENO) = 68, AT(CODE_BYTECODE) = 192,
			     AT(ASCII_DATA) = 40,	AT(COMPACT_DATA) = 56,
			     OFFSETS_OF_CODE,		OFFSETS_OF_BYTES },
	},
};

bool cpython_versions_fill(struct runtime_file *file)
{
	if (CPYTHON_MAJOR(file->version) != 3)
		return false;
	for (size_t i = 0; i < array_len(versions); i++) {
		const struct version *version = &versions[i];

		if (version->minor != CPYTHON_MINOR(file->version))
			continue;
		file->values[CPYTHON_CHAIN] = version->chain;
		file->values[CPYTHON_INSTR] = version->instr;
		file->values[CPYTHON_LINES] = version->lines;
		file->values[CPYTHON_SHIM_OWNER] = version->shim_owner;
		for (size_t k = 0; k < CPYTHON_NR_OFFSETS; k++)
			file->values[CPYTHON_FIRST_OFFSET + k] = version->offsets[k];
		file->values[CPYTHON_HAS_OFFSETS] = 1;
		return true;
	}
	return false;
}

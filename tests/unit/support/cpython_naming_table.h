/* SPDX-License-Identifier: Apache-2.0 */
/* The layouts of the code objects of CPython's versions on 64-bit machines, as their debug
 * information says. */
#ifndef TESTS_UNIT_CPYTHON_NAMING_TABLE_H
#define TESTS_UNIT_CPYTHON_NAMING_TABLE_H

#include "runtime/cpython/cpython_naming.h"

#include <stdint.h>

#define CPYTHON_FIRST_MINOR 8
#define CPYTHON_LAST_MINOR 15
#define CPYTHON_NAMING_MAX_CODE_BYTES 216

/* Offsets that the versions since 3.12 have, and those before. */
#define NAMING_OF_STRINGS(ascii_data, compact_data)                                                \
	[CPYTHON_NAMING_UNICODE_LENGTH] = 16, [CPYTHON_NAMING_UNICODE_STATE] = 32,                 \
	[CPYTHON_NAMING_ASCII_DATA] = (ascii_data),                                                \
	[CPYTHON_NAMING_COMPACT_DATA] = (compact_data), [CPYTHON_NAMING_BYTES_SIZE] = 16,          \
	[CPYTHON_NAMING_BYTES_DATA] = 32

#define NAMING_TO_3_10(lines)                                                                      \
	{                                                                                          \
		NAMING_OF_STRINGS(48, 72),                                                         \
			[CPYTHON_NAMING_LINES] = (lines), [CPYTHON_NAMING_CHECK] = 40,             \
			[CPYTHON_NAMING_FIRSTLINENO] = 40, [CPYTHON_NAMING_CODE_BYTES] = 176,      \
			[CPYTHON_NAMING_FILENAME] = 104, [CPYTHON_NAMING_NAME] = 112,              \
			[CPYTHON_NAMING_LINETABLE] = 120                                           \
	}

#define NAMING_FROM_3_11(first_line, ascii_data, compact_data, code_bytes)                         \
	{                                                                                          \
		NAMING_OF_STRINGS(ascii_data, compact_data),                                       \
			[CPYTHON_NAMING_LINES] = CPYTHON_LINES_LOCATIONS,                          \
			[CPYTHON_NAMING_CHECK] = (first_line),                                     \
			[CPYTHON_NAMING_FIRSTLINENO] = (first_line),                               \
			[CPYTHON_NAMING_CODE_BYTES] = (code_bytes),                                \
			[CPYTHON_NAMING_FILENAME] = 112, [CPYTHON_NAMING_NAME] = 120,              \
			[CPYTHON_NAMING_QUALNAME] = 128, [CPYTHON_NAMING_LINETABLE] = 136          \
	}

/* By minor version, from 3.8 on. */
static const uint64_t cpython_naming_table[][CPYTHON_NAMING_NR] = {
	NAMING_TO_3_10(CPYTHON_LINES_LNOTAB),	 NAMING_TO_3_10(CPYTHON_LINES_LNOTAB),
	NAMING_TO_3_10(CPYTHON_LINES_LINETABLE), NAMING_FROM_3_11(72, 48, 72, 192),
	NAMING_FROM_3_11(68, 40, 56, 200),	 NAMING_FROM_3_11(68, 40, 56, 208),
	NAMING_FROM_3_11(68, 40, 56, 216),	 NAMING_FROM_3_11(68, 40, 56, 216),
};

static inline const uint64_t *cpython_naming_of(int minor)
{
	return cpython_naming_table[minor - CPYTHON_FIRST_MINOR];
}

#endif

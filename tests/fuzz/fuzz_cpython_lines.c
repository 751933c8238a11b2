/* SPDX-License-Identifier: Apache-2.0 */
/* A line table: a byte for its format, two for the first line, the table. */
#include "base/err.h"
#include "runtime/cpython/cpython_lines.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)256 << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t far[] = { 1ULL << 20, (1ULL << 39) - 1, UINT64_MAX };
	int16_t first_line;

	if (size < 3 || size > MAX_BYTES)
		return 0;
	memcpy(&first_line, data + 1, sizeof(first_line));
	const struct cpython_line_table table = {
		.format = (enum cpython_lines)(data[0] % (CPYTHON_NR_LINES + 1)),
		.first_line = first_line,
		.bytes = data + 3,
		.len = size - 3,
	};

	for (uint64_t unit = 0; unit < 256; unit++)
		if (cpython_lines_find(&table, unit) > INT32_MAX)
			abort();
	for (size_t i = 0; i < array_len(far); i++)
		if (cpython_lines_find(&table, far[i]) > INT32_MAX)
			abort();
	return 0;
}

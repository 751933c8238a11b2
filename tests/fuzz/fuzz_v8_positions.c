/* SPDX-License-Identifier: Apache-2.0 */
/* V8's tables: a byte that says how many of the others are bytecodes, these, and a table that is
 * read as one of source positions and as one of bytecode offsets. */
#include "base/err.h"
#include "runtime/v8/v8_positions.h"

#include <stdlib.h>

#define MAX_BYTES ((size_t)256 << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t sizes[] = {
		0x01, 0x01, 0x01, 0x01, 0x01, 0x12, 0x23, 0x13, 0x00, 0xff
	};
	static const uint32_t offsets[] = { 0, 1, 2, 10, 100, 1000, INT32_MAX, UINT32_MAX };

	if (size < 1 || size > MAX_BYTES || data[0] >= size)
		return 0;
	const struct v8_bytecodes bytecodes = { data + 1, data[0], sizes, sizeof(sizes) };
	const uint8_t *table = data + 1 + data[0];
	size_t len = size - 1 - data[0];
	for (size_t i = 0; i < array_len(offsets); i++) {
		struct v8_position position = v8_positions_find(
			table, len, i % 2 == 0 ? V8_DISTANCES_SIGNED : V8_DISTANCES_SHIFTED,
			offsets[i]);
		int32_t found = v8_bytecode_offset_find(table, len, &bytecodes, offsets[i]);

		if (position.offset < -1 || position.inlining < -1 || found < -1 ||
		    found >= (int32_t)bytecodes.len)
			abort();
	}
	return 0;
}

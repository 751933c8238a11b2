/* SPDX-License-Identifier: Apache-2.0 */
/* A compressed line table of HotSpot. The first byte says which numbers it has, the next two are
 * the bytecode index that is looked for. */
#include "runtime/hotspot/line_table.h"

#include <stdlib.h>

#define HEAD_BYTES 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct line_table table;
	uint32_t line = 0;

	if (size < HEAD_BYTES)
		return 0;
	table = (struct line_table){ .bytes = data + HEAD_BYTES,
				     .len = size - HEAD_BYTES,
				     .nr_excluded = data[0] & 1 };
	int r = line_table_find(&table, data[1] | data[2] << 8, &line);
	if (r == 0 ? line == 0 || line > UINT16_MAX : r != -ENOENT && r != -EBADMSG)
		abort();
	return 0;
}

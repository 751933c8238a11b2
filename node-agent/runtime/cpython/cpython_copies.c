/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cpython/cpython_copies.h"

#include "base/cleanup.h"
#include "bpf/shared/runtime.h"
#include "runtime/cpython/cpython_object.h"

#include <string.h>

#define UNIT_BYTES 2
#define MAX_UNITS ((uint64_t)1 << 30)
#define DISTANCE_MASK (UNIT_BYTES * RUNTIME_POSITION_MASK + 1) /* of two addresses */

int cpython_copies_find(struct process_memory *memory, const struct cpython_bytecode *bytecode,
			int64_t position, int64_t *ret_position)
{
	_cleanup_(strbuf_done) struct strbuf scratch = strbuf_with_max(CPYTHON_MAX_COPIES *
								       sizeof(uint64_t));
	uint64_t instruction = bytecode->address + (uint64_t)position * UNIT_BYTES;
	struct cpython_object array;
	const uint8_t *copies;
	uint64_t nr = 0, copy;

	int r = cpython_object_read(memory, bytecode->copies, CPYTHON_OBJECT_BYTES, &array);
	if (r == 0)
		r = cpython_object_field(&array, 0, &nr, sizeof(nr));
	if (r < 0)
		return r;
	if (nr > CPYTHON_MAX_COPIES || bytecode->nr_units > MAX_UNITS)
		return -ENOENT;
	r = cpython_object_part(memory, &array, sizeof(nr), nr * sizeof(copy), &scratch, &copies);
	if (r < 0)
		return r;
	for (size_t i = 0; i < nr; i++) {
		memcpy(&copy, copies + i * sizeof(copy), sizeof(copy));
		uint64_t distance = (instruction - copy) & DISTANCE_MASK;

		if (copy != 0 && distance < bytecode->nr_units * UNIT_BYTES) {
			*ret_position = (int64_t)(distance / UNIT_BYTES);
			return 0;
		}
	}
	return -ENOENT;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the offset of the test program's code in its file. */
#ifndef TESTS_UNIT_PROGRAM_OFFSET_H
#define TESTS_UNIT_PROGRAM_OFFSET_H

#include "base/cleanup.h"
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>

/* Returns the file offset behind an address of this process. Fails the test if nothing is mapped
 * there. */
static inline uint64_t program_offset(uint64_t address)
{
	char line[512];

	_cleanup_fclose_ FILE *file = fopen("/proc/self/maps", "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		uint64_t start, end, offset;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end, &offset) ==
			    3 &&
		    address >= start && address < end)
			return address - start + offset;
	}
	fail();
	return 0;
}

#endif

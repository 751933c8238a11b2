/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for the row builder: keeps the rows it is given. */
#ifndef TESTS_UNIT_ROW_RECORDER_H
#define TESTS_UNIT_ROW_RECORDER_H

#include "unwind/rows/row_builder.h"

struct recorded_row {
	uint64_t address;
	struct cfi_rule rule;
};

struct row_builder {
	struct recorded_row rows[64];
	size_t nr_rows;
	size_t max_rows; /* the next one is refused with -ENOSPC */
};

#endif

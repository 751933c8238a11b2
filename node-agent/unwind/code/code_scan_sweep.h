/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over a range of code, from its first instruction to its last one. */
#ifndef UNWIND_CODE_CODE_SCAN_SWEEP_H
#define UNWIND_CODE_CODE_SCAN_SWEEP_H

#include "unwind/code/code_scan_map.h"
#include "unwind/rows/row_builder.h"

struct scan_sweep_opts {
	uint64_t entry; /* of the program; 0: none */
	/* what is aligned behind a function's end and unknown begins a function */
	bool guesses_starts;
	struct row_builder *builder; /* NULL: rows are not needed yet */
};

/* Goes through a range once. Errors: -ENOMEM, those of row_builder_add(). */
int scan_sweep(struct scan_map *map, const struct scan_range *range,
	       const struct scan_sweep_opts *opts) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The code to scan, and what is known of the functions in it. */
#ifndef UNWIND_CODE_CODE_SCAN_INPUT_H
#define UNWIND_CODE_CODE_SCAN_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limit of the code to scan. musl has 0.4 MB, and 1 MB with busybox linked in. Files with much
 * more code and no CFI for it were built with frame pointers (Debian's Chromium: 230 MB), which
 * need no scan. */
#define CODE_SCAN_MAX_BYTES ((size_t)4 << 20)

struct scan_code {
	const uint8_t *bytes; /* borrowed; outlive the source */
	size_t len;
	uint64_t address; /* virtual */
};

struct scan_start {
	uint64_t address;
	bool is_likely; /* it may also be a part of a function that is elsewhere */
};

struct code_scan_input {
	const struct scan_code *codes; /* ascending, without overlaps; borrowed for the call */
	size_t nr_codes;
	const struct scan_start *starts; /* of functions that are known, in any order; likewise */
	size_t nr_starts;
	uint64_t entry; /* of a program; 0: none */
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Row tables of a few instructions. */
#ifndef TESTS_UNIT_CODE_SCAN_FIXTURE_H
#define TESTS_UNIT_CODE_SCAN_FIXTURE_H

#include "unwind/code/code_scan.h"
#include "unwind/rows/row_table.h"

#define SCAN_ADDRESS 0x401000 /* of the code, which is at the beginning of its file */

struct code {
	const char *bytes;
	size_t len;
	const struct scan_start *starts;
	size_t nr_starts;
	uint64_t entry;
};

/* Errors: those of the source and of row_builder.h. */
int scan_build(const struct code *code, struct row_table_bytes *ret_table) must_check;

/* The same where nothing goes wrong. */
void scan_code(const struct code *code, struct row_table_bytes *ret_table);

struct cfi_rule scan_rule_at(const struct row_table_bytes *table, uint64_t offset);

#endif

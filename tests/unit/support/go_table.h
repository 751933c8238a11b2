/* SPDX-License-Identifier: Apache-2.0 */
/* Makes Go's function tables, in all formats there are, and keeps the rows that come of them. */
#ifndef TESTS_UNIT_GO_TABLE_H
#define TESTS_UNIT_GO_TABLE_H

#include "unwind/go/gopclntab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GO_TEXT 0x401000
#define GO_TABLE_MAX_BYTES 4096
#define GO_MAX_ROWS 64

#define GO_TEST_TOP_FRAME 1
#define GO_TEST_WRITES_SP 2

/* A function that goes into a table. */
struct go_function {
	uint32_t start; /* behind GO_TEXT */
	const char *name;
	uint8_t flags;
	const char *pcsp; /* bytes; NULL: none */
};

struct go_table {
	uint8_t data[GO_TABLE_MAX_BYTES];
	size_t len;
};

struct go_layout {
	uint32_t magic;
	size_t header_words; /* 0: all in one piece */
	bool has_offsets;
	size_t cu_and_line_bytes; /* between npcdata and the function's id */
};

#define GO_NR_LAYOUTS 4
extern const struct go_layout go_layouts[GO_NR_LAYOUTS];
#define GO_NEWEST (&go_layouts[GO_NR_LAYOUTS - 1])

struct go_row {
	uint64_t address;
	struct cfi_rule rule;
};

/* The rows of the source before they are merged, and the result that the source gets for each
 * row. */
extern struct go_row go_rows[GO_MAX_ROWS];
extern size_t go_nr_rows;
extern int go_add_result;

void go_table_make(struct go_table *table, const struct go_layout *layout,
		   const struct go_function *functions, size_t nr);

/* Of a table that is a good one. */
struct unwind_source *go_table_open(const struct go_table *table);
struct gopclntab_section go_table_section(const struct go_table *table);

/* Lists the functions and gives the rows of all. */
struct unwind_losses go_table_read(const struct go_table *table,
				   struct unwind_functions *functions);

/* The rows of a table of one function. */
struct unwind_losses go_table_read_one(const struct go_layout *layout,
				       const struct go_function *function);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the bytes of Go's function table: header, functions, and the tables of stack pointer
 * distances.
 *
 *	header     magic, quantum, size of pointers, number of functions, offsets of the other parts
 *	functab    start and record offset of each function, in ascending order; then the end of the last
 *	record     name, pcsp, …, flags
 *	pctab      tables of (value, length) in variable-length numbers; pcsp is one of them */
#ifndef ELF_GOPCLNTAB_TABLE_H
#define ELF_GOPCLNTAB_TABLE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gopclntab_section {
	const uint8_t *data; /* borrowed; outlives the source */
	size_t len;
	/* Address of runtime.text, which is the beginning of .text. Since Go 1.26 the table itself
	 * does not have it. */
	uint64_t text_address;
};

/* Go's abi.FuncFlag. */
#define GO_TOP_FRAME 1
#define GO_WRITES_SP 2

#define GO_MAX_NAME_BYTES 4096 /* with the NUL; longer names are ignored */

struct gopclntab_table {
	const uint8_t *data; /* borrowed */
	size_t len;
	uint64_t text_address; /* starts are relative to it; 0 if they are addresses */
	size_t nr_functions;
	size_t functab_offset; /* from `data`, like the next three */
	size_t records_offset;
	size_t pctab_offset;
	size_t names_offset;
	size_t field_bytes; /* size of the numbers in functab: 4 or 8 */
	size_t flag_offset; /* in a record; 0: records have no flags */
};

struct gopclntab_function {
	uint64_t start;
	uint64_t end; /* start of the next function; padding is included */
	uint32_t pcsp; /* offset in pctab; 0: none */
	uint8_t flags; /* GO_… */
	const char *name; /* borrowed, NUL-terminated; "" if it is damaged or too long */
};

/* Walks through a pcsp table. */
struct gopclntab_steps {
	const uint8_t *pos;
	const uint8_t *end;
	uint64_t address; /* end of the last step */
	int32_t value;
	bool is_started;
};

/* Finds the parts of a table. Errors: -EBADMSG. */
int gopclntab_table_init(struct gopclntab_table *table, const struct gopclntab_section *section)
	must_check;

/* Reads a function; `index` is below nr_functions. Errors: -EBADMSG. */
int gopclntab_table_get(const struct gopclntab_table *table, size_t index,
			struct gopclntab_function *ret_function) must_check;

/* Starts at the beginning of a function. */
void gopclntab_steps_init(struct gopclntab_steps *steps, const struct gopclntab_table *table,
			  const struct gopclntab_function *function);

/* Reads the next step: from *ret_address on, the stack pointer is *ret_value below its value at the
 * function's entry. Returns 1, or 0 at the end of the table. Errors: -EBADMSG. */
int gopclntab_steps_next(struct gopclntab_steps *steps, uint64_t *ret_address, int32_t *ret_value)
	must_check;

#endif

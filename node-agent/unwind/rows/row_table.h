/* SPDX-License-Identifier: Apache-2.0 */
/* Row tables as bytes (struct row_table in bpf/shared/cfi.h). */
#ifndef UNWIND_ROWS_ROW_TABLE_H
#define UNWIND_ROWS_ROW_TABLE_H

#include "base/cleanup.h"
#include "base/err.h"
#include "bpf/shared/cfi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* A table in one piece: it begins with a struct row_table. */
struct row_table_bytes {
	uint8_t *data; /* owned, malloc(3) */
	size_t len;
};

static inline void row_table_bytes_done(struct row_table_bytes *table)
{
	free(table->data);
	*table = (struct row_table_bytes){ 0 };
}

/* Returns whether all offsets and numbers of a table are as the contract says, so that no reader
 * of it leaves it. For tables that do not come from row_builder_seal(). `data` is aligned to 16. */
bool row_table_is_valid(const void *data, size_t len);

#endif

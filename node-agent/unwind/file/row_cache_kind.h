/* SPDX-License-Identifier: Apache-2.0 */
/* What a row cache keeps, and how its files are known. */
#ifndef UNWIND_FILE_ROW_CACHE_KIND_H
#define UNWIND_FILE_ROW_CACHE_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Constant for as long as the cache. */
struct row_cache_kind {
	const char *suffix; /* of names of files, behind which the version follows */
	uint64_t magic; /* at the beginning of each file */
	uint32_t version; /* goes up whenever the same input would give another table */
	/* Looks at the bytes of a table, aligned as by malloc(3). */
	bool (*is_valid)(const void *bytes, size_t len);
};

#endif

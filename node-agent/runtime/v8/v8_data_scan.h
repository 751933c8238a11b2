/* SPDX-License-Identifier: Apache-2.0 */
/* Goes through the read-only data of a file, which are its constants and texts. */
#ifndef RUNTIME_V8_V8_DATA_SCAN_H
#define RUNTIME_V8_V8_DATA_SCAN_H

#include "base/err.h"
#include "elf/elf_reader.h"

#include <stddef.h>
#include <stdint.h>

#define V8_DATA_CHUNK_BYTES ((size_t)256 << 10)
#define V8_DATA_OVERLAP 64

/* Part of a section. All but V8_DATA_OVERLAP of the bytes are new; the last part has them too. */
struct v8_data_chunk {
	const uint8_t *bytes; /* borrowed; aligned to 8 bytes */
	size_t len; /* up to V8_DATA_CHUNK_BYTES + V8_DATA_OVERLAP */
	uint64_t offset; /* in the file; a multiple of 4 */
	uint64_t end; /* of the section */
};

/* Calls `take` for each chunk, until it returns another value than 0, and returns that value.
 * Errors: -ENOMEM, those of elf_reader_read(). */
int v8_data_scan(const struct elf_reader *reader,
		 int (*take)(const struct v8_data_chunk *chunk, void *data), void *data) must_check;

/* Reads from an offset of the file on, up to `end` or the end of the file. Returns the number of
 * bytes, at most `max`. Errors: those of elf_reader_read(). */
int64_t v8_data_read(const struct elf_reader *reader, uint64_t offset, uint64_t end, void *to,
		     size_t max) must_check;

#endif

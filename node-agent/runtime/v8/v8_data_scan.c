/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_data_scan.h"

#include "base/cleanup.h"
#include "base/minmax.h"

#include <stdbool.h>
#include <stdlib.h>

#define MAX_BYTES (512ULL << 20) /* of all sections */
#define ALIGNMENT 4

int64_t v8_data_read(const struct elf_reader *reader, uint64_t offset, uint64_t end, void *to,
		     size_t max)
{
	uint64_t limit = min_u64(end, reader->size);
	size_t len = offset < limit ? (size_t)min_u64(limit - offset, max) : 0;
	int r = len > 0 ? elf_reader_read(reader, offset, to, len) : 0;

	return r < 0 ? r : (int64_t)len;
}

static bool is_read_only_data(const GElf_Shdr *section)
{
	return section->sh_type == SHT_PROGBITS && section->sh_offset % ALIGNMENT == 0 &&
	       (section->sh_flags & (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR)) == SHF_ALLOC;
}

int v8_data_scan(const struct elf_reader *reader,
		 int (*take)(const struct v8_data_chunk *chunk, void *data), void *data)
{
	_cleanup_free_ uint8_t *bytes = malloc(V8_DATA_CHUNK_BYTES + V8_DATA_OVERLAP);
	uint64_t nr_left = MAX_BYTES;
	int r = bytes ? 0 : -ENOMEM;

	for (size_t i = 0; i < reader->nr_sections && r == 0; i++) {
		const GElf_Shdr *section = &reader->sections[i];
		uint64_t start = section->sh_offset;
		uint64_t end = start + min_u64(section->sh_size, nr_left);

		if (!is_read_only_data(section) || start > reader->size)
			continue;
		nr_left -= end - start;
		for (uint64_t at = start; at < end && r == 0; at += V8_DATA_CHUNK_BYTES) {
			int64_t len = v8_data_read(reader, at, end, bytes,
						   V8_DATA_CHUNK_BYTES + V8_DATA_OVERLAP);
			const struct v8_data_chunk chunk = { bytes, (size_t)len, at, end };

			r = len < 0 ? (int)len : take(&chunk, data);
		}
	}
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Exported symbols of an ELF file, or of the pieces of one (sparse_input.h), and what they stand
 * for. */
#include "base/cleanup.h"
#include "elf/elf_exports.h"
#include "sparse_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const wanted[] = { "_PyRuntime", "qsort", "gHotSpotVMStructs", "" };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(elf_reader_done) struct elf_reader reader = { .fd = -EBADF };
	_cleanup_close_ int fd = sparse_input_open(data, size);
	struct elf_exports exports;
	struct elf_export export;
	char bytes[64];

	if (fd < 0 || elf_reader_init(&reader, fd) < 0 || elf_exports_init(&exports, &reader) < 0)
		return 0;
	for (size_t i = 0; i < array_len(wanted); i++)
		if (elf_exports_find(&exports, wanted[i], &export) == 0 &&
		    elf_exports_read(&exports, export.address, bytes, sizeof(bytes)) < 0)
			continue;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an ELF file, or the pieces of one (sparse_input.h), as a CPython: versions, debug
 * offsets, code. */
#include "base/cleanup.h"
#include "runtime/cpython/cpython_file.h"
#include "runtime/cpython/cpython_values.h"
#include "sparse_input.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct runtime_file *file)
{
	if (file->kind != RUNTIME_CPYTHON)
		abort();
	if (!file->values[CPYTHON_HAS_OFFSETS])
		return;
	for (size_t i = CPYTHON_FIRST_OFFSET; i < CPYTHON_NR_VALUES; i++)
		if (file->values[i] > CPYTHON_NONE)
			abort();
	if (CPYTHON_MAJOR(file->version) == 3 && CPYTHON_MINOR(file->version) < 8)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(elf_reader_done) struct elf_reader reader = { .fd = -EBADF };
	_cleanup_close_ int fd = sparse_input_open(data, size);
	struct elf_exports exports;
	struct runtime_file file;

	if (fd < 0 || elf_reader_init(&reader, fd) < 0 || elf_exports_init(&exports, &reader) < 0)
		return 0;
	if (cpython_file_read(&exports, &file) > 0)
		check(&file);
	return 0;
}

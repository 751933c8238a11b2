/* SPDX-License-Identifier: Apache-2.0 */
/* Probes and functions of allocations in an ELF file, or in the pieces of one (sparse_input.h). */
#include "base/cleanup.h"
#include "elf/elf_allocators.h"
#include "elf/elf_probes.h"
#include "sparse_input.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(elf_reader_done) struct elf_reader reader = { .fd = -EBADF };
	_cleanup_close_ int fd = sparse_input_open(data, size);
	struct heap_probes probes = { 0 };

	if (fd < 0 || elf_reader_init(&reader, fd) < 0)
		return 0;
	if (elf_probes_find(&reader, &probes) < 0)
		probes.nr = 0;
	if (elf_allocators_find(&reader, &probes) < 0)
		return 0;
	if (probes.nr > HEAP_MAX_PROBES)
		abort();
	for (size_t i = 0; i < probes.nr; i++)
		if (probes.of[i].offset >= reader.size || probes.of[i].semaphore >= reader.size ||
		    probes.of[i].kind >= HEAP_NR_PROBE_KINDS)
			abort();
	return 0;
}

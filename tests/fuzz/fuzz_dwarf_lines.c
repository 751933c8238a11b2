/* SPDX-License-Identifier: Apache-2.0 */
/* A whole ELF file with debug information. Reports of libdw's own memory errors do not count: they
 * are what the symbol worker is for. */
#include "base/cleanup.h"
#include "base/fileio.h"
#include "symbol/dwarf/dwarf_lines.h"
#include "symbol/dwarf/lines_table.h"

#include <sys/mman.h>

#define MAX_REPLY_BYTES ((size_t)1 << 20)
#define NR_ADDRESSES 64
#define FIRST_ADDRESS 0x1000 /* where the files of the corpus have their code */
#define ADDRESS_STEP 5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void resolve(struct dwarf_lines *lines)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_REPLY_BYTES);
	_cleanup_(lines_table_done) struct lines_table table = { 0 };
	uint64_t addresses[NR_ADDRESSES];
	struct lines_added added;

	for (size_t i = 0; i < NR_ADDRESSES; i++)
		addresses[i] = FIRST_ADDRESS + i * ADDRESS_STEP;
	if (dwarf_lines_write(lines, addresses, NR_ADDRESSES, &out) == 0 &&
	    lines_table_add(&table, out.data, out.len, &added) == -EBADMSG)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(dwarf_lines_closep) struct dwarf_lines *lines = NULL;
	_cleanup_close_ int fd = memfd_create("elf", MFD_CLOEXEC);

	if (fd < 0 || fd_write_all(fd, data, size) < 0)
		return 0;
	if (dwarf_lines_open(fd, -1, &lines) == 0)
		resolve(lines);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/fileio.h"
#include "unwind/file/elf_rows.h"

#include <string.h>
#include <sys/mman.h>

#define MAX_TABLE_BYTES ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void build(struct elf_rows *rows)
{
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
	struct elf_rows_stats stats;

	if (strlen(elf_rows_get_key(rows)->build_id) > 2 * ELF_BUILD_ID_MAX)
		abort();
	if (elf_rows_build(rows, &table, &stats) == 0 &&
	    (table.len > MAX_TABLE_BYTES || !row_table_is_valid(table.data, table.len)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct elf_rows_opts opts = { .max_bytes = MAX_TABLE_BYTES };
	_cleanup_(elf_rows_closep) struct elf_rows *rows = NULL;
	_cleanup_close_ int fd = memfd_create("elf", MFD_CLOEXEC);

	if (fd < 0 || fd_write_all(fd, data, size) < 0)
		return 0;
	if (elf_rows_open(fd, &opts, &rows) == 0)
		build(rows);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The first byte tells what the others are: even, those of a file; odd, those of a table in a file
 * that is otherwise as it should be, so that the checksum does not keep them from being looked
 * at. */
#include "unwind/file/row_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define MAX_BYTES (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The key of the whole file in the corpus. */
static const struct elf_rows_key key = { .build_id = "abcd", .hash = { 1, 2 } };

static char path[] = "/dev/shm/fuzz_row_cache.XXXXXX";
static char file_path[96];

static void remove_directory(void)
{
	unlink(file_path);
	rmdir(path);
}

static struct row_cache *open_cache(void)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(8192);
	static struct row_cache *cache;

	if (cache)
		return cache;
	if (!mkdtemp(path) ||
	    row_cache_open(path, &row_cache_unwind_tables, MAX_BYTES, &message, &cache) < 0)
		abort();
	snprintf(file_path, sizeof(file_path), "%s/abcd-%016x%016x.rows%d", path, 1, 2,
		 ROW_CACHE_VERSION);
	atexit(remove_directory);
	return cache;
}

static void write_file(const uint8_t *data, size_t size)
{
	_cleanup_close_ int fd = open(file_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
}

static void put_table(struct row_cache *cache, const uint8_t *data, size_t size)
{
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { .len = size };

	table.data = malloc(size + 1);
	if (!table.data)
		return;
	memcpy(table.data, data, size);
	row_cache_put(cache, &key, &table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
	struct row_cache *cache = open_cache();

	if (size == 0)
		return 0;
	if (data[0] % 2)
		put_table(cache, data + 1, size - 1);
	else
		write_file(data + 1, size - 1);
	if (row_cache_get(cache, &key, &table) < 0) {
		if (access(file_path, F_OK) == 0)
			abort();
	} else if (!row_table_is_valid(table.data, table.len)) {
		abort();
	}
	return 0;
}

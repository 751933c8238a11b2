/* SPDX-License-Identifier: Apache-2.0 */
/* The files lie beside the tests, on a disk: what a tmpfs holds has no other place. */
#include "base/cold_file.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#define NR_PAGES 600 /* more than one read takes */

static size_t page_bytes;
static uint8_t content[NR_PAGES * 65536];

/* All that is in the file is on disk. */
static int open_file(void)
{
	char path[] = "test_cold_file.XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);
	struct statfs fs;

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(fstatfs(fd, &fs), 0);
	if (fs.f_type == TMPFS_MAGIC) {
		close(fd);
		skip();
	}
	assert_int_equal(fd_write_all(fd, content, NR_PAGES * page_bytes), 0);
	assert_int_equal(fsync(fd), 0);
	cold_file_drop_all(fd);
	return fd;
}

static size_t count_cached(int fd)
{
	unsigned char is_there[NR_PAGES];
	size_t len = NR_PAGES * page_bytes, nr = 0;
	void *pages = mmap(NULL, len, PROT_NONE, MAP_PRIVATE, fd, 0);

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mincore(pages, len, is_there), 0);
	munmap(pages, len);
	for (size_t i = 0; i < NR_PAGES; i++)
		nr += is_there[i] & 1;
	return nr;
}

static void read_range(int fd, size_t offset, size_t len)
{
	_cleanup_(cold_file_done) struct cold_file file = { 0 };
	_cleanup_free_ uint8_t *bytes = malloc(len);

	assert_non_null(bytes);
	cold_file_init(&file, fd);
	for (size_t done = 0; done < len;) {
		ssize_t n = cold_file_pread(&file, bytes + done, len - done, offset + done);

		assert_true(n > 0);
		done += (size_t)n;
	}
	assert_memory_equal(bytes, content + offset, len);
}

static void what_was_read_is_not_kept(void **state)
{
	(void)state;
	_cleanup_close_ int fd = open_file();

	assert_int_equal(count_cached(fd), 0);
	read_range(fd, 0, NR_PAGES * page_bytes);
	assert_int_equal(count_cached(fd), 0);
	read_range(fd, 3 * page_bytes + 5, page_bytes + 7);
	assert_int_equal(count_cached(fd), 0);
}

static void what_others_have_read_stays(void **state)
{
	(void)state;
	_cleanup_close_ int fd = open_file();
	char byte;

	assert_int_equal(pread(fd, &byte, 1, (off_t)(10 * page_bytes)), 1);
	assert_int_equal(pread(fd, &byte, 1, (off_t)(12 * page_bytes)), 1);
	assert_int_equal(count_cached(fd), 2);
	read_range(fd, 9 * page_bytes, 8 * page_bytes);
	assert_int_equal(count_cached(fd), 2);
}

/* Ranges that do not touch each other, more of them than are remembered. */
static void what_was_read_here_and_there_is_not_kept(void **state)
{
	(void)state;
	_cleanup_close_ int fd = open_file();
	_cleanup_(cold_file_done) struct cold_file file = { 0 };
	char byte;

	cold_file_init(&file, fd);
	for (size_t i = 0; i < 3 * COLD_FILE_MAX_RANGES; i++) {
		assert_int_equal(cold_file_pread(&file, &byte, 1, 2 * i * page_bytes), 1);
		assert_true(count_cached(fd) < COLD_FILE_MAX_RANGES);
	}
	assert_int_equal(count_cached(fd), 0);
}

static void a_read_ends_as_pread_does(void **state)
{
	(void)state;
	_cleanup_close_ int fd = open_file();
	struct cold_file file, none;
	char bytes[16];

	cold_file_init(&file, fd);
	cold_file_init(&none, -1);
	assert_int_equal(cold_file_pread(&file, bytes, 16, NR_PAGES * page_bytes - 4), 4);
	assert_int_equal(cold_file_pread(&file, bytes, 16, NR_PAGES * page_bytes), 0);
	assert_int_equal(cold_file_pread(&file, bytes, 16, UINT64_C(1) << 40), 0);
	cold_file_done(&file);
	assert_int_equal(count_cached(fd), 0);
	assert_int_equal(cold_file_pread(&none, bytes, 16, 0), -EBADF);
}

static void a_pipe_cannot_be_read_so(void **state)
{
	(void)state;
	struct cold_file file;
	int ends[2];
	char byte;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	cold_file_init(&file, ends[0]);
	assert_int_equal(cold_file_pread(&file, &byte, 1, 0), -ESPIPE);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_read_is_not_kept),
		cmocka_unit_test(what_others_have_read_stays),
		cmocka_unit_test(what_was_read_here_and_there_is_not_kept),
		cmocka_unit_test(a_read_ends_as_pread_does),
		cmocka_unit_test(a_pipe_cannot_be_read_so),
	};

	page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	for (size_t i = 0; i < sizeof(content); i++)
		content[i] = (uint8_t)(i * 31 >> 3);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crc32.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "unit.h"

#include <string.h>
#include <sys/mman.h>

#define LARGE_BYTES (((size_t)1 << 18) + 1)
#define MANY UINT64_MAX

static int file_of(const void *data, size_t len)
{
	int fd = memfd_create("crc32", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, data, len), 0);
	return fd;
}

static void it_is_the_checksum_of_gzip(void **state)
{
	static const struct {
		const char *text;
		uint32_t crc;
	} cases[] = {
		{ "", 0 },
		{ "a", 0xe8b7be43 },
		{ "123456789", 0xcbf43926 },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_close_ int fd = file_of(cases[i].text, strlen(cases[i].text));
		uint32_t crc = 1;

		assert_int_equal(crc32_of_file(fd, MANY, &crc), 0);
		assert_int_equal(crc, cases[i].crc);
	}
}

static void a_file_that_is_too_long_has_none(void **state)
{
	_cleanup_free_ char *zeros = calloc(1, LARGE_BYTES);
	uint32_t crc = 1;

	(void)state;
	assert_non_null(zeros);
	_cleanup_close_ int fd = file_of(zeros, LARGE_BYTES);
	assert_int_equal(crc32_of_file(fd, LARGE_BYTES - 1, &crc), -ENOSPC);
	assert_int_equal(crc, 1);
	assert_int_equal(crc32_of_file(fd, LARGE_BYTES, &crc), 0);
	assert_int_equal(crc, 0x780a083);
}

static void what_cannot_be_read_is_an_error(void **state)
{
	uint32_t crc = 1;

	(void)state;
	assert_int_equal(crc32_of_file(-1, MANY, &crc), -EBADF);
	assert_int_equal(crc, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_the_checksum_of_gzip),
		cmocka_unit_test(a_file_that_is_too_long_has_none),
		cmocka_unit_test(what_cannot_be_read_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

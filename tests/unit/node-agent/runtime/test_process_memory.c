/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/process_memory.h"

#include "base/cleanup.h"
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define QUOTA 1000

/* Two pages of this process, of which only the first one is mapped. */
struct fixture {
	struct process_memory memory;
	char *page;
	size_t page_bytes;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	fixture->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	fixture->page = mmap(NULL, 2 * fixture->page_bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(fixture->page, MAP_FAILED);
	assert_int_equal(munmap(fixture->page + fixture->page_bytes, fixture->page_bytes), 0);
	memcpy(fixture->page + fixture->page_bytes - 8, "12345678", 8);
	fixture->memory = (struct process_memory){
		.fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC),
		.nr_left = QUOTA,
	};
	assert_true(fixture->memory.fd >= 0);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	close(fixture->memory.fd);
	munmap(fixture->page, fixture->page_bytes);
	free(fixture);
	return 0;
}

static uint64_t end_of(const struct fixture *fixture)
{
	return (uint64_t)(uintptr_t)fixture->page + fixture->page_bytes;
}

static void what_is_mapped_is_read(void **state)
{
	struct fixture *fixture = *state;
	char bytes[8];
	uint64_t word;
	uint32_t half;

	assert_int_equal(process_memory_read(&fixture->memory, end_of(fixture) - 8, bytes, 8), 0);
	assert_memory_equal(bytes, "12345678", 8);
	assert_int_equal(process_memory_read_u64(&fixture->memory, end_of(fixture) - 8, &word), 0);
	assert_memory_equal(&word, "12345678", 8);
	assert_int_equal(process_memory_read_u32(&fixture->memory, end_of(fixture) - 4, &half), 0);
	assert_memory_equal(&half, "5678", 4);
	assert_int_equal(fixture->memory.nr_left, QUOTA - 20);
}

static void what_is_not_mapped_is_not(void **state)
{
	static const uint64_t addresses[] = { 0, INT64_MAX, INT64_MAX - 3, UINT64_MAX,
					      UINT64_MAX - 3 };
	struct fixture *fixture = *state;
	char bytes[16];

	for (size_t i = 0; i < array_len(addresses); i++) {
		assert_int_equal(process_memory_read(&fixture->memory, addresses[i], bytes, 8),
				 -EFAULT);
		assert_int_equal(process_memory_read_some(&fixture->memory, addresses[i], bytes, 8),
				 0);
	}
	assert_int_equal(process_memory_read(&fixture->memory, end_of(fixture) - 8, bytes, 16),
			 -EFAULT);
	assert_int_equal(process_memory_read(&fixture->memory, end_of(fixture), bytes, 1), -EFAULT);
}

static void as_much_as_is_mapped_is_read(void **state)
{
	struct fixture *fixture = *state;
	char bytes[16];

	assert_int_equal(process_memory_read_some(&fixture->memory, end_of(fixture) - 8, bytes, 16),
			 8);
	assert_memory_equal(bytes, "12345678", 8);
	assert_int_equal(fixture->memory.nr_left, QUOTA - 8);
}

static void more_than_the_quota_is_not_read(void **state)
{
	struct fixture *fixture = *state;
	char bytes[8];

	fixture->memory.nr_left = 7;
	assert_int_equal(process_memory_read(&fixture->memory, end_of(fixture) - 8, bytes, 8),
			 -EDQUOT);
	assert_int_equal(process_memory_read_some(&fixture->memory, end_of(fixture) - 8, bytes, 8),
			 -EDQUOT);
	assert_int_equal(process_memory_read(&fixture->memory, end_of(fixture) - 8, bytes, 7), 0);
	assert_int_equal(process_memory_read(&fixture->memory, end_of(fixture) - 8, bytes, 1),
			 -EDQUOT);
	assert_int_equal(process_memory_read(&fixture->memory, end_of(fixture) - 8, bytes, 0), 0);
}

static void a_descriptor_that_cannot_be_read_is_an_error(void **state)
{
	struct process_memory memory = { .fd = -1, .nr_left = QUOTA };
	char bytes[8];
	(void)state;

	assert_int_equal(process_memory_read(&memory, 4096, bytes, 8), -EBADF);
	assert_int_equal(process_memory_read_some(&memory, 4096, bytes, 8), -EBADF);
}

static void parts_are_read_as_far_as_they_go(void **state)
{
	const struct memory_part parts[] = { { 0x1000, "first", 5 },
					     { 0x2000, "second", 6 },
					     { 0x2003, "ond and", 7 } };
	struct process_memory memory = { .fd = -1, .nr_left = 40, .parts = parts, .nr_parts = 3 };
	char bytes[8] = "";
	(void)state;

	assert_int_equal(process_memory_read(&memory, 0x2001, bytes, 5), 0);
	assert_memory_equal(bytes, "econd", 5);
	assert_int_equal(process_memory_read_some(&memory, 0x1003, bytes, 8), 2);
	assert_memory_equal(bytes, "st", 2);
	assert_int_equal(memory.nr_left, 33);
	assert_int_equal(process_memory_read(&memory, 0x2004, bytes, 6), 0);
	assert_memory_equal(bytes, "nd and", 6);
	assert_int_equal(process_memory_read(&memory, 0x1003, bytes, 3), -ENODATA);
	assert_int_equal(process_memory_read(&memory, 0x1005, bytes, 1), -ENODATA);
	assert_int_equal(process_memory_read_some(&memory, 0xfff, bytes, 1), -ENODATA);
	assert_int_equal(process_memory_read_some(&memory, UINT64_MAX, bytes, 8), -ENODATA);
	memory.nr_left = 1;
	assert_int_equal(process_memory_read(&memory, 0x1000, bytes, 2), -EDQUOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_mapped_is_read, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_mapped_is_not, setup, teardown),
		cmocka_unit_test_setup_teardown(as_much_as_is_mapped_is_read, setup, teardown),
		cmocka_unit_test_setup_teardown(more_than_the_quota_is_not_read, setup, teardown),
		cmocka_unit_test(a_descriptor_that_cannot_be_read_is_an_error),
		cmocka_unit_test(parts_are_read_as_far_as_they_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

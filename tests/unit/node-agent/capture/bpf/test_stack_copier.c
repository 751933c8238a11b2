/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/bpf/stack_copier.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

static int proc_fd = -1;

static struct stack_copier *start(void)
{
	struct stack_copier *copier = NULL;

	assert_int_equal(stack_copier_start(proc_fd, &copier), 0);
	return copier;
}

static struct stack_request request_of(const void *address)
{
	return (struct stack_request){ .pid = (uint32_t)getpid(), .address = (uintptr_t)address };
}

static void a_stack_is_copied_from_its_address_on(void **state)
{
	static uint8_t stack[2 * STACK_COPY_BYTES];
	struct stack_copier *copier = start();
	struct stack_request request = request_of(stack + 8);

	(void)state;
	for (size_t i = 0; i < sizeof(stack); i++)
		stack[i] = (uint8_t)(i * 7);
	assert_int_equal(stack_copier_copy(copier, &request, 1), 0);
	assert_int_equal(request.len, STACK_COPY_BYTES);
	assert_memory_equal(request.bytes, stack + 8, STACK_COPY_BYTES);
	stack_copier_stop(copier);
}

static void the_copy_ends_where_the_stack_ends(void **state)
{
	struct stack_copier *copier = start();
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	/* Nothing is behind the end of a file, and nobody else can map anything there meanwhile. */
	_cleanup_close_ int fd = memfd_create("stack", MFD_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)page), 0);
	uint8_t *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(pages, MAP_FAILED);
	struct stack_request request = request_of(pages + page - 100);
	assert_int_equal(stack_copier_copy(copier, &request, 1), 0);
	assert_int_equal(request.len, 100);
	munmap(pages, 2 * page);
	stack_copier_stop(copier);
}

static void what_cannot_be_read_has_no_bytes(void **state)
{
	static const uint8_t byte = 1;
	struct stack_copier *copier = start();
	struct stack_request requests[] = {
		request_of(NULL),
		{ .pid = UINT32_MAX, .address = (uintptr_t)&byte },
		request_of((const void *)16),
		request_of(&byte),
	};

	(void)state;
	assert_int_equal(stack_copier_copy(copier, requests, array_len(requests)), 0);
	assert_int_equal(requests[0].len, 0);
	assert_int_equal(requests[1].len, 0);
	assert_int_equal(requests[2].len, 0);
	assert_true(requests[3].len > 0);
	assert_int_equal(requests[3].bytes[0], 1);
	stack_copier_stop(copier);
}

/* The process 4711 lets the kernel wait: its memory is a pipe that nobody writes to. */
static void a_process_that_lets_the_kernel_wait_does_not_hold_the_caller(void **state)
{
	char dir[] = "/tmp/test_stack_copier.XXXXXX";
	struct stack_request request = { .pid = 4711, .address = 4096 }, other = request_of("x");
	struct stack_copier *copier = NULL;

	(void)state;
	assert_non_null(mkdtemp(dir));
	int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(mkdirat(dir_fd, "4711", 0700), 0);
	assert_int_equal(mkfifoat(dir_fd, "4711/mem", 0600), 0);
	assert_int_equal(stack_copier_start(dir_fd, &copier), 0);
	assert_int_equal(stack_copier_copy(copier, &request, 1), -ETIMEDOUT);
	assert_int_equal(stack_copier_copy(copier, &other, 1), -EBUSY);
	int writer = openat(dir_fd, "4711/mem", O_WRONLY | O_CLOEXEC);
	assert_true(writer >= 0);
	while (stack_copier_copy(copier, &other, 1) < 0)
		usleep(1000);
	stack_copier_stop(copier);
	close(writer);
	unlinkat(dir_fd, "4711/mem", 0);
	unlinkat(dir_fd, "4711", AT_REMOVEDIR);
	close(dir_fd);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_is_copied_from_its_address_on),
		cmocka_unit_test(the_copy_ends_where_the_stack_ends),
		cmocka_unit_test(what_cannot_be_read_has_no_bytes),
		cmocka_unit_test(a_process_that_lets_the_kernel_wait_does_not_hold_the_caller),
	};

	proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return proc_fd < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}

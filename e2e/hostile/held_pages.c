/* SPDX-License-Identifier: Apache-2.0 */
/* A process with memory whose readers wait for ever: a userfaultfd
 * that nobody answers holds the page of its arguments and environment, and the stack of
 * the thread that is busy.
 *
 *	held_pages ARGUMENT...
 *
 * The loop needs no stack; whoever unwinds it does. Exit status 77: this kernel does not allow
 * it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE_BYTES 4096UL
#define STACK_BYTES (64 * PAGE_BYTES)
#define CANNOT_RUN 77

static int hold(int fd, uintptr_t start, size_t len)
{
	struct uffdio_register range = {
		.range = { .start = start, .len = len },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	if (ioctl(fd, UFFDIO_REGISTER, &range) < 0)
		return -1;
	return madvise((void *)start, len, MADV_DONTNEED);
}

/* From here on the stack pointer is in a page that is held; no instruction of the loop touches
 * it. */
__attribute__((noreturn)) static void spin_on(char *stack)
{
	__asm__ volatile("mov %0, %%rsp\n\t"
			 "mov %0, %%rbp\n\t"
			 "1: inc %%rax\n\t"
			 "jmp 1b"
			 :
			 : "r"(stack)
			 : "rax", "memory");
	__builtin_unreachable();
}

int main(int argc, char **argv)
{
	struct uffdio_api api = { .api = UFFD_API };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0)
		fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0)
		return CANNOT_RUN;

	char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	/* The kernel shows this memory as the command line: the pages above the first frame. */
	uintptr_t arguments = (uintptr_t)argv[argc - 1] & ~(PAGE_BYTES - 1);

	if (stack == MAP_FAILED || hold(fd, (uintptr_t)stack, STACK_BYTES) < 0)
		return CANNOT_RUN;
	printf("held\n");
	fflush(stdout);
	hold(fd, arguments, PAGE_BYTES);
	spin_on(stack + STACK_BYTES / 2);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* In the kernel most of the time, by calls that take long and by short ones. */
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>

#include "burn.h"

static char bytes[65536];

NOINLINE static unsigned long read_zeros(int fd)
{
	return (unsigned long)read(fd, bytes, sizeof(bytes)) + 1;
}

NOINLINE static unsigned long ask(unsigned long nr_rounds)
{
	struct timespec now = { 0 };
	unsigned long sum = 0;

	for (unsigned long i = 0; i < nr_rounds; i++) {
		sum += (unsigned long)getppid();
		clock_gettime(CLOCK_MONOTONIC, &now);
	}
	return sum + (unsigned long)now.tv_nsec;
}

int main(void)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return EXIT_FAILURE;
	begin_burning();
	for (;;)
		sink += read_zeros(fd) + ask(20);
}

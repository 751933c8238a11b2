/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/process_memory.h"

#include <errno.h>
#include <unistd.h>

ssize_t process_memory_read_some(struct process_memory *memory, uint64_t address, void *to,
				 size_t len)
{
	ssize_t n;

	if (len > memory->nr_left)
		return -EDQUOT;
	if (address > INT64_MAX || len > INT64_MAX - address)
		return 0;
	do {
		n = pread(memory->fd, to, len, (off_t)address);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EIO || errno == EFAULT ? 0 : -errno;
	memory->nr_left -= (uint64_t)n;
	return n;
}

int process_memory_read(struct process_memory *memory, uint64_t address, void *to, size_t len)
{
	ssize_t n = process_memory_read_some(memory, address, to, len);

	if (n < 0)
		return (int)n;
	return (size_t)n == len ? 0 : -EFAULT;
}

int process_memory_read_u64(struct process_memory *memory, uint64_t address, uint64_t *ret)
{
	return process_memory_read(memory, address, ret, sizeof(*ret));
}

int process_memory_read_u32(struct process_memory *memory, uint64_t address, uint32_t *ret)
{
	return process_memory_read(memory, address, ret, sizeof(*ret));
}

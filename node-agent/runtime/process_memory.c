/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/process_memory.h"

#include "base/minmax.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Copies the bytes that a part has from an address on: of parts that overlap, the one that has most
 * of them. Returns their number. */
static ssize_t read_parts(const struct process_memory *memory, uint64_t address, void *to,
			  size_t len)
{
	const char *from = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < memory->nr_parts; i++) {
		const struct memory_part *part = &memory->parts[i];
		uint64_t offset = address - part->address;

		if (offset >= part->len || part->len - offset <= most)
			continue;
		most = part->len - offset;
		from = (const char *)part->bytes + offset;
	}
	if (!from)
		return -ENODATA;
	size_t n = min_u64(len, most);
	memcpy(to, from, n);
	return (ssize_t)n;
}

static ssize_t read_process(const struct process_memory *memory, uint64_t address, void *to,
			    size_t len)
{
	ssize_t n;

	if (address > INT64_MAX || len > INT64_MAX - address)
		return 0;
	do {
		n = pread(memory->fd, to, len, (off_t)address);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EIO || errno == EFAULT ? 0 : -errno;
	return n;
}

ssize_t process_memory_read_some(struct process_memory *memory, uint64_t address, void *to,
				 size_t len)
{
	if (len > memory->nr_left)
		return -EDQUOT;
	ssize_t n = memory->nr_parts > 0 ? read_parts(memory, address, to, len)
					 : read_process(memory, address, to, len);
	if (n > 0)
		memory->nr_left -= (uint64_t)n;
	return n;
}

int process_memory_read(struct process_memory *memory, uint64_t address, void *to, size_t len)
{
	ssize_t n = process_memory_read_some(memory, address, to, len);

	if (n < 0)
		return (int)n;
	if ((size_t)n == len)
		return 0;
	return memory->nr_parts > 0 ? -ENODATA : -EFAULT;
}

int process_memory_read_u64(struct process_memory *memory, uint64_t address, uint64_t *ret)
{
	return process_memory_read(memory, address, ret, sizeof(*ret));
}

int process_memory_read_u32(struct process_memory *memory, uint64_t address, uint32_t *ret)
{
	return process_memory_read(memory, address, ret, sizeof(*ret));
}

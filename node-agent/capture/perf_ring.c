/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/perf_ring.h"

#include "base/cleanup.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

size_t perf_ring_round_bytes(size_t bytes)
{
	size_t rounded = (size_t)sysconf(_SC_PAGESIZE);

	while (rounded < bytes && rounded <= SIZE_MAX / 4)
		rounded *= 2;
	return rounded;
}

int perf_ring_open(const struct perf_event_attr *attr, unsigned int cpu, size_t data_bytes,
		   struct perf_ring *ret_ring)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_attr own_attr = *attr;

	_cleanup_close_ int fd = (int)syscall(SYS_perf_event_open, &own_attr, -1, (int)cpu, -1,
					      PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	void *page = mmap(NULL, page_bytes + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	*ret_ring = (struct perf_ring){
		.fd = take_fd(fd),
		.page = page,
		.page_bytes = page_bytes,
		.data_bytes = data_bytes,
	};
	return 0;
}

void perf_ring_close(struct perf_ring *ring)
{
	munmap(ring->page, ring->page_bytes + ring->data_bytes);
	close(ring->fd);
}

void perf_ring_begin(struct perf_ring *ring)
{
	ring->position = ring->page->data_tail;
	ring->end = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

/* Gives everything up to the end back to the kernel. */
static void finish(struct perf_ring *ring)
{
	ring->position = ring->end;
	__atomic_store_n(&ring->page->data_tail, ring->end, __ATOMIC_RELEASE);
}

static const void *unwrap(const struct perf_ring *ring, size_t offset, size_t len, uint8_t *scratch)
{
	const uint8_t *data = (const uint8_t *)ring->page + ring->page_bytes;
	size_t until_wrap = ring->data_bytes - offset;

	if (len <= until_wrap)
		return data + offset;
	memcpy(scratch, data + offset, until_wrap);
	memcpy(scratch + until_wrap, data, len - until_wrap);
	return scratch;
}

int perf_ring_next(struct perf_ring *ring, uint8_t scratch[static PERF_RING_MAX_RECORD_BYTES],
		   const void **ret_record, size_t *ret_len)
{
	uint64_t nr_left = ring->end - ring->position;
	size_t offset = ring->position & (ring->data_bytes - 1);
	struct perf_event_header header = { 0 };

	if (nr_left == 0) {
		finish(ring);
		return 0;
	}
	if (nr_left >= sizeof(header) && nr_left <= ring->data_bytes)
		memcpy(&header, unwrap(ring, offset, sizeof(header), scratch), sizeof(header));
	if (header.size < sizeof(header) || header.size > nr_left) {
		finish(ring);
		return -EBADMSG;
	}
	*ret_record = unwrap(ring, offset, header.size, scratch);
	*ret_len = header.size;
	ring->position += header.size;
	return 1;
}

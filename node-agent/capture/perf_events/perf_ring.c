/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/perf_events/perf_ring.h"

#include "base/cleanup.h"
#include "capture/perf_events/perf_open.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

size_t perf_ring_round_bytes(size_t bytes)
{
	size_t rounded = (size_t)sysconf(_SC_PAGESIZE);

	while (rounded < bytes && rounded <= SIZE_MAX / 4)
		rounded *= 2;
	return rounded;
}

/* Rings beyond kernel.perf_event_mlock_kb for each CPU count as locked memory (RLIMIT_MEMLOCK).
 * mmap() fails with -EPERM over that limit. */
static void *map_ring(int fd, size_t page_bytes, struct perf_ring_size *size)
{
	for (;;) {
		void *page = mmap(NULL, page_bytes + size->bytes, PROT_READ | PROT_WRITE,
				  MAP_SHARED, fd, 0);

		if (page != MAP_FAILED || errno != EPERM || size->bytes / 2 < size->min_bytes)
			return page;
		size->bytes /= 2;
	}
}

int perf_ring_open(struct perf_event_attr *attr, const struct perf_ring_target *target,
		   struct perf_ring_size *size, struct perf_ring *ret_ring)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

	_cleanup_close_ int fd = perf_open(attr, target->pid, target->cpu);
	if (fd < 0)
		return fd;
	void *page = map_ring(fd, page_bytes, size);
	if (page == MAP_FAILED)
		return -errno;
	*ret_ring = (struct perf_ring){
		.fd = take_fd(fd),
		.page = page,
		.page_bytes = page_bytes,
		.data_bytes = size->bytes,
	};
	return 0;
}

void perf_ring_close(struct perf_ring *ring)
{
	munmap(ring->page, ring->page_bytes + ring->data_bytes);
	close(ring->fd);
}

int perf_ring_read_lost(const struct perf_ring *ring, uint64_t *ret_nr_lost)
{
	uint64_t values[2]; /* the event's count, and the number of lost records */

	ssize_t len = read(ring->fd, values, sizeof(values));
	if (len < 0)
		return -errno;
	if (len < (ssize_t)sizeof(values))
		return -EOPNOTSUPP;
	*ret_nr_lost = values[1];
	return 0;
}

void perf_ring_begin(struct perf_ring *ring)
{
	ring->position = ring->page->data_tail;
	ring->end = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

void perf_ring_release(struct perf_ring *ring)
{
	__atomic_store_n(&ring->page->data_tail, ring->position, __ATOMIC_RELEASE);
}

static void end_pass(struct perf_ring *ring)
{
	ring->position = ring->end;
	perf_ring_release(ring);
}

static const uint8_t *data_at(const struct perf_ring *ring, uint64_t position)
{
	return (const uint8_t *)ring->page + ring->page_bytes + (position & (ring->data_bytes - 1));
}

static size_t bytes_until_wrap(const struct perf_ring *ring, uint64_t position)
{
	return ring->data_bytes - (position & (ring->data_bytes - 1));
}

static void copy_out(const struct perf_ring *ring, uint64_t position, void *bytes, size_t len)
{
	size_t until_wrap = bytes_until_wrap(ring, position);
	size_t first = len < until_wrap ? len : until_wrap;

	memcpy(bytes, data_at(ring, position), first);
	memcpy((uint8_t *)bytes + first, data_at(ring, position + first), len - first);
}

/* Returns the size of the next record; 0 if it is broken. */
static size_t next_size(const struct perf_ring *ring)
{
	uint64_t bytes_left = ring->end - ring->position;
	struct perf_event_header header = { 0 };

	if (bytes_left >= sizeof(header) && bytes_left <= ring->data_bytes)
		copy_out(ring, ring->position, &header, sizeof(header));
	return header.size < sizeof(header) || header.size > bytes_left ? 0 : header.size;
}

int perf_ring_peek(const struct perf_ring *ring, size_t offset, void *ret_bytes, size_t len)
{
	if (ring->position == ring->end)
		return -ENOENT;
	size_t size = next_size(ring);
	if (len > size || offset > size - len)
		return -EBADMSG;
	copy_out(ring, ring->position + offset, ret_bytes, len);
	return 0;
}

int perf_ring_next(struct perf_ring *ring, uint8_t scratch[static PERF_RING_MAX_RECORD_BYTES],
		   const void **ret_record, size_t *ret_len)
{
	if (ring->position == ring->end) {
		end_pass(ring);
		return 0;
	}
	size_t size = next_size(ring);
	if (size == 0) {
		end_pass(ring);
		return -EBADMSG;
	}

	bool wraps = size > bytes_until_wrap(ring, ring->position);
	if (wraps)
		copy_out(ring, ring->position, scratch, size);
	*ret_record = wraps ? scratch : data_at(ring, ring->position);
	*ret_len = size;
	ring->position += size;
	return 1;
}

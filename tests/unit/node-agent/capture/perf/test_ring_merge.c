/* SPDX-License-Identifier: Apache-2.0 */
/* Over memory, which stands for what the kernel writes. */
#include "capture/perf/ring_merge.h"

#include "base/cleanup.h"
#include "capture/perf_events/perf_record.h"
#include "sample_bytes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"

#define PAGE_BYTES 4096
#define RING_BYTES 8192

static uint64_t nr_lost;

/* A ring that can be closed as one of the kernel's. */
static struct perf_ring make_ring(void)
{
	void *page = mmap(NULL, PAGE_BYTES + RING_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(page != MAP_FAILED);
	return (struct perf_ring){
		.fd = open("/dev/null", O_RDONLY | O_CLOEXEC),
		.page = page,
		.page_bytes = PAGE_BYTES,
		.data_bytes = RING_BYTES,
	};
}

static struct merged_ring *add_ring(struct ring_merge *merge)
{
	struct perf_ring ring = make_ring();
	struct merged_ring *added = NULL;

	assert_int_equal(ring_merge_add(merge, &ring, &nr_lost, &added), 0);
	return added;
}

static void write_bytes(struct merged_ring *to, const void *bytes, size_t len)
{
	struct perf_event_mmap_page *page = to->ring.page;
	uint8_t *data = (uint8_t *)page + PAGE_BYTES;
	size_t at = page->data_head % RING_BYTES;
	size_t first = len < RING_BYTES - at ? len : RING_BYTES - at;

	assert_true(page->data_head - page->data_tail + len <= RING_BYTES);
	memcpy(data + at, bytes, first);
	memcpy(data, (const uint8_t *)bytes + first, len - first);
	page->data_head += len;
}

/* A sample and a record of another kind have their times in other places. */
static void write_record(struct merged_ring *to, uint64_t time_ns)
{
	const struct sample_case sample = { .time_ns = time_ns, .pid = 7, .tid = 7 };
	struct perf_bytes bytes = time_ns % 2 ? sample_bytes(&sample)
					      : sample_bytes_comm(7, 7, "name", 0, time_ns);

	write_bytes(to, bytes.bytes, bytes.len);
}

/* The time of the next record, 0 at the end. */
static uint64_t next_time(struct ring_merge *merge, uint64_t until_ns)
{
	const struct perf_event_attr attr = { .sample_type = PERF_LAYOUT_STACK };
	struct perf_record record;
	const void *bytes;
	size_t len;

	if (!ring_merge_next(merge, until_ns, &bytes, &len))
		return 0;
	assert_int_equal(perf_record_parse(bytes, len, &attr, &record), 0);
	return record.time_ns;
}

static int set_up(void **state)
{
	*state = calloc(1, sizeof(struct ring_merge));
	return *state ? 0 : -1;
}

static int tear_down(void **state)
{
	ring_merge_done(*state);
	free(*state);
	return 0;
}

static void records_come_in_the_order_of_time(void **state)
{
	enum { NR_RINGS = 7, NR_RECORDS = 300 };
	struct ring_merge *merge = *state;
	struct merged_ring *rings[NR_RINGS];

	for (size_t i = 0; i < NR_RINGS; i++)
		rings[i] = add_ring(merge);
	for (uint64_t time = 1; time <= NR_RECORDS; time++)
		write_record(rings[time * time % NR_RINGS], time);
	ring_merge_begin(merge);
	for (uint64_t time = 1; time <= NR_RECORDS; time++)
		assert_int_equal(next_time(merge, UINT64_MAX), time);
	assert_int_equal(next_time(merge, UINT64_MAX), 0);
	for (size_t i = 0; i < NR_RINGS; i++)
		assert_int_equal(rings[i]->ring.page->data_tail, rings[i]->ring.page->data_head);
	assert_int_equal(merge->nr_bad, 0);
}

static void what_is_too_young_is_left_for_the_next_time(void **state)
{
	struct ring_merge *merge = *state;
	struct merged_ring *a = add_ring(merge), *b = add_ring(merge);

	write_record(a, 10);
	write_record(a, 30);
	write_record(b, 20);
	ring_merge_begin(merge);
	write_record(b, 5); /* comes meanwhile */
	assert_int_equal(next_time(merge, 20), 10);
	assert_int_equal(next_time(merge, 20), 20);
	assert_int_equal(next_time(merge, 20), 0);
	assert_true(a->ring.page->data_tail < a->ring.page->data_head);
	ring_merge_begin(merge);
	assert_int_equal(next_time(merge, 40), 5);
	assert_int_equal(next_time(merge, 40), 30);
	assert_int_equal(next_time(merge, 40), 0);
}

static void records_are_read_around_the_end_of_a_ring(void **state)
{
	struct ring_merge *merge = *state;
	struct merged_ring *ring = add_ring(merge);

	for (uint64_t time = 1; time < 500; time++) {
		write_record(ring, time);
		ring_merge_begin(merge);
		assert_int_equal(next_time(merge, UINT64_MAX), time);
		assert_int_equal(next_time(merge, UINT64_MAX), 0);
	}
}

static void a_retired_ring_is_read_and_then_closed(void **state)
{
	struct ring_merge *merge = *state;
	struct merged_ring *gone = add_ring(merge), *stays = add_ring(merge);

	write_record(gone, 1);
	write_record(stays, 2);
	ring_merge_retire(gone);
	ring_merge_begin(merge);
	assert_int_equal(merge->nr_rings, 2);
	assert_int_equal(next_time(merge, UINT64_MAX), 1);
	assert_int_equal(next_time(merge, UINT64_MAX), 2);
	assert_int_equal(next_time(merge, UINT64_MAX), 0);
	assert_int_equal(merge->nr_rings, 1);
	assert_ptr_equal(merge->rings[0], stays);
}

/* What is read from the event, as PERF_FORMAT_LOST has it. */
static void set_event(struct merged_ring *ring, const uint64_t *values, size_t len)
{
	int fd = memfd_create("event", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, values, len), len);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	close(ring->ring.fd);
	ring->ring.fd = fd;
}

static void what_a_ring_lost_behind_its_last_record_is_counted(void **state)
{
	static const struct {
		uint64_t values[2];
		size_t len;
		uint64_t nr_lost;
	} cases[] = {
		{ { 1, 7 }, 16, 7 }, /* of which 4 are told */
		{ { 1, 4 }, 16, 4 },
		{ { 1, 0 }, 16, 4 },
		{ { 1, 7 }, 8, 4 }, /* the kernel does not know it */
	};
	struct ring_merge *merge = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct merged_ring *ring = add_ring(merge);

		nr_lost = 0;
		set_event(ring, cases[i].values, cases[i].len);
		write_record(ring, 1);
		ring_merge_begin(merge);
		assert_int_equal(next_time(merge, UINT64_MAX), 1);
		ring_merge_count_lost(merge, 4);
		ring_merge_retire(ring);
		assert_int_equal(next_time(merge, UINT64_MAX), 0);
		assert_int_equal(merge->nr_rings, 0);
		assert_int_equal(nr_lost, cases[i].nr_lost);
	}
}

static void a_ring_that_makes_no_sense_does_not_stop_the_others(void **state)
{
	static const uint16_t sizes[] = { 0, 7, 9000, UINT16_MAX };
	struct ring_merge *merge = *state;
	struct merged_ring *bad = add_ring(merge), *good = add_ring(merge);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct perf_event_header header = { .type = PERF_RECORD_SAMPLE,
							  .size = sizes[i] };

		write_bytes(bad, &header, sizeof(header));
		write_record(bad, 1);
		write_record(good, 2);
		ring_merge_begin(merge);
		assert_int_equal(next_time(merge, UINT64_MAX), 2);
		assert_int_equal(next_time(merge, UINT64_MAX), 0);
		assert_int_equal(merge->nr_bad, i + 1);
	}
	write_record(bad, 3);
	ring_merge_begin(merge);
	assert_int_equal(next_time(merge, UINT64_MAX), 3);
	assert_int_equal(next_time(merge, UINT64_MAX), 0);
}

static void a_record_too_short_for_a_time_is_handed_out(void **state)
{
	const struct perf_event_header headers[] = {
		{ .type = PERF_RECORD_SAMPLE, .size = sizeof(struct perf_event_header) },
		{ .type = PERF_RECORD_COMM, .size = sizeof(struct perf_event_header) },
	};
	struct ring_merge *merge = *state;
	struct merged_ring *ring = add_ring(merge);
	const void *bytes;
	size_t len;

	write_bytes(ring, headers, sizeof(headers));
	write_record(ring, 9);
	ring_merge_begin(merge);
	for (int i = 0; i < 2; i++) {
		assert_true(ring_merge_next(merge, 9, &bytes, &len));
		assert_int_equal(len, sizeof(struct perf_event_header));
	}
	assert_int_equal(next_time(merge, 9), 9);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(records_come_in_the_order_of_time),
		CASE(what_is_too_young_is_left_for_the_next_time),
		CASE(records_are_read_around_the_end_of_a_ring),
		CASE(a_retired_ring_is_read_and_then_closed),
		CASE(what_a_ring_lost_behind_its_last_record_is_counted),
		CASE(a_ring_that_makes_no_sense_does_not_stop_the_others),
		CASE(a_record_too_short_for_a_time_is_handed_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

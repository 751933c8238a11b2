/* SPDX-License-Identifier: Apache-2.0 */
/* The reading side, over plain memory laid out as the kernel does. */
#include "capture/perf_events/perf_ring.h"

#include "base/cleanup.h"
#include "unit.h"

#include <string.h>

#define RING_BYTES 64

struct fake_ring {
	struct perf_event_mmap_page page;
	_Alignas(8) uint8_t data[RING_BYTES];
};

static uint8_t scratch[PERF_RING_MAX_RECORD_BYTES];

static struct perf_ring ring_over(struct fake_ring *fake)
{
	return (struct perf_ring){
		.fd = -EBADF,
		.page = &fake->page,
		.page_bytes = offsetof(struct fake_ring, data),
		.data_bytes = RING_BYTES,
	};
}

/* Writes a record of `size` bytes, all but its header filled with `fill`. */
static void write_record(struct fake_ring *fake, uint16_t size, uint8_t fill)
{
	const struct perf_event_header header = { .type = fill, .size = size };
	uint8_t record[RING_BYTES];

	memset(record, fill, sizeof(record));
	memcpy(record, &header, sizeof(header));
	for (size_t i = 0; i < size; i++)
		fake->data[(fake->page.data_head + i) % RING_BYTES] = record[i];
	fake->page.data_head += size;
}

static void assert_next(struct perf_ring *ring, size_t expected_len, uint8_t fill)
{
	const void *record;
	size_t len;

	assert_int_equal(perf_ring_next(ring, scratch, &record, &len), 1);
	assert_int_equal(len, expected_len);
	for (size_t i = sizeof(struct perf_event_header); i < len; i++)
		assert_int_equal(((const uint8_t *)record)[i], fill);
}

static void assert_end(struct perf_ring *ring)
{
	const void *record;
	size_t len;

	assert_int_equal(perf_ring_next(ring, scratch, &record, &len), 0);
	assert_int_equal(ring->page->data_tail, ring->page->data_head);
}

static void records_are_read_in_order_and_around_the_end(void **state)
{
	struct fake_ring fake = { .page.data_head = 0 };
	struct perf_ring ring = ring_over(&fake);
	(void)state;

	perf_ring_begin(&ring);
	assert_end(&ring);
	for (uint8_t fill = 1; fill < 100; fill++) {
		write_record(&fake, 40, fill);
		write_record(&fake, 16, fill + 1);
		perf_ring_begin(&ring);
		assert_next(&ring, 40, fill);
		assert_next(&ring, 16, fill + 1);
		assert_end(&ring);
	}
}

static void a_full_ring_is_read_whole(void **state)
{
	struct fake_ring fake = { .page = { .data_head = 8, .data_tail = 8 } };
	struct perf_ring ring = ring_over(&fake);
	(void)state;

	write_record(&fake, RING_BYTES, 7);
	perf_ring_begin(&ring);
	assert_next(&ring, RING_BYTES, 7);
	assert_end(&ring);
}

static void a_reading_may_stop_in_the_middle(void **state)
{
	struct fake_ring fake = { .page.data_head = 0 };
	struct perf_ring ring = ring_over(&fake);
	(void)state;

	write_record(&fake, 16, 1);
	write_record(&fake, 24, 2);
	perf_ring_begin(&ring);
	assert_next(&ring, 16, 1);
	perf_ring_release(&ring);
	assert_int_equal(fake.page.data_tail, 16);
	perf_ring_begin(&ring);
	assert_next(&ring, 24, 2);
	assert_end(&ring);
}

static void a_part_of_the_next_record_can_be_looked_at(void **state)
{
	struct fake_ring fake = { .page = { .data_head = RING_BYTES - 8,
					    .data_tail = RING_BYTES - 8 } };
	struct perf_ring ring = ring_over(&fake);
	uint8_t bytes[8];
	(void)state;

	perf_ring_begin(&ring);
	assert_int_equal(perf_ring_peek(&ring, 0, bytes, 1), -ENOENT);
	write_record(&fake, 24, 7);
	perf_ring_begin(&ring);
	assert_int_equal(perf_ring_peek(&ring, 16, bytes, sizeof(bytes)), 0);
	assert_int_equal(bytes[0], 7);
	assert_int_equal(bytes[7], 7);
	assert_int_equal(perf_ring_peek(&ring, 17, bytes, sizeof(bytes)), -EBADMSG);
	assert_int_equal(perf_ring_peek(&ring, SIZE_MAX, bytes, sizeof(bytes)), -EBADMSG);
	assert_int_equal(fake.page.data_tail, RING_BYTES - 8);
	assert_next(&ring, 24, 7);
}

static void what_comes_meanwhile_is_left_for_the_next_time(void **state)
{
	struct fake_ring fake = { .page.data_head = 0 };
	struct perf_ring ring = ring_over(&fake);
	const void *record;
	size_t len;
	(void)state;

	write_record(&fake, 16, 1);
	perf_ring_begin(&ring);
	write_record(&fake, 24, 2);
	assert_next(&ring, 16, 1);
	assert_int_equal(perf_ring_next(&ring, scratch, &record, &len), 0);
	assert_int_equal(fake.page.data_tail, 16);
	perf_ring_begin(&ring);
	assert_next(&ring, 24, 2);
	assert_end(&ring);
}

static void sizes_that_make_no_sense_end_the_reading(void **state)
{
	static const uint16_t sizes[] = { 0, 1, 7, 17, 24, UINT16_MAX };
	const void *record;
	size_t len;
	(void)state;

	for (size_t i = 0; i < array_len(sizes); i++) {
		struct fake_ring fake = { .page.data_head = 0 };
		struct perf_ring ring = ring_over(&fake);
		struct perf_event_header header = { .size = sizes[i] };

		write_record(&fake, 16, 1);
		memcpy(fake.data, &header, sizeof(header));
		perf_ring_begin(&ring);
		assert_int_equal(perf_ring_next(&ring, scratch, &record, &len), -EBADMSG);
		assert_end(&ring);
	}
}

static void positions_that_make_no_sense_end_the_reading(void **state)
{
	static const uint64_t heads[] = { 1, 7, RING_BYTES + 8, UINT64_MAX };
	const void *record;
	size_t len;
	(void)state;

	for (size_t i = 0; i < array_len(heads); i++) {
		struct fake_ring fake = { .page.data_head = heads[i] };
		struct perf_ring ring = ring_over(&fake);

		perf_ring_begin(&ring);
		assert_int_equal(perf_ring_next(&ring, scratch, &record, &len), -EBADMSG);
		assert_end(&ring);
	}
}

static void sizes_are_rounded_to_a_power_of_two_of_pages(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	(void)state;

	assert_int_equal(perf_ring_round_bytes(0), page);
	assert_int_equal(perf_ring_round_bytes(page), page);
	assert_int_equal(perf_ring_round_bytes(page + 1), 2 * page);
	assert_int_equal(perf_ring_round_bytes(5 * page), 8 * page);
	assert_true(perf_ring_round_bytes(SIZE_MAX) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_read_in_order_and_around_the_end),
		cmocka_unit_test(a_full_ring_is_read_whole),
		cmocka_unit_test(a_reading_may_stop_in_the_middle),
		cmocka_unit_test(a_part_of_the_next_record_can_be_looked_at),
		cmocka_unit_test(what_comes_meanwhile_is_left_for_the_next_time),
		cmocka_unit_test(sizes_that_make_no_sense_end_the_reading),
		cmocka_unit_test(positions_that_make_no_sense_end_the_reading),
		cmocka_unit_test(sizes_are_rounded_to_a_power_of_two_of_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

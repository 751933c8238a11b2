/* SPDX-License-Identifier: Apache-2.0 */
#include "slots_fixture.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define HUNDRED_YEARS_NS (UINT64_C(100) * 365 * 86400 * NSEC_PER_SEC)
#define PATIENCE_NS (20 * NSEC_PER_SEC)

int slots_fixture_set_up(void **state)
{
	struct slots_fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	rows_standin_reset();
	*state = fixture;
	if (arena_fixture_open(&fixture->maps) < 0)
		return -1;
	fixture->shared = fixture->maps.memory->tables;
	return 0;
}

void slots_fixture_stop(struct slots_fixture *fixture)
{
	table_thread_stop(take_ptr(fixture->thread));
	table_slots_free(take_ptr(fixture->slots));
	unwind_arena_close(take_ptr(fixture->arena));
}

int slots_fixture_tear_down(void **state)
{
	struct slots_fixture *fixture = *state;

	rows_standin_shut(false);
	slots_fixture_stop(fixture);
	arena_fixture_close(&fixture->maps);
	free(fixture);
	return 0;
}

void slots_fixture_start_with(struct slots_fixture *fixture, struct table_slots_opts opts,
			      size_t arena_bytes)
{
	assert_int_equal(unwind_arena_new(fixture->maps.memory, arena_bytes, &fixture->arena), 0);
	opts.memory = fixture->maps.memory;
	opts.arena = fixture->arena;
	if (opts.max_bytes == 0)
		opts.max_bytes = 16 * ARENA_CHUNK_BYTES;
	if (opts.clock_ns == 0)
		opts.clock_ns = HUNDRED_YEARS_NS;
	assert_int_equal(table_slots_new(&opts, &fixture->slots), 0);

	const struct table_thread_opts thread_opts = {
		.slots = fixture->slots,
		.cache = fixture->cache,
		.capabilities = fixture->maps.memory->capabilities,
		.client.max_table_bytes = opts.max_bytes,
	};
	assert_int_equal(table_thread_start(&thread_opts, &fixture->thread), 0);
}

void slots_fixture_start(struct slots_fixture *fixture, struct table_slots_opts opts)
{
	slots_fixture_start_with(fixture, opts, 32 * ARENA_CHUNK_BYTES);
}

uint32_t slots_fixture_add(struct slots_fixture *fixture, struct plan plan)
{
	uint32_t slot = 0;
	int fd = rows_standin_file(&plan);

	assert_int_equal(table_slots_add(fixture->slots, &fd, plan.owner, &slot), 0);
	assert_int_equal(fd, -EBADF);
	assert_int_not_equal(slot, 0);
	return slot;
}

void slots_fixture_reopen(struct slots_fixture *fixture, uint32_t slot, struct plan plan)
{
	int fd = rows_standin_file(&plan);

	table_slots_reopen(fixture->slots, slot, &fd, plan.owner);
	assert_int_equal(fd, -EBADF);
}

struct table_slots_stats slots_fixture_stats(struct slots_fixture *fixture)
{
	return table_slots_get_stats(fixture->slots);
}

void slots_fixture_settle(struct slots_fixture *fixture)
{
	assert_true(table_slots_wait_idle(fixture->slots, clock_mono_ns() + PATIENCE_NS));
	assert_int_equal(slots_fixture_stats(fixture).nr_waiting, 0);
}

uint32_t slots_fixture_load(struct slots_fixture *fixture, struct plan plan)
{
	uint32_t slot = slots_fixture_add(fixture, plan);

	slots_fixture_settle(fixture);
	return slot;
}

uint32_t slots_fixture_unit(struct slots_fixture *fixture, uint32_t slot)
{
	return __atomic_load_n(&fixture->shared[slot].unit, __ATOMIC_ACQUIRE);
}

uint32_t slots_fixture_clock(struct slots_fixture *fixture)
{
	return __atomic_load_n(&fixture->shared[0].used, __ATOMIC_RELAXED);
}

void slots_fixture_use(struct slots_fixture *fixture, uint32_t slot)
{
	__atomic_store_n(&fixture->shared[slot].used, slots_fixture_clock(fixture),
			 __ATOMIC_RELAXED);
}

void slots_fixture_turn_clock(struct slots_fixture *fixture, uint32_t nr_ticks)
{
	__atomic_fetch_add(&fixture->shared[0].used, nr_ticks, __ATOMIC_RELAXED);
	slots_fixture_use(fixture, table_slots_vdso(fixture->slots));
}

void slots_fixture_expect(struct slots_fixture *fixture, uint32_t slot, struct plan plan)
{
	_cleanup_free_ uint8_t *data = calloc(plan.nr_bytes, 1);
	struct row_table head;

	assert_true(slots_fixture_unit(fixture, slot) > TABLE_WITHOUT_CFI);
	assert_non_null(data);
	arena_fixture_read(&fixture->maps, slots_fixture_unit(fixture, slot), data, plan.nr_bytes);
	memcpy(&head, data, sizeof(head));
	assert_int_equal(head.bytes, plan.nr_bytes);
	for (size_t i = sizeof(head); i < plan.nr_bytes; i++)
		if (data[i] != rows_standin_byte(plan.key, i))
			assert_int_equal(data[i], rows_standin_byte(plan.key, i));
}

uint32_t slots_fixture_load_needed(struct slots_fixture *fixture, struct plan plan)
{
	rows_standin_shut(true);
	uint32_t slot = slots_fixture_add(fixture, plan);
	slots_fixture_use(fixture, slot);
	rows_standin_shut(false);
	slots_fixture_settle(fixture);
	return slot;
}

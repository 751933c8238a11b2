/* SPDX-License-Identifier: Apache-2.0 */
#include "arena_fixture.h"
#include "unit.h"
#include "unwind/tables/runtime_layouts.h"

#define SLOT 5

struct fixture {
	struct arena_fixture maps;
	struct unwind_arena *arena;
	struct runtime_layouts *layouts;
};

static int set_up(void **state)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));

	assert_int_equal(arena_fixture_open(&fixture->maps), 0);
	assert_int_equal(unwind_arena_new(fixture->maps.memory, ARENA_CHUNK_BYTES, &fixture->arena),
			 0);
	assert_int_equal(
		runtime_layouts_new(fixture->maps.memory, fixture->arena, &fixture->layouts), 0);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	runtime_layouts_free(fixture->layouts);
	unwind_arena_close(fixture->arena);
	arena_fixture_close(&fixture->maps);
	test_free(fixture);
	return 0;
}

static uint32_t unit_of(const struct fixture *fixture, uint32_t slot)
{
	return fixture->maps.memory->tables[slot].runtime;
}

static void a_slot_refers_to_its_layout(void **state)
{
	const struct runtime_layout layout = { .cpython = { .kind = RUNTIME_CPYTHON,
							    .owner = 70 } };
	struct fixture *fixture = *state;
	struct runtime_layout found;

	assert_int_equal(unit_of(fixture, SLOT), 0);
	assert_int_equal(runtime_layouts_set(fixture->layouts, SLOT, &layout), 0);
	assert_int_not_equal(unit_of(fixture, SLOT), 0);
	arena_fixture_read(&fixture->maps, unit_of(fixture, SLOT), &found, sizeof(found));
	assert_memory_equal(&found, &layout, sizeof(found));
	assert_int_equal(unit_of(fixture, SLOT + 1), 0);
}

static void a_layout_that_is_replaced_or_dropped_is_freed(void **state)
{
	const struct runtime_layout layout = { .kind = RUNTIME_CPYTHON };
	struct fixture *fixture = *state;

	assert_int_equal(runtime_layouts_set(fixture->layouts, SLOT, &layout), 0);
	uint32_t first = unit_of(fixture, SLOT);
	assert_int_equal(runtime_layouts_set(fixture->layouts, SLOT, &layout), 0);
	assert_int_not_equal(unit_of(fixture, SLOT), first);
	runtime_layouts_drop(fixture->layouts, SLOT);
	runtime_layouts_drop(fixture->layouts, SLOT);
	assert_int_equal(unit_of(fixture, SLOT), 0);
	assert_int_equal(unwind_arena_get_stats(fixture->arena).nr_bytes_used, 0);
}

static void a_full_arena_keeps_the_earlier_layout(void **state)
{
	const struct runtime_layout layout = { .kind = RUNTIME_CPYTHON };
	struct fixture *fixture = *state;
	uint32_t slot = SLOT, unit;

	while (runtime_layouts_set(fixture->layouts, slot, &layout) == 0)
		slot++;
	assert_int_equal(unit_of(fixture, slot), 0);
	unit = unit_of(fixture, SLOT);
	assert_int_equal(runtime_layouts_set(fixture->layouts, SLOT, &layout), -ENOSPC);
	assert_int_equal(unit_of(fixture, SLOT), unit);
}

#define LAYOUTS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LAYOUTS_TEST(a_slot_refers_to_its_layout),
		LAYOUTS_TEST(a_layout_that_is_replaced_or_dropped_is_freed),
		LAYOUTS_TEST(a_full_arena_keeps_the_earlier_layout),
	};

	if (!arena_fixture_is_possible())
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/verdict_slots.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

static uint64_t memory[CGROUP_SLOTS];

static struct verdict_slots fresh_slots(void)
{
	memset(memory, 0, sizeof(memory));
	return (struct verdict_slots){ .slots = memory };
}

/* As the BPF side looks (bpf/filter.bpf.h); 0: it has none. */
static unsigned int look_up(uint64_t id)
{
	uint32_t first = cgroup_first_slot(id);

	for (uint32_t i = 0; i < CGROUP_MAX_PROBES; i++) {
		uint64_t slot = memory[(first + i) & (CGROUP_SLOTS - 1)];

		if (slot >> 2 == id)
			return slot & 3;
		if (slot == 0)
			break;
	}
	return CGROUP_UNFILTERED;
}

/* An id that belongs into the same place as another. */
static uint64_t next_rival(uint64_t id)
{
	uint32_t place = cgroup_first_slot(id);

	do
		id++;
	while (cgroup_first_slot(id) != place);
	return id;
}

static void a_verdict_is_set_changed_and_forgotten(void **state)
{
	struct verdict_slots slots = fresh_slots();

	(void)state;
	assert_int_equal(look_up(7), CGROUP_UNFILTERED);
	assert_int_equal(verdict_slots_set(&slots, 7, CGROUP_EXCLUDED), 0);
	assert_int_equal(look_up(7), CGROUP_EXCLUDED);
	assert_int_equal(verdict_slots_set(&slots, 7, CGROUP_UNDECIDED), 0);
	assert_int_equal(look_up(7), CGROUP_UNDECIDED);
	assert_int_equal(slots.nr_used, 1);
	verdict_slots_forget(&slots, 8);
	verdict_slots_forget(&slots, 7);
	verdict_slots_forget(&slots, 7);
	assert_int_equal(look_up(7), CGROUP_UNFILTERED);
	assert_int_equal(slots.nr_used, 0);
	for (size_t i = 0; i < CGROUP_SLOTS; i++)
		assert_int_equal(memory[i], 0);
}

static void rivals_stand_one_behind_the_other_and_survive_each_other(void **state)
{
	struct verdict_slots slots = fresh_slots();
	uint64_t ids[CGROUP_MAX_PROBES];
	uint64_t id = 1000;

	(void)state;
	for (size_t i = 0; i < array_len(ids); i++, id = next_rival(id)) {
		ids[i] = id;
		assert_int_equal(verdict_slots_set(&slots, id, CGROUP_WANTED), 0);
	}
	assert_int_equal(verdict_slots_set(&slots, id, CGROUP_EXCLUDED), -ENOSPC);
	assert_int_equal(look_up(id), CGROUP_UNFILTERED);

	/* Each second one goes; the others are still found, and there is room again. */
	for (size_t i = 0; i < array_len(ids); i += 2)
		verdict_slots_forget(&slots, ids[i]);
	for (size_t i = 0; i < array_len(ids); i++)
		assert_int_equal(look_up(ids[i]), i % 2 ? CGROUP_WANTED : CGROUP_UNFILTERED);
	assert_int_equal(verdict_slots_set(&slots, id, CGROUP_EXCLUDED), 0);
	assert_int_equal(look_up(id), CGROUP_EXCLUDED);

	/* A change of one that stands behind a free place does not make it stand twice. */
	assert_int_equal(verdict_slots_set(&slots, ids[15], CGROUP_EXCLUDED), 0);
	verdict_slots_forget(&slots, ids[15]);
	assert_int_equal(look_up(ids[15]), CGROUP_UNFILTERED);
}

static void places_at_the_end_go_on_at_the_beginning(void **state)
{
	struct verdict_slots slots = fresh_slots();
	uint64_t id = 1;

	(void)state;
	while (cgroup_first_slot(id) != CGROUP_SLOTS - 1)
		id++;
	uint64_t rival = next_rival(id);
	assert_int_equal(verdict_slots_set(&slots, id, CGROUP_WANTED), 0);
	assert_int_equal(verdict_slots_set(&slots, rival, CGROUP_EXCLUDED), 0);
	assert_int_equal(memory[0] >> 2, rival);
	assert_int_equal(look_up(rival), CGROUP_EXCLUDED);
	verdict_slots_forget(&slots, id);
	assert_int_equal(look_up(rival), CGROUP_EXCLUDED);
	verdict_slots_forget(&slots, rival);
	assert_int_equal(memory[0] | memory[CGROUP_SLOTS - 1], 0);
}

/* Ids of cgroups grow by small steps. */
static void as_many_as_promised_have_room(void **state)
{
	struct verdict_slots slots = fresh_slots();
	uint64_t id = 31356;

	(void)state;
	for (uint32_t i = 0; i < MAX_CGROUP_VERDICTS; i++, id += 1 + i % 40)
		assert_int_equal(verdict_slots_set(&slots, id, CGROUP_WANTED), 0);
	assert_int_equal(verdict_slots_set(&slots, id, CGROUP_WANTED), -ENOSPC);
}

/* Beside a plain list. */
static void any_order_of_changes_leaves_what_it_should(void **state)
{
	static uint8_t expected[4096];
	struct verdict_slots slots = fresh_slots();
	uint32_t nr_used = 0;

	(void)state;
	srand(1);
	memset(expected, 0, sizeof(expected));
	for (int i = 0; i < 200000; i++) {
		uint64_t id = 1 + (uint64_t)rand() % (sizeof(expected) - 1);
		uint8_t verdict = (uint8_t)(rand() % 4);

		nr_used += (verdict != 0) - (expected[id] != 0);
		expected[id] = verdict;
		if (verdict == 0)
			verdict_slots_forget(&slots, id);
		else
			assert_int_equal(verdict_slots_set(&slots, id, verdict), 0);
	}
	assert_int_equal(slots.nr_used, nr_used);
	for (uint64_t id = 1; id < sizeof(expected); id++)
		assert_int_equal(look_up(id), expected[id]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_verdict_is_set_changed_and_forgotten),
		cmocka_unit_test(rivals_stand_one_behind_the_other_and_survive_each_other),
		cmocka_unit_test(places_at_the_end_go_on_at_the_beginning),
		cmocka_unit_test(as_many_as_promised_have_room),
		cmocka_unit_test(any_order_of_changes_leaves_what_it_should),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

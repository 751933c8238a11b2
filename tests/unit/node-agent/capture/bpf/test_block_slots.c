/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/bpf/block_slots.h"

#include "base/clock.h"

#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"

#define NR_CPUS 2
#define WANTED (THRESHOLD_RATE * NR_CPUS) /* a second */

struct fixture {
	struct off_cpu_slot *memory; /* the kernel's side */
	volatile uint64_t threshold_ns;
	struct block_slots slots;
};

static struct fixture fixture;

static int set_up(void **state)
{
	size_t bytes = OFF_CPU_SLOTS * sizeof(struct off_cpu_slot);
	int fd = memfd_create("slots", MFD_CLOEXEC);

	(void)state;
	if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0)
		return -1;
	fixture.memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	fixture.threshold_ns = 10 * NSEC_PER_MSEC;
	int r = block_slots_open(&fixture.slots, fd, &fixture.threshold_ns);
	close(fd);
	return r;
}

static int tear_down(void **state)
{
	(void)state;
	block_slots_close(&fixture.slots);
	return munmap(fixture.memory, OFF_CPU_SLOTS * sizeof(struct off_cpu_slot));
}

/* A second with so many blocks. */
static void pass_second(uint64_t nr_blocks)
{
	static uint64_t now_ns = NSEC_PER_SEC;

	for (uint64_t i = 0; i < nr_blocks; i++)
		block_slots_count(&fixture.slots);
	now_ns += NSEC_PER_SEC;
	block_slots_pace(&fixture.slots, NR_CPUS, now_ns);
}

static void too_many_blocks_raise_the_threshold(void **state)
{
	(void)state;
	pass_second(WANTED);
	assert_int_equal(fixture.threshold_ns, 10 * NSEC_PER_MSEC);
	pass_second(3 * WANTED);
	assert_int_equal(fixture.threshold_ns, 30 * NSEC_PER_MSEC);
	for (int i = 0; i < 10; i++)
		pass_second(1000 * WANTED);
	assert_int_equal(fixture.threshold_ns, OFF_CPU_MAX_THRESHOLD_NS);
}

static void few_blocks_lower_it_by_and_by(void **state)
{
	(void)state;
	pass_second(0);
	assert_int_equal(fixture.threshold_ns, 5 * NSEC_PER_MSEC);
	for (int i = 0; i < 10; i++)
		pass_second(0);
	assert_int_equal(fixture.threshold_ns, OFF_CPU_MIN_THRESHOLD_NS);
}

static void it_changes_once_a_second(void **state)
{
	(void)state;
	pass_second(WANTED);
	for (uint64_t i = 0; i < 3 * WANTED; i++)
		block_slots_count(&fixture.slots);
	block_slots_pace(&fixture.slots, NR_CPUS, fixture.slots.threshold.next_ns - 1);
	assert_int_equal(fixture.threshold_ns, 10 * NSEC_PER_MSEC);
	block_slots_pace(&fixture.slots, NR_CPUS, fixture.slots.threshold.next_ns);
	assert_int_equal(fixture.threshold_ns, 30 * NSEC_PER_MSEC);
}

static void a_block_is_there_from_its_choice_to_its_end(void **state)
{
	const uint32_t tid = 3 * OFF_CPU_SLOTS + 7;
	struct off_cpu_slot *slot = &fixture.memory[7];

	(void)state;
	assert_false(block_slots_has(&fixture.slots, tid, 1));
	*slot = (struct off_cpu_slot){ .tid = tid, .sequence = 1, .is_chosen = true };
	assert_true(block_slots_has(&fixture.slots, tid, 1));
	assert_false(block_slots_has(&fixture.slots, tid, 2));
	assert_false(block_slots_has(&fixture.slots, 7, 1)); /* it shares the slot */
	slot->is_chosen = false;
	assert_false(block_slots_has(&fixture.slots, tid, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(too_many_blocks_raise_the_threshold, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(few_blocks_lower_it_by_and_by, set_up, tear_down),
		cmocka_unit_test_setup_teardown(it_changes_once_a_second, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_block_is_there_from_its_choice_to_its_end, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

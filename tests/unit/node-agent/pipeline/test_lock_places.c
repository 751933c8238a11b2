/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/lock_places.h"

#include "base/cleanup.h"

#include "proc_fixture.h"
#include "unit.h"

#define PID 7
#define START_NS 100

/* A program and a library with zeros behind their data, a library whose first mapping is not that
 * of its first byte, and memory of other kinds. */
#define MAPS                                                                                       \
	"55d000000000-55d000001000 r--p 00000000 fe:00 10 /opt/shop server\n"                      \
	"55d000001000-55d000002000 r-xp 00001000 fe:00 10 /opt/shop server\n"                      \
	"55d000003000-55d000004000 rw-p 00003000 fe:00 10 /opt/shop server\n"                      \
	"55d000004000-55d000006000 rw-p 00000000 00:00 0 \n"                                       \
	"55d001000000-55d001021000 rw-p 00000000 00:00 0 [heap]\n"                                 \
	"7f0000000000-7f0000001000 rw-s 00000000 00:1a 20 /dev/shm/queue\n"                        \
	"7f0000001000-7f0000002000 rw-p 00000000 00:00 0 \n"                                       \
	"7f0000010000-7f0000011000 r--p 00000000 fe:00 11 /lib/liba.so.1\n"                        \
	"7f0000011000-7f0000012000 rw-p 00001000 fe:00 11 /lib/liba.so.1\n"                        \
	"7f0000012000-7f0000013000 rw-p 00004000 fe:00 12 /lib/libb.so.1\n"                        \
	"7f0000020000-7f0000021000 rw-p 00000000 00:00 0 \n"

static int set_up(void **state)
{
	static struct proc_fixture proc;

	*state = &proc;
	proc_fixture_init(&proc, 10);
	proc_fixture_put(&proc, PID, START_NS, MAPS);
	return 0;
}

static int tear_down(void **state)
{
	proc_fixture_done(*state);
	return 0;
}

static void expect(struct lock_places *places, uint32_t pid, uint64_t start_ns, uint64_t address,
		   const char *expected)
{
	const struct sample_event event = { .pid = pid, .start_ns = start_ns, .lock = address };
	char name[LOCK_NAME_BYTES];

	lock_places_name(places, &event, name);
	assert_string_equal(name, expected);
}

static void a_lock_is_in_a_file_or_on_the_heap(void **state)
{
	static const struct {
		uint64_t address;
		const char *name;
	} cases[] = {
		{ 0x55d000003040, "[lock in shop server+0x3040]" },
		{ 0x55d000005ff8, "[lock in shop server+0x5ff8]" },
		{ 0x55d000006000, "[lock on the heap]" },
		{ 0x55d001000010, "[lock on the heap]" },
		{ 0x7f0000000010, "[lock in shared memory]" },
		{ 0x7f0000001010, "[lock on the heap]" },
		{ 0x7f0000011100, "[lock in liba.so.1+0x1100]" },
		{ 0x7f0000012100, "[lock in libb.so.1+0x4100]" },
		{ 0x7f0000020010, "[lock on the heap]" },
	};
	static struct lock_places places;
	const struct proc_fixture *proc = *state;

	lock_places_init(&places, proc->proc_fd);
	for (size_t i = 0; i < array_len(cases); i++)
		expect(&places, PID, START_NS, cases[i].address, cases[i].name);
	lock_places_done(&places);
}

static void a_process_that_is_gone_has_locks_that_were_known_before(void **state)
{
	static struct lock_places places;
	const struct proc_fixture *proc = *state;

	lock_places_init(&places, proc->proc_fd);
	expect(&places, PID, START_NS, 0x55d000003040, "[lock in shop server+0x3040]");
	proc_fixture_remove(proc, PID);
	expect(&places, PID, START_NS, 0x55d000003048, "[lock in shop server+0x3048]");
	expect(&places, PID, START_NS + 1, 0x55d000003040, "[lock]"); /* the pid is reused */
	expect(&places, PID + 1, START_NS, 0x55d000003040, "[lock]");
	lock_places_done(&places);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_lock_is_in_a_file_or_on_the_heap, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			a_process_that_is_gone_has_locks_that_were_known_before, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Time is an argument of ticks. Each test in a process of its own, as the clock and the threads
 * are the process's. */
#include "base/heartbeat.h"

#include "base/err.h"
#include "base/thread.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define MAX_NS (5 * NSEC_PER_SEC)
#define START_NS (1000 * NSEC_PER_SEC)

static uint64_t now_ns = START_NS;

static int status_of(void (*run)(void))
{
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		heartbeat_tick(now_ns);
		run();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void tick_for(uint64_t ns)
{
	for (uint64_t end_ns = now_ns + ns; now_ns < end_ns;)
		heartbeat_tick(now_ns += HEARTBEAT_TICK_NS);
}

static void expect(bool is_right, int number)
{
	if (!is_right)
		_exit(number);
}

static void beat_and_be_gone(void)
{
	struct heartbeat late;

	heartbeat_beat(); /* nobody's */
	heartbeat_begin("symbolizer", MAX_NS);
	for (int i = 0; i < 20; i++) {
		tick_for(NSEC_PER_SEC);
		heartbeat_beat();
	}
	expect(!heartbeat_find_late(now_ns, &late), 1);
	tick_for(MAX_NS);
	expect(!heartbeat_find_late(now_ns, &late), 2);
	tick_for(HEARTBEAT_TICK_NS);
	expect(heartbeat_find_late(now_ns, &late), 3);
	expect(strcmp(late.name, "symbolizer") == 0 && late.age_ns == MAX_NS + HEARTBEAT_TICK_NS,
	       4);
	heartbeat_end();
	expect(!heartbeat_find_late(now_ns, &late), 5);
	heartbeat_beat();
}

static void who_is_gone_for_longer_than_it_may_is_late(void **state)
{
	(void)state;
	assert_int_equal(status_of(beat_and_be_gone), 0);
}

static void stand_still(void)
{
	struct heartbeat late;

	heartbeat_begin("symbolizer", MAX_NS);
	heartbeat_tick(now_ns += 3600 * NSEC_PER_SEC);
	expect(!heartbeat_find_late(now_ns, &late), 1);
	heartbeat_beat();
	expect(heartbeat_nr_late() == 0, 2);
}

static void nobody_is_late_when_the_whole_program_did_not_run(void **state)
{
	(void)state;
	assert_int_equal(status_of(stand_still), 0);
}

static void come_late(void)
{
	heartbeat_begin("symbolizer", MAX_NS);
	tick_for(MAX_NS + NSEC_PER_SEC);
	heartbeat_beat();
	expect(heartbeat_nr_late() == 1, 1);
	heartbeat_beat();
	expect(heartbeat_nr_late() == 1, 2);
}

/* Whether the library was built to end the program is seen by what it does. */
static void a_beat_that_comes_late_ends_a_debug_build_and_is_counted_elsewhere(void **state)
{
	int status = status_of(come_late);
	(void)state;

	if (WIFSIGNALED(status))
		assert_int_equal(WTERMSIG(status), SIGABRT);
	else
		assert_int_equal(status, 0);
}

static void stop_ticking(void)
{
	struct heartbeat late;

	now_ns = clock_mono_ns();
	heartbeat_begin_ticking("signals", MAX_NS);
	tick_for(NSEC_PER_SEC);
	expect(!heartbeat_find_late(now_ns + MAX_NS, &late), 1);
	expect(heartbeat_find_late(now_ns + MAX_NS + 1, &late), 2);
	expect(strcmp(late.name, "signals") == 0, 3);
}

static void who_ticks_is_watched_as_well(void **state)
{
	(void)state;
	assert_int_equal(status_of(stop_ticking), 0);
}

static void *begin_and_return(void *data)
{
	struct heartbeat list[HEARTBEAT_MAX_THREADS];

	(void)data;
	heartbeat_begin("exporter", MAX_NS);
	expect(heartbeat_list(now_ns, list) == 2, 1);
	expect(strcmp(list[0].name, "exporter") == 0, 2);
	expect(strcmp(list[1].name, "exporter-2") == 0, 3);
	return NULL;
}

static void begin_twice(void)
{
	struct heartbeat list[HEARTBEAT_MAX_THREADS];
	pthread_t thread;

	heartbeat_begin("exporter", MAX_NS);
	heartbeat_begin("again", MAX_NS);
	expect(thread_start("exporter", 0, begin_and_return, NULL, &thread) == 0, 4);
	pthread_join(thread, NULL);
	expect(heartbeat_list(now_ns, list) == 1, 5);
	expect(strcmp(list[0].name, "exporter") == 0 && list[0].max_ns == MAX_NS, 6);
}

static void threads_of_one_name_are_told_apart_and_forgotten_when_they_end(void **state)
{
	(void)state;
	assert_int_equal(status_of(begin_twice), 0);
}

static void *begin_and_wait(void *data)
{
	heartbeat_begin("many", MAX_NS);
	pthread_barrier_wait(data);
	pthread_barrier_wait(data);
	heartbeat_beat();
	return NULL;
}

static void begin_too_many(void)
{
	struct heartbeat list[HEARTBEAT_MAX_THREADS];
	pthread_t threads[HEARTBEAT_MAX_THREADS + 1];
	pthread_barrier_t barrier;

	pthread_barrier_init(&barrier, NULL, array_len(threads) + 1);
	for (size_t i = 0; i < array_len(threads); i++)
		expect(thread_start("many", 0, begin_and_wait, &barrier, &threads[i]) == 0, 1);
	pthread_barrier_wait(&barrier);
	expect(heartbeat_list(now_ns, list) == HEARTBEAT_MAX_THREADS, 2);
	for (size_t i = 1; i < HEARTBEAT_MAX_THREADS; i++)
		for (size_t j = 0; j < i; j++)
			expect(strcmp(list[i].name, list[j].name) != 0, 4);
	pthread_barrier_wait(&barrier);
	for (size_t i = 0; i < array_len(threads); i++)
		pthread_join(threads[i], NULL);
	expect(heartbeat_list(now_ns, list) == 0, 3);
}

static void there_is_room_for_so_many(void **state)
{
	(void)state;
	assert_int_equal(status_of(begin_too_many), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_gone_for_longer_than_it_may_is_late),
		cmocka_unit_test(nobody_is_late_when_the_whole_program_did_not_run),
		cmocka_unit_test(
			a_beat_that_comes_late_ends_a_debug_build_and_is_counted_elsewhere),
		cmocka_unit_test(who_ticks_is_watched_as_well),
		cmocka_unit_test(threads_of_one_name_are_told_apart_and_forgotten_when_they_end),
		cmocka_unit_test(there_is_room_for_so_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

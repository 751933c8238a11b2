/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/bpf/call_pace.h"

#include "base/clock.h"
#include "base/err.h"
#include "bpf/shared/heap.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>

#define TRAP_NS 500
#define NR_CYCLES 30

/* A program that allocates, outside of windows, so many times a second, of so many bytes. */
struct program {
	double rate, bytes;
	double call_ns; /* CPU time from one allocation to the next */
	bool waits; /* for work, that comes at this rate: a trap does not make it do less */
	double slow_share; /* of the calls */
};

/* Plays a cycle. Adds what the samples would stand for. */
static struct call_result play(const struct program *program, const struct call_plan *plan,
			       double *stood_for)
{
	double trap_ns = TRAP_NS * (1 + 9 * program->slow_share);
	double slowdown = program->waits ? 1 : program->call_ns / (program->call_ns + trap_ns);
	double window_s = (double)plan->window_ns / NSEC_PER_SEC;
	double cycle_s = (double)plan->cycle_ns / NSEC_PER_SEC;
	double nr = program->rate * slowdown * window_s;
	double outside = program->rate * (cycle_s - window_s) * program->call_ns;
	double inside = nr * (program->call_ns + trap_ns);

	*stood_for += nr * program->bytes * (double)plan->scale / HEAP_SCALE_ONE;
	return (struct call_result){
		.cycle_ns = plan->cycle_ns,
		.window_ns = plan->window_ns,
		.nr_calls = (uint64_t)nr,
		.nr_slow = (uint64_t)(nr * program->slow_share),
		.bytes = (uint64_t)(nr * program->bytes),
		.cpu_cycle_ns = (uint64_t)(inside + outside),
		.cpu_window_ns = (uint64_t)inside,
	};
}

struct outcome {
	struct call_plan plan; /* the last one */
	double share; /* of what was allocated, without the first cycles */
	double traps; /* their share of a CPU */
};

static struct outcome play_all(const struct program *program)
{
	struct call_pace pace;
	struct outcome outcome = { .plan = call_pace_begin(&pace, TRAP_NS) };
	double stood_for = 0, allocated = 0, traps_ns = 0, time_ns = 0, ignored = 0;

	for (int i = 0; i < NR_CYCLES; i++) {
		bool counts = i >= 3;
		const struct call_plan plan = outcome.plan;
		struct call_result result = play(program, &plan, counts ? &stood_for : &ignored);

		if (counts) {
			allocated += program->rate * program->bytes * (double)plan.cycle_ns /
				     NSEC_PER_SEC;
			traps_ns += TRAP_NS *
				    ((double)result.nr_calls + 9.0 * (double)result.nr_slow);
			time_ns += (double)plan.cycle_ns;
		}
		outcome.plan = call_pace_next(&pace, &result);
	}
	outcome.share = allocated > 0 ? stood_for / allocated : 0;
	outcome.traps = traps_ns / time_ns;
	return outcome;
}

static void few_calls_are_always_looked_at(void **state)
{
	(void)state;
	const struct program program = { .rate = 5000, .bytes = 4096, .call_ns = 20000 };
	struct outcome outcome = play_all(&program);

	assert_true(call_plan_is_always(&outcome.plan));
	assert_int_equal(outcome.plan.scale, HEAP_SCALE_ONE);
	assert_true(outcome.traps < 0.01);
	/* 5000 calls a second, 200 stacks */
	assert_in_range(outcome.plan.mean_bytes, 25 * 4096 - 4096, 25 * 4096 + 4096);
}

static void a_program_without_calls_costs_nothing(void **state)
{
	(void)state;
	const struct program program = { .call_ns = 100 };
	struct outcome outcome = play_all(&program);

	assert_true(call_plan_is_always(&outcome.plan));
	assert_true(outcome.plan.mean_bytes > 0);
}

static void many_calls_take_a_hundredth_of_a_cpu(void **state)
{
	(void)state;
	static const struct program programs[] = {
		{ .rate = 100e3, .bytes = 100, .call_ns = 1000, .waits = true },
		{ .rate = 1e6, .bytes = 64, .call_ns = 1000 },
		{ .rate = 10e6, .bytes = 64, .call_ns = 100 },
		{ .rate = 100e3, .bytes = 100, .call_ns = 1000, .waits = true, .slow_share = 1 },
		{ .rate = 500e6, .bytes = 64, .call_ns = 100, .waits = true }, /* on many CPUs */
	};

	for (size_t i = 0; i < array_len(programs); i++) {
		struct outcome outcome = play_all(&programs[i]);

		assert_false(call_plan_is_always(&outcome.plan));
		assert_in_range(outcome.plan.window_ns, 2 * NSEC_PER_MSEC, NSEC_PER_SEC);
		assert_true(outcome.traps < (i < 4 ? 0.011 : 0.06));
	}
}

static void sums_are_right_whatever_a_program_does(void **state)
{
	(void)state;
	static const struct program programs[] = {
		{ .rate = 5000, .bytes = 4096, .call_ns = 200000 },
		{ .rate = 100e3, .bytes = 100, .call_ns = 1000, .waits = true },
		{ .rate = 300e3, .bytes = 100, .call_ns = 200, .waits = true },
		{ .rate = 1e6, .bytes = 64, .call_ns = 1000 },
		{ .rate = 5e6, .bytes = 64, .call_ns = 200 },
		{ .rate = 4e6, .bytes = 64, .call_ns = 1000 }, /* on four CPUs */
	};

	for (size_t i = 0; i < array_len(programs); i++)
		assert_true(fabs(play_all(&programs[i]).share - 1) < 0.02);
}

/* The processes have ended, or their CPU time cannot be read. */
static void odd_results_do_no_harm(void **state)
{
	(void)state;
	static const struct call_result results[] = {
		{ .cycle_ns = NSEC_PER_SEC,
		  .window_ns = 2 * NSEC_PER_MSEC,
		  .nr_calls = 1000000,
		  .bytes = UINT64_MAX },
		{ .cycle_ns = NSEC_PER_SEC,
		  .window_ns = 2 * NSEC_PER_MSEC,
		  .nr_calls = UINT64_MAX,
		  .nr_slow = UINT64_MAX },
		{ .cycle_ns = NSEC_PER_SEC,
		  .window_ns = 2 * NSEC_PER_MSEC,
		  .nr_calls = 1000,
		  .cpu_window_ns = UINT64_MAX },
		{ .cycle_ns = 1, .window_ns = 1, .cpu_cycle_ns = UINT64_MAX },
	};

	for (size_t i = 0; i < array_len(results); i++) {
		struct call_pace pace;

		(void)call_pace_begin(&pace, TRAP_NS);
		struct call_plan plan = call_pace_next(&pace, &results[i]);
		assert_in_range(plan.window_ns, 2 * NSEC_PER_MSEC, plan.cycle_ns);
		assert_in_range(plan.cycle_ns, NSEC_PER_SEC, 10 * NSEC_PER_SEC);
		assert_in_range(plan.scale, HEAP_SCALE_ONE, HEAP_MAX_SCALE);
		assert_in_range(plan.mean_bytes, 1, UINT64_C(1) << 30);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_calls_are_always_looked_at),
		cmocka_unit_test(a_program_without_calls_costs_nothing),
		cmocka_unit_test(many_calls_take_a_hundredth_of_a_cpu),
		cmocka_unit_test(sums_are_right_whatever_a_program_does),
		cmocka_unit_test(odd_results_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

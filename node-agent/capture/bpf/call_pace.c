/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/bpf/call_pace.h"

#include "base/clock.h"
#include "base/minmax.h"
#include "bpf/shared/heap.h"

#include <math.h>

#define BUDGET 0.01 /* CPUs */
#define SLOW_FACTOR 10 /* a slow call takes as many times as long as another one */
#define CYCLE_NS NSEC_PER_SEC
#define LONGEST_CYCLE_NS (10 * NSEC_PER_SEC)
#define SHORTEST_WINDOW_NS (2 * NSEC_PER_MSEC)
#define FIRST_CYCLE_NS (100 * NSEC_PER_MSEC)
#define FIRST_MEAN_BYTES (UINT64_C(1) << 16)
#define LEAST_MEAN_BYTES 64
#define MOST_MEAN_BYTES (UINT64_C(1) << 30)
#define STACKS_PER_S 200
#define MAX_GROWTH 4 /* of the windows' share, from one cycle to the next */
#define FADING 0.8
/* Of the CPU time in windows: if the traps take more, it matters that the program was slower. */
#define NOTABLE_TRAPS 0.05
#define LEAST_WORK 0.05 /* of the CPU time in windows */
#define MAX_CORRECTION 16

static double trap_time(const struct call_pace *pace, const struct call_result *result)
{
	uint64_t nr = result->nr_calls + (SLOW_FACTOR - 1) * result->nr_slow;

	return (double)nr * (double)pace->trap_ns + (double)result->stacks_ns;
}

static void fade(double *sum, double value)
{
	*sum = FADING * *sum + value;
}

static void add(struct call_pace *pace, const struct call_result *result)
{
	fade(&pace->cycles_ns, (double)result->cycle_ns);
	fade(&pace->windows_ns, (double)result->window_ns);
	fade(&pace->traps_ns, trap_time(pace, result));
	fade(&pace->bytes, (double)result->bytes);
	fade(&pace->cpu_cycles_ns, (double)result->cpu_cycle_ns);
	fade(&pace->cpu_windows_ns, (double)result->cpu_window_ns);
}

/* Returns which share of the time windows may take, by the last window and by all of them. */
static double find_duty(const struct call_pace *pace, const struct call_result *result)
{
	double last = trap_time(pace, result) / (double)result->window_ns;
	double density = fmax(last, pace->traps_ns / pace->windows_ns);
	double duty = density > BUDGET ? BUDGET / density : 1;

	return fmin(duty, MAX_GROWTH * pace->duty);
}

/* Returns how much CPU time the traps took. If the programs used more in windows than outside, as
 * those do that wait for work, it was at least the difference. */
static double find_traps(const struct call_pace *pace)
{
	double outside_ns = pace->cycles_ns - pace->windows_ns;
	double cpu_outside = pace->cpu_cycles_ns - pace->cpu_windows_ns;

	if (outside_ns <= 0)
		return pace->traps_ns;
	return fmax(pace->traps_ns,
		    pace->cpu_windows_ns - cpu_outside / outside_ns * pace->windows_ns);
}

/* Returns how many times as much the programs did in the same time outside windows. */
static double find_correction(const struct call_pace *pace)
{
	double traps_ns = find_traps(pace);
	double in_windows = fmax(pace->cpu_windows_ns - traps_ns,
				 LEAST_WORK * pace->cpu_windows_ns);
	double in_all = pace->cpu_cycles_ns - traps_ns;

	if (traps_ns < NOTABLE_TRAPS * pace->cpu_windows_ns || in_windows <= 0)
		return 1;
	double correction = in_all / pace->cycles_ns / (in_windows / pace->windows_ns);
	return fmin(fmax(correction, 1), MAX_CORRECTION);
}

static uint64_t find_mean(const struct call_pace *pace, const struct call_plan *plan)
{
	double bytes = pace->bytes / pace->windows_ns * (double)plan->window_ns;
	double stacks = STACKS_PER_S * (double)plan->cycle_ns / (double)NSEC_PER_SEC;
	double mean = fmin(bytes / stacks, (double)MOST_MEAN_BYTES);

	return max_u64((uint64_t)mean, LEAST_MEAN_BYTES);
}

struct call_plan call_pace_begin(struct call_pace *pace, uint64_t trap_ns)
{
	*pace = (struct call_pace){
		.trap_ns = trap_ns,
		.duty = (double)SHORTEST_WINDOW_NS / (double)FIRST_CYCLE_NS,
	};
	return (struct call_plan){
		.cycle_ns = FIRST_CYCLE_NS,
		.window_ns = SHORTEST_WINDOW_NS,
		.mean_bytes = FIRST_MEAN_BYTES,
		.scale = HEAP_SCALE_ONE * FIRST_CYCLE_NS / SHORTEST_WINDOW_NS,
	};
}

struct call_plan call_pace_next(struct call_pace *pace, const struct call_result *result)
{
	struct call_plan plan = { .cycle_ns = CYCLE_NS };

	add(pace, result);
	pace->duty = find_duty(pace, result);
	plan.window_ns = (uint64_t)(pace->duty * (double)plan.cycle_ns);
	if (plan.window_ns < SHORTEST_WINDOW_NS) {
		plan.window_ns = SHORTEST_WINDOW_NS;
		plan.cycle_ns = (uint64_t)fmin((double)SHORTEST_WINDOW_NS / pace->duty,
					       (double)LONGEST_CYCLE_NS);
	}
	plan.mean_bytes = find_mean(pace, &plan);
	plan.scale = HEAP_SCALE_ONE;
	if (!call_plan_is_always(&plan)) {
		double scale = find_correction(pace) * HEAP_SCALE_ONE * (double)plan.cycle_ns /
			       (double)plan.window_ns;

		plan.scale = (uint64_t)fmin(scale, HEAP_MAX_SCALE);
	}
	return plan;
}

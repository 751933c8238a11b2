/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/schedule_frames.h"

#include "base/cleanup.h"

/* Tracepoint and BPF program have fewer frames. */
#define TRACING_MAX_FRAMES 12

#define WAITS 1
#define WAKES 2

static const struct kernel_name names[] = {
	{ "__schedule", WAITS },
	{ "schedule", WAITS },
	{ "io_schedule", WAITS },
	{ "io_schedule_timeout", WAITS },
	{ "preempt_schedule", WAITS },
	{ "preempt_schedule_common", WAITS },
	{ "preempt_schedule_irq", WAITS },
	{ "preempt_schedule_notrace", WAITS },
	{ "raw_irqentry_exit_cond_resched", WAITS },
	{ "schedule_hrtimeout", WAITS },
	{ "schedule_hrtimeout_range", WAITS },
	{ "schedule_hrtimeout_range_clock", WAITS },
	{ "schedule_preempt_disabled", WAITS },
	{ "schedule_timeout", WAITS },
	{ "schedule_timeout_idle", WAITS },
	{ "schedule_timeout_interruptible", WAITS },
	{ "schedule_timeout_killable", WAITS },
	{ "schedule_timeout_uninterruptible", WAITS },

	{ "autoremove_wake_function", WAKES },
	{ "default_wake_function", WAKES },
	{ "pollwake", WAKES },
	{ "swake_up_locked", WAKES },
	{ "swake_up_one", WAKES },
	{ "try_to_wake_up", WAKES },
	{ "wake_up_process", WAKES },
	{ "wake_up_q", WAKES },
	{ "wake_up_state", WAKES },
	{ "woken_wake_function", WAKES },
	{ "__wake_up", WAKES },
	{ "__wake_up_common", WAKES },
	{ "__wake_up_common_lock", WAKES },
	{ "__wake_up_sync", WAKES },
	{ "__wake_up_sync_key", WAKES },
};

void schedule_frames_init(struct kernel_ranges *frames, const struct kernel_symbols *symbols)
{
	kernel_ranges_init(frames, symbols, names, array_len(names));
}

static size_t count(const struct kernel_ranges *frames, unsigned int meaning,
		    const __u64 *addresses, size_t nr)
{
	size_t nr_tracing = 0;

	while (nr_tracing < nr && nr_tracing < TRACING_MAX_FRAMES &&
	       kernel_ranges_find(frames, addresses[nr_tracing]) != meaning)
		nr_tracing++;
	size_t count = nr_tracing;
	while (count < nr && kernel_ranges_find(frames, addresses[count]) == meaning)
		count++;
	return count > nr_tracing ? count : 0;
}

size_t schedule_frames_count(const struct kernel_ranges *frames, const __u64 *addresses, size_t nr)
{
	return count(frames, WAITS, addresses, nr);
}

size_t schedule_frames_count_waking(const struct kernel_ranges *frames, const __u64 *addresses,
				    size_t nr)
{
	return count(frames, WAKES, addresses, nr);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/schedule_frames.h"

#include "base/cleanup.h"

#include <stdbool.h>
#include <string.h>

/* Tracepoint and BPF program have fewer frames. */
#define TRACING_MAX_FRAMES 12

static const char *const names[] = {
	"__schedule",
	"schedule",
	"io_schedule",
	"io_schedule_timeout",
	"preempt_schedule",
	"preempt_schedule_common",
	"preempt_schedule_irq",
	"preempt_schedule_notrace",
	"raw_irqentry_exit_cond_resched",
	"schedule_hrtimeout",
	"schedule_hrtimeout_range",
	"schedule_hrtimeout_range_clock",
	"schedule_preempt_disabled",
	"schedule_timeout",
	"schedule_timeout_idle",
	"schedule_timeout_interruptible",
	"schedule_timeout_killable",
	"schedule_timeout_uninterruptible",
};

/* The compiler may have added a suffix: "schedule_timeout.isra.0". */
static bool is_named(const char *name, const char *wanted)
{
	size_t len = strlen(wanted);

	return strncmp(name, wanted, len) == 0 && (name[len] == '\0' || name[len] == '.');
}

static void keep(const char *name, uint64_t start, uint64_t end, void *data)
{
	struct schedule_frames *frames = data;

	for (size_t i = 0; i < array_len(names); i++)
		if (is_named(name, names[i]) && frames->nr < SCHEDULE_FRAMES_MAX_RANGES) {
			frames->ranges[frames->nr++] = (struct schedule_range){ start, end };
			return;
		}
}

void schedule_frames_init(struct schedule_frames *frames, const struct kernel_symbols *symbols)
{
	frames->nr = 0;
	kernel_symbols_each(symbols, keep, frames);
}

static bool is_of_scheduler(const struct schedule_frames *frames, uint64_t address)
{
	for (size_t i = 0; i < frames->nr; i++)
		if (address >= frames->ranges[i].start && address < frames->ranges[i].end)
			return true;
	return false;
}

size_t schedule_frames_count(const struct schedule_frames *frames, const __u64 *addresses,
			     size_t nr)
{
	size_t nr_tracing = 0;

	while (nr_tracing < nr && nr_tracing < TRACING_MAX_FRAMES &&
	       !is_of_scheduler(frames, addresses[nr_tracing]))
		nr_tracing++;
	size_t count = nr_tracing;
	while (count < nr && is_of_scheduler(frames, addresses[count]))
		count++;
	return count > nr_tracing ? count : 0;
}

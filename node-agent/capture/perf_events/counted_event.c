/* SPDX-License-Identifier: Apache-2.0 */
/* The periods give some hundred samples a second on a busy CPU of 2026. They are prime, so that no
 * loop is in step with them. */
#include "capture/perf_events/counted_event.h"

#include "base/cleanup.h"
#include "capture/perf_events/perf_open.h"

#include <string.h>

#define HARDWARE(word_, config_, period_)                                                          \
	{                                                                                          \
		"hw:" word_, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config_, period_                  \
	}
#define SOFTWARE(word_, config_, period_)                                                          \
	{                                                                                          \
		"sw:" word_, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config_, period_                  \
	}

static const struct counted_event events[] = {
	HARDWARE("cycles", CPU_CYCLES, 10000019),
	HARDWARE("instructions", INSTRUCTIONS, 10000019),
	HARDWARE("cache-misses", CACHE_MISSES, 20011),
	HARDWARE("branch-misses", BRANCH_MISSES, 100003),
	SOFTWARE("page-faults", PAGE_FAULTS, 101),
	SOFTWARE("major-faults", PAGE_FAULTS_MAJ, 1),
	SOFTWARE("context-switches", CONTEXT_SWITCHES, 101),
	SOFTWARE("migrations", CPU_MIGRATIONS, 1),
};

const struct counted_event *counted_event_find(const char *word)
{
	for (size_t i = 0; i < array_len(events); i++)
		if (strcmp(events[i].word, word) == 0)
			return &events[i];
	return NULL;
}

const char *counted_event_name(const struct counted_event *event)
{
	return strchr(event->word, ':') + 1;
}

/* An event that does not occur looks like one of a CPU that is offline, but for the time. */
struct perf_event_attr counted_event_attr(const struct counted_event *event, uint64_t period)
{
	return (struct perf_event_attr){
		.type = event->type,
		.config = event->config,
		.sample_period = period,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
	};
}

int counted_event_try(const struct counted_event *event)
{
	struct perf_event_attr attr = counted_event_attr(event, event->period);
	_cleanup_close_ int fd = perf_open(&attr, -1, 0);

	if (fd < 0)
		return counted_event_is_lacking(fd) ? -ENOENT : fd;
	return 0;
}

bool counted_event_is_lacking(int error)
{
	return error == -ENOENT || error == -EOPNOTSUPP;
}

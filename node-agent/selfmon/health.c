/* SPDX-License-Identifier: Apache-2.0 */
#include "selfmon/health.h"

#include <stddef.h>

void health_init(struct health *health, uint64_t now_ns)
{
	*health = (struct health){ .start_ns = now_ns };
}

/* The symbolizer makes progress if it has finished a window, or if no window was
 * closed since the last time. */
void health_beat(struct health *health, const struct health_beat *beat)
{
	if (beat->nr_finished != health->nr_finished ||
	    beat->nr_windows == health->nr_windows_then || health->beat_ns == 0) {
		health->finished_ns = beat->time_ns;
		health->nr_windows_then = beat->nr_windows;
	}
	if (health->beat_ns == 0)
		health->first_beat_ns = beat->time_ns;
	health->nr_finished = beat->nr_finished;
	health->missing = beat->missing;
	health->beat_ns = beat->time_ns;
}

void health_stopping(struct health *health)
{
	health->is_stopping = true;
}

static bool is_older(uint64_t time_ns, uint64_t max_ns, uint64_t now_ns)
{
	return now_ns > time_ns && now_ns - time_ns > max_ns;
}

const char *health_problem(const struct health *health, uint64_t now_ns)
{
	if (health->is_stopping)
		return NULL;
	if (health->beat_ns == 0)
		return is_older(health->start_ns, HEALTH_START_MAX_NS, now_ns)
			       ? "sampling has not started within a minute"
			       : NULL;
	if (is_older(health->beat_ns, HEALTH_BEAT_MAX_NS, now_ns))
		return "the reader has not taken samples for more than 10 seconds";
	if (is_older(health->finished_ns, HEALTH_WINDOW_MAX_NS, health->beat_ns))
		return "no window of samples was finished for more than a minute";
	return NULL;
}

const char *health_unready(const struct health *health, uint64_t now_ns)
{
	if (health->is_stopping)
		return "stopping";
	if (health->beat_ns == 0)
		return "starting";

	const char *problem = health_problem(health, now_ns);
	if (problem || is_older(health->first_beat_ns, HEALTH_MISSING_MAX_NS, now_ns))
		return problem;
	return health->missing;
}

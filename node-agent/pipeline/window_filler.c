/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/window_filler.h"

#include "base/cleanup.h"
#include "pipeline/blocks.h"
#include "pipeline/locate.h"
#include "pipeline/sampled_process.h"
#include "pipeline/wakers.h"

void window_filler_close(struct window_filler *filler, struct window_series *series)
{
	struct window *window = take_ptr(series->window);

	if (!window)
		return;
	filler->nr_windows++;
	series->last_end_ns = window->end_ns;
	symbolizer_thread_push(filler->symbolizer, window);
}

struct window *window_filler_window(struct window_filler *filler, struct window_series *series,
				    uint64_t time_ns)
{
	if (series->window && time_ns >= series->window->end_ns)
		window_filler_close(filler, series);
	if (!series->window && window_series_open(series, time_ns) < 0)
		return NULL;
	return series->window;
}

static int locate(struct locator *locator, const struct window_sample *sample, uint32_t *ret_stack)
{
	struct locate_tip tip = { .cause = sample->cause, .root = sample->root };
	char name[WAKER_NAME_BYTES];

	if (!sample->waker && !sample->cause && !sample->root)
		return locate_stack(locator, sample->event, ret_stack);
	if (sample->waker) {
		wakers_name(sample->waker->waker, sample->waker->event, name);
		tip.waker = sample->waker->event;
		tip.waker_name = name;
	}
	return locate_waiting_stack(locator, sample->event, &tip, ret_stack);
}

static int add_to_window(const struct window_filler *filler, struct window *window,
			 const struct window_sample *sample)
{
	const struct sample_event *event = sample->event;
	struct locator locator = {
		.processes = filler->processes,
		.elfs = filler->elfs,
		.jits = filler->jits,
		.runtimes = filler->runtimes,
		.window = window,
		.owner = event->cgroup_id,
	};
	bool is_of_cpu = event->kind == RECORD_INTERRUPT ||
			 (event->kind == RECORD_TIMER && sample->reason == REASON_NONE);
	struct profile_sample row = {
		.cgroup_id = event->cgroup_id,
		.time_ns = filler->keeps_times ? event->time_ns : 0,
		.pid = event->pid,
		.tid = event->tid,
		.cpu = is_of_cpu ? event->cpu : PROFILE_CPU_UNKNOWN,
		.reason = sample->reason,
		.count = sample->count,
	};

	int r = window_add_cgroup(window, event->cgroup_id);
	if (r < 0)
		return r;
	if (r > 0)
		identity_see(filler->identity, event->cgroup_id);
	r = locate(&locator, sample, &row.stack);
	if (r == 0)
		r = sampled_process_add(&locator, event, &row);
	if (r < 0)
		return r;
	return builder_add_sample(window->builder, &row);
}

int window_filler_add(struct window_filler *filler, struct window *window,
		      const struct window_sample *sample)
{
	int r = window ? add_to_window(filler, window, sample) : -ENOMEM;

	filler->nr_samples++;
	if (r == 0)
		window->nr_samples++;
	else
		filler->nr_samples_lost++;
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/allocations.h"

#include "base/hash.h"

void allocations_done(struct allocations *allocations)
{
	live_heap_done(&allocations->live);
}

uint64_t allocations_count_objects(const struct sample_event *event)
{
	const uint64_t key[] = { event->time_ns, event->address, event->tid };
	uint64_t rest;

	if (event->alloc_bytes == 0)
		return 1;
	rest = event->grown_bytes % event->alloc_bytes;
	return event->grown_bytes / event->alloc_bytes +
	       ((double)hash_bytes(key, sizeof(key)) / 4294967296.0 * (double)event->alloc_bytes <
		(double)rest);
}

static void add(const struct allocations *allocations, struct window_series *series,
		const struct sample_event *event, uint64_t time_ns, uint64_t count)
{
	const struct window_sample sample = { .event = event, .count = count };
	struct window *window;

	if (!series || count == 0)
		return;
	window = window_filler_window(allocations->filler, series, time_ns);
	if (window_filler_add(allocations->filler, window, &sample) == 0)
		window_count_time(window, time_ns);
}

void allocations_add(struct allocations *allocations, const struct sample_event *event)
{
	add(allocations, allocations->bytes, event, event->time_ns, event->grown_bytes);
	add(allocations, allocations->objects, event, event->time_ns,
	    allocations_count_objects(event));
	if ((allocations->bytes_in_use || allocations->objects_in_use) &&
	    live_heap_add(&allocations->live, event) < 0)
		allocations->nr_lost++;
}

void allocations_free(struct allocations *allocations, const struct sample_event *event)
{
	live_heap_remove(&allocations->live, event);
}

static void tell_in_use(const struct sample_event *event, void *data)
{
	const struct allocations *allocations = data;

	add(allocations, allocations->bytes_in_use, event, allocations->now_ns, event->grown_bytes);
	add(allocations, allocations->objects_in_use, event, allocations->now_ns,
	    allocations_count_objects(event));
}

static void drop(const struct sample_event *event, void *data)
{
	(void)event, (void)data;
}

/* What a program had before it became another one is of no interest. */
void allocations_follow(struct allocations *allocations, const struct proc_event *event)
{
	allocations->now_ns = event->time_ns;
	if (event->kind == PROC_EXIT)
		live_heap_take(&allocations->live, event->pid, tell_in_use, allocations);
	else if (event->kind == PROC_EXEC)
		live_heap_take(&allocations->live, event->pid, drop, allocations);
}

void allocations_close(struct allocations *allocations, uint64_t now_ns)
{
	allocations->now_ns = now_ns;
	live_heap_take(&allocations->live, 0, tell_in_use, allocations);
}

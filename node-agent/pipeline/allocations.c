/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/allocations.h"

#include "base/hash.h"
#include "process/proc_stat.h"

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
	uint64_t nr_objects = allocations_count_objects(event);

	add(allocations, allocations->bytes, event, event->time_ns, event->grown_bytes);
	add(allocations, allocations->objects, event, event->time_ns, nr_objects);
	if ((allocations->bytes_in_use || allocations->objects_in_use) &&
	    live_heap_add(&allocations->live, event, nr_objects) < 0)
		allocations->nr_lost++;
}

void allocations_free(struct allocations *allocations, const struct sample_event *event)
{
	live_heap_remove(&allocations->live, event);
}

/* The code is looked for where it is now: earlier mappings are not known. */
static void report_site(const struct live_site *site, void *data)
{
	const struct allocations *allocations = data;
	uint64_t now_ns = allocations->now_ns;

	site->event->time_ns = now_ns;
	add(allocations, allocations->bytes_in_use, site->event, now_ns, site->nr_bytes);
	add(allocations, allocations->objects_in_use, site->event, now_ns, site->nr_objects);
}

static void report(struct allocations *allocations, uint32_t pid, uint64_t now_ns)
{
	allocations->now_ns = now_ns;
	live_heap_visit(&allocations->live, pid, report_site, allocations);
}

/* What a program had before it became another one is of no interest. */
void allocations_follow(struct allocations *allocations, const struct proc_event *event)
{
	if (event->kind != PROC_EXIT && event->kind != PROC_EXEC)
		return;
	if (event->kind == PROC_EXIT && allocations->report_ns == 0)
		report(allocations, event->pid, event->time_ns);
	live_heap_forget(&allocations->live, event->pid);
}

/* Finds the processes whose ends were missed. */
static bool is_gone(uint32_t pid, uint64_t start_ns, void *data)
{
	const struct allocations *allocations = data;

	return proc_stat_verify_start(allocations->proc_fd, pid, start_ns) == -ESRCH;
}

static void end_report(struct allocations *allocations, struct window_series *series)
{
	if (series)
		window_filler_close(allocations->filler, series);
}

void allocations_tick(struct allocations *allocations, uint64_t now_ns)
{
	if (allocations->report_ns == 0 || now_ns < allocations->next_report_ns)
		return;
	allocations->next_report_ns = now_ns + allocations->report_ns;
	live_heap_sweep(&allocations->live, is_gone, allocations);
	report(allocations, 0, now_ns);
	end_report(allocations, allocations->bytes_in_use);
	end_report(allocations, allocations->objects_in_use);
}

void allocations_close(struct allocations *allocations, uint64_t now_ns)
{
	if (allocations->report_ns == 0)
		report(allocations, 0, now_ns);
}

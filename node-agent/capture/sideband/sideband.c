/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/sideband/sideband.h"

#include "base/array.h"
#include "base/clock.h"
#include "capture/perf_events/perf_clock.h"
#include "capture/perf_events/perf_open.h"
#include "capture/perf_events/perf_ring.h"
#include "capture/sideband/sideband_event.h"

#include <string.h>

#define MAX_CPUS 8192

struct cpu_ring {
	unsigned int cpu;
	struct perf_ring ring;
};

struct pending_event {
	struct proc_event event;
	char *path; /* owned; NULL without one */
	uint64_t number; /* keeps records of equal time in the order in which they were read */
};

struct sideband {
	struct perf_event_attr attr; /* as far as the kernel knows it, once an event is open */
	struct perf_clock clock;
	uint32_t own_pid;
	struct perf_ring_size ring_size;
	struct cpu_ring *rings; /* owned */
	size_t nr_rings;
	size_t cap_rings;
	struct pending_event *pending; /* owned; by time after a collection */
	size_t first_pending; /* those before it were popped */
	size_t nr_pending; /* end of the array in use */
	size_t cap_pending;
	uint64_t collected_until_ns;
	uint64_t next_number;
	struct sideband_stats stats;
	uint8_t scratch[PERF_RING_MAX_RECORD_BYTES];
};

/* Returns the index of a CPU's ring, or nr_rings if it has none. */
static size_t find_ring(const struct sideband *sideband, unsigned int cpu)
{
	size_t i = 0;

	while (i < sideband->nr_rings && sideband->rings[i].cpu != cpu)
		i++;
	return i;
}

int sideband_add_cpu(struct sideband *sideband, unsigned int cpu)
{
	const struct perf_ring_target target = { .pid = -1, .cpu = (int)cpu };

	if (find_ring(sideband, cpu) < sideband->nr_rings)
		return 0;
	int r = array_grow(sideband->rings, sideband->cap_rings, sideband->nr_rings + 1, MAX_CPUS);
	if (r < 0)
		return r;
	struct cpu_ring *added = &sideband->rings[sideband->nr_rings];
	r = perf_ring_open(&sideband->attr, &target, &sideband->ring_size, &added->ring);
	if (r < 0)
		return r;
	added->cpu = cpu;
	sideband->nr_rings++;
	return 0;
}

static int add_online_cpus(struct sideband *sideband)
{
	unsigned int nr_cpus = (unsigned int)sysconf(_SC_NPROCESSORS_CONF);

	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
		int r = sideband_add_cpu(sideband, cpu);

		if (r < 0 && r != -ENODEV)
			return r;
	}
	return sideband->nr_rings > 0 ? 0 : -ENODEV;
}

int sideband_open(size_t ring_bytes, struct sideband **ret_sideband)
{
	_cleanup_(sideband_closep) struct sideband *sideband = calloc(1, sizeof(*sideband));

	if (!sideband)
		return -ENOMEM;
	sideband->attr = perf_open_tasks_attr(PERF_LAYOUT_TIME);
	sideband->attr.mmap = 1;
	sideband->attr.mmap2 = 1;
	sideband->attr.ksymbol = 1;
	sideband->own_pid = (uint32_t)getpid();
	sideband->ring_size = (struct perf_ring_size){ .bytes = perf_ring_round_bytes(ring_bytes),
						       .min_bytes = perf_ring_round_bytes(1) };
	int r = add_online_cpus(sideband);
	if (r == 0)
		r = perf_clock_open(&sideband->clock, &sideband->attr);
	if (r < 0)
		return r;
	*ret_sideband = take_ptr(sideband);
	return 0;
}

size_t sideband_ring_bytes(const struct sideband *sideband)
{
	return sideband->ring_size.bytes + (size_t)sysconf(_SC_PAGESIZE);
}

void sideband_close(struct sideband *sideband)
{
	if (!sideband)
		return;
	for (size_t i = 0; i < sideband->nr_rings; i++)
		perf_ring_close(&sideband->rings[i].ring);
	perf_clock_close(&sideband->clock);
	for (size_t i = sideband->first_pending; i < sideband->nr_pending; i++)
		free(sideband->pending[i].path);
	free(sideband->rings);
	free(sideband->pending);
	free(sideband);
}

static int add_pending(struct sideband *sideband, const struct proc_event *event)
{
	int r = array_grow(sideband->pending, sideband->cap_pending, sideband->nr_pending + 1,
			   SIDEBAND_MAX_PENDING);
	if (r < 0)
		return r;

	struct pending_event *added = &sideband->pending[sideband->nr_pending];
	*added = (struct pending_event){ .event = *event, .number = sideband->next_number };
	if (event->path) {
		added->path = strdup(event->path);
		if (!added->path)
			return -ENOMEM;
		added->event.path = added->path;
	}
	sideband->nr_pending++;
	sideband->next_number++;
	return 0;
}

/* Returns whether the event is no exec but a record that perf_clock.h made to compare clocks. */
static bool is_by_clock(const struct sideband *sideband, const struct proc_event *event)
{
	return sideband->clock.is_open && event->kind == PROC_EXEC &&
	       event->pid == sideband->own_pid;
}

static void handle_record(struct sideband *sideband, const void *bytes, size_t len)
{
	struct perf_record record;
	struct proc_event event;

	if (perf_record_parse(bytes, len, &sideband->attr, &record) < 0) {
		sideband->stats.nr_bad_records++;
		return;
	}
	sideband->stats.nr_lost += record.nr_lost;
	if (!sideband_event_read(&record, sideband->attr.comm_exec, &event) ||
	    is_by_clock(sideband, &event))
		return;
	event.time_ns = perf_clock_to_mono_ns(&sideband->clock, event.time_ns);
	sideband->stats.nr_events++;
	if (add_pending(sideband, &event) < 0)
		sideband->stats.nr_dropped++;
}

static void read_ring(struct sideband *sideband, struct perf_ring *ring)
{
	const void *record;
	size_t len;
	int r;

	perf_ring_begin(ring);
	while ((r = perf_ring_next(ring, sideband->scratch, &record, &len)) > 0)
		handle_record(sideband, record, len);
	if (r < 0)
		sideband->stats.nr_bad_records++;
}

void sideband_remove_cpu(struct sideband *sideband, unsigned int cpu)
{
	size_t i = find_ring(sideband, cpu);

	if (i == sideband->nr_rings)
		return;
	read_ring(sideband, &sideband->rings[i].ring);
	perf_ring_close(&sideband->rings[i].ring);
	sideband->rings[i] = sideband->rings[--sideband->nr_rings];
}

/* Moves the events that were not popped to the beginning of the array. */
static void compact(struct sideband *sideband)
{
	size_t nr_left = sideband->nr_pending - sideband->first_pending;

	if (nr_left > 0 && sideband->first_pending > 0)
		memmove(sideband->pending, sideband->pending + sideband->first_pending,
			nr_left * sizeof(*sideband->pending));
	sideband->first_pending = 0;
	sideband->nr_pending = nr_left;
}

static int compare_pending(const void *a, const void *b)
{
	const struct pending_event *x = a, *y = b;

	if (x->event.time_ns != y->event.time_ns)
		return x->event.time_ns < y->event.time_ns ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

void sideband_collect(struct sideband *sideband)
{
	uint64_t begin_ns = clock_mono_ns();

	compact(sideband);
	perf_clock_update(&sideband->clock);
	for (size_t i = 0; i < sideband->nr_rings; i++)
		read_ring(sideband, &sideband->rings[i].ring);
	if (sideband->nr_pending > 1)
		qsort(sideband->pending, sideband->nr_pending, sizeof(*sideband->pending),
		      compare_pending);
	sideband->collected_until_ns = begin_ns;
}

uint64_t sideband_collected_until_ns(const struct sideband *sideband)
{
	return sideband->collected_until_ns;
}

const struct proc_event *sideband_peek(const struct sideband *sideband)
{
	if (sideband->first_pending == sideband->nr_pending)
		return NULL;

	const struct proc_event *event = &sideband->pending[sideband->first_pending].event;
	return event->time_ns <= sideband->collected_until_ns ? event : NULL;
}

void sideband_pop(struct sideband *sideband)
{
	free(sideband->pending[sideband->first_pending].path);
	sideband->first_pending++;
}

struct sideband_stats sideband_get_stats(const struct sideband *sideband)
{
	return sideband->stats;
}

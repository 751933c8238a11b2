/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/lock_waits.h"

#include "base/log.h"
#include "bpf/shared/off_cpu.h"
#include "pipeline/lock_frames.h"
#include "pipeline/wakers.h"

#include <string.h>

void lock_waits_learn_kernel(struct lock_waits *waits, const struct kernel_symbols *symbols,
			     int proc_fd)
{
	int r = kernel_data_new(proc_fd, "kallsyms", &waits->data);

	if (r < 0)
		log_debug_errno(r, "cannot read the names of the kernel's variables");
	lock_frames_init(&waits->frames, symbols);
	wakers_init(&waits->interrupts, symbols);
}

/* Returns what a value of a chosen wait stands for. */
static uint64_t scale(uint64_t value, uint32_t probability)
{
	if (probability == OFF_CPU_CERTAIN || probability == 0)
		return value;
	return (uint64_t)((double)value * OFF_CPU_CERTAIN / probability + 0.5);
}

/* Copies the record, without the frames of who traces. If an interrupt waited, in whatever thread
 * it came, the thread's own frames have nothing to do with it. */
static void cut_frames(struct lock_waits *waits, const struct sample_event *event)
{
	size_t header = offsetof(struct sample_event, frames);
	size_t nr_skipped = lock_frames_count(&waits->frames, event->frames, event->nr_kernel);
	size_t nr = (size_t)event->nr_kernel + event->nr_user - nr_skipped;

	memcpy(&waits->event, event, header);
	memcpy(waits->event.frames, event->frames + nr_skipped, nr * sizeof(event->frames[0]));
	waits->event.nr_kernel = (__u16)(event->nr_kernel - nr_skipped);
	(void)wakers_cut(&waits->interrupts, &waits->event);
}

/* The time of a sample is that of its end, which may be the end of its window. */
static void add(struct lock_waits *waits, struct window_series *series,
		const struct window_sample *sample)
{
	uint64_t time_ns = sample->event->time_ns - 1;
	struct window *window = window_filler_window(waits->filler, series, time_ns);

	if (window_filler_add(waits->filler, window, sample) == 0)
		window_count_time(window, time_ns);
}

void lock_waits_add(struct lock_waits *waits, const struct sample_event *event)
{
	char name[LOCK_NAME_BYTES];
	struct window_sample sample = {
		.event = &waits->event,
		.reason = REASON_KERNEL_LOCK,
		.cause = name,
		.count = scale(event->length_ns, event->probability),
	};

	cut_frames(waits, event);
	lock_frames_name(event, waits->data, name);
	add(waits, waits->delay, &sample);
	if (!waits->contentions)
		return;
	sample.count = scale(1, event->probability);
	add(waits, waits->contentions, &sample);
}

static void add_block(struct lock_waits *waits, struct window_series *series,
		      const struct block *block, const struct block *waker, uint64_t count)
{
	char name[LOCK_NAME_BYTES];
	const struct window_sample sample = {
		.event = block->event,
		.reason = block->event->wait_flags & WAIT_FLAG_LOCK ? REASON_FUTEX : REASON_NONE,
		.waker = waker,
		.cause = name,
		.count = count,
	};

	lock_places_name(&waits->places, block->event, name);
	add(waits, series, &sample);
}

void lock_waits_add_block(struct lock_waits *waits, const struct block *block,
			  const struct block *waker, uint64_t weight_ns)
{
	add_block(waits, waits->delay, block, waker, weight_ns);
}

void lock_waits_count_block(struct lock_waits *waits, const struct block *block,
			    const struct block *waker)
{
	if (waits->contentions)
		add_block(waits, waits->contentions, block, waker,
			  scale(1, block->event->probability));
}

void lock_waits_done(struct lock_waits *waits)
{
	lock_places_done(&waits->places);
	kernel_data_free(waits->data);
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAPTURE_SAMPLE_CONSUMER_H
#define CAPTURE_SAMPLE_CONSUMER_H

#include "bpf/shared/code_copy.h"
#include "bpf/shared/events.h"

#include <stdint.h>

/* The functions that a sample source calls while it is polled. For each sample, in the order of
 * time:
 *
 *	catch_up(time) ─▶ [meet_process(sample)] ─▶ handle(sample) */
struct sample_consumer {
	/* A sample of that time (CLOCK_MONOTONIC) comes next. The consumer applies what happened
	 * to processes before it, and tells the source (sample_source_follow_process()). */
	void (*catch_up)(uint64_t time_ns, void *data);

	/* The source unwinds this sample in user space, and lacks the process or the code at
	 * `ip`. The consumer binds the process in the unwind memory if it can; the source then
	 * unwinds the sample once more. `event` has the frames so far. */
	void (*meet_process)(const struct sample_event *event, uint64_t ip, void *data);

	/* A finished sample; valid during the call. */
	void (*handle)(const struct sample_event *event, void *data);

	/* A copy of a code object, before the first sample that needs it; valid during the call.
	 * It is whole: `nr_line_bytes` are there. NULL: copies are not wanted. */
	void (*take_copy)(const struct code_copy *copy, void *data);

	void *data;
};

#endif

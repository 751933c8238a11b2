/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that finishes windows ("symbolizer"). It waits for pod names, has the symbolizer name
 * all locations, seals the profile and hands it to the sink.
 *
 *	symbolizer_thread_push() ─▶ queue ─▶ resources ─▶ names ─▶ sink
 *	      │ full                   │ some names are missing
 *	      ▼                        ▼
 *	   dropped                held windows, only in a recording
 *
 * Functions are for the reader's thread, unless they say something else. */
#ifndef PIPELINE_SYMBOLIZER_THREAD_H
#define PIPELINE_SYMBOLIZER_THREAD_H

#include "base/cleanup.h"
#include "base/err.h"
#include "pipeline/identity.h"
#include "pipeline/window.h"
#include "profile/profile.h"
#include "runtime/client/runtimes.h"
#include "symbol/elf_cache.h"
#include "symbol/jit/jit_cache.h"
#include "symbol/kernel/kernel_symbols.h"

#include <stdbool.h>
#include <stdint.h>

/* The thread waits this long for pod names after a window's end, and in the first window after the
 * start. The kubelet lists a container's ID 0.5 to 1.4 s after its cgroup was made. */
#define IDENTITY_GRACE_NS (UINT64_C(3) * 1000000000)
#define SYMBOLIZER_MAX_WINDOWS 64 /* in the queue; then the next one is dropped */

/* All borrowed. */
struct symbolizer_thread_opts {
	struct identity *identity;
	struct elf_cache *elfs;
	struct jit_cache *jits;
	struct runtimes *runtimes; /* NULL: their frames have no names */
	struct kernel_symbols *kernel; /* NULL: the kernel's code is named by address */
	const char *program; /* of the symbol worker; NULL: this one */
	uint64_t started_ns; /* when the pipeline was started, by CLOCK_MONOTONIC */
	uint64_t names_wait_ns; /* this and the next two: see struct pipeline_opts */
	uint64_t slow_names_wait_ns;
	uint64_t last_names_wait_ns;
	/* Takes each finished profile, on this thread; the reference stays the thread's. */
	void (*sink)(struct profile *profile, void *data);
	void *sink_data;
};

struct symbolizer_thread_stats {
	/* Because the queue was full, names could not be set, or the thread was abandoned. */
	uint64_t nr_samples_lost;
	/* Windows that delay no others any more; the thread may still hold some. */
	uint64_t nr_windows_finished;
	uint64_t nr_other_waits; /* see struct pipeline_stats */
	uint64_t nr_frames_named;
	uint64_t nr_frames_unnamed;
};

struct symbolizer_thread;

/* Errors: -ENOMEM, -EAGAIN. */
int symbolizer_thread_start(const struct symbolizer_thread_opts *opts,
			    struct symbolizer_thread **ret_thread) must_check;

/* Takes ownership of a window. While SYMBOLIZER_MAX_WINDOWS are in the queue, drops and counts
 * it. */
void symbolizer_thread_push(struct symbolizer_thread *thread, struct window *window);

/* Returns whether the thread was started and not waited for. */
bool symbolizer_thread_is_running(const struct symbolizer_thread *thread);

/* Ends the input: the thread ends after the last window. */
void symbolizer_thread_close(struct symbolizer_thread *thread);

/* From a time on (CLOCK_MONOTONIC) the thread waits for no names, of pods or functions. From any
 * thread. */
void symbolizer_thread_give_up(struct symbolizer_thread *thread, uint64_t when_ns);

/* After symbolizer_thread_close(): waits for the thread up to a time. Returns whether the last
 * profiles have reached the sink. */
bool symbolizer_thread_wait(struct symbolizer_thread *thread, uint64_t until_ns);

/* Gives up a thread that does not end: the sink is not called any more, and the samples that it
 * would have got are lost. Returns their number. Waits while the sink is being called. */
uint64_t symbolizer_thread_abandon(struct symbolizer_thread *thread);

/* Waits for the thread's end if it runs, without a time limit, and frees it. NULL is fine. */
void symbolizer_thread_free(struct symbolizer_thread *thread);
DEFINE_FREEP(struct symbolizer_thread, symbolizer_thread_free)

struct symbolizer_thread_stats symbolizer_thread_get_stats(const struct symbolizer_thread *thread);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Records profiles and vitals in its own thread ("store"), so that a slow disk holds nobody up. The
 * threads "vitals" and "gpu" belong to it. */
#ifndef STORE_STORE_WRITER_H
#define STORE_STORE_WRITER_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "gpu/gpu_thread.h"
#include "profile/profile.h"
#include "store/recorder.h"
#include "vitals/vitals_thread.h"

#include <stdint.h>

struct store_writer;

struct store_writer_opts {
	struct recorder_opts recorder;
	int proc_fd; /* borrowed; where the timeline's vitals are read; negative: nowhere */
	const char *cgroup_root; /* as for cgroup_fs_open() */
	const char *gpu_library; /* borrowed until the end; NULL: no GPUs are read */
	const char *program; /* borrowed until the end; of the GPU worker: see worker_client.h */
};

struct store_writer_stats {
	uint64_t nr_samples_pushed; /* as by stored_nr_samples() */
	uint64_t nr_samples_refused; /* the thread could not keep up */
	uint64_t cpu_ns; /* of the thread */
	struct recorder_stats recorder;
	struct vitals_thread_stats vitals;
	struct gpu_thread_stats gpu;
};

/* Opens the directory and starts the thread; the strings of `opts` may go afterwards. On failure
 * `reterr_msg` says what is wrong. Errors: those of recorder_new() and
 * gpu_thread_start(), -EAGAIN. */
int store_writer_start(const struct store_writer_opts *opts, struct strbuf *reterr_msg,
		       struct store_writer **ret_writer) must_check;

/* Pushes a sealed profile, with a new reference; never blocks. */
void store_writer_push(struct store_writer *writer, struct profile *profile);

/* Writes the rest, and waits until it is written. Later profiles are dropped. */
void store_writer_finish(struct store_writer *writer);

/* Finishes and frees. NULL is fine. */
void store_writer_stop(struct store_writer *writer);
DEFINE_FREEP(struct store_writer, store_writer_stop)

/* For any thread; final after store_writer_finish(). */
struct store_writer_stats store_writer_get_stats(struct store_writer *writer);

#endif

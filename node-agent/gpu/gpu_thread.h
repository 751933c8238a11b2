/* SPDX-License-Identifier: Apache-2.0 */
/* The thread "gpu": has the worker read all GPUs at the end of each second of Unix time, and finds
 * out whose processes use them. A second whose reading fails or is late is left out. */
#ifndef GPU_GPU_THREAD_H
#define GPU_GPU_THREAD_H

#include "base/cleanup.h"
#include "base/err.h"
#include "gpu/gpu_client.h"
#include "gpu/gpu_owners.h"
#include "gpu/gpu_reading.h"

#include <stddef.h>
#include <stdint.h>

#define GPU_THREAD_MAX_SECONDS 16 /* that wait to be taken */

struct gpu_thread;

struct gpu_thread_opts {
	const char *program; /* borrowed; of the worker, see worker_client.h */
	const char *library; /* borrowed; path or name of the library */
	int proc_fd; /* may be closed after the start */
	const char *cgroup_root; /* as for cgroup_fs_open(); the same */
};

/* What was read at the end of a second. */
struct gpu_second {
	uint64_t second; /* Unix time */
	struct gpu_reading *reading; /* owned */
	size_t nr_uses;
	struct gpu_use uses[GPU_OWNERS_MAX_USES];
};

/* NULL is fine. */
void gpu_second_free(struct gpu_second *second);
DEFINE_FREEP(struct gpu_second, gpu_second_free)

struct gpu_thread_stats {
	struct gpu_client_stats client;
	uint64_t nr_missed; /* seconds that nobody took in time */
	uint64_t nr_unknown; /* readings of processes whose cgroup was not found */
	uint64_t nr_devices; /* of the last reading */
};

/* Not thread-safe, like cgroup_fs_open(). Errors: -EAGAIN, -ENOMEM, those of
 * gpu_owners_init(). */
int gpu_thread_start(const struct gpu_thread_opts *opts, struct gpu_thread **ret_thread) must_check;

/* Gives up a reading in progress. NULL is fine. */
void gpu_thread_stop(struct gpu_thread *thread);
DEFINE_FREEP(struct gpu_thread, gpu_thread_stop)

/* Takes the oldest second that was read; NULL: there is none. For any thread. */
struct gpu_second *gpu_thread_take(struct gpu_thread *thread);

struct gpu_thread_stats gpu_thread_get_stats(struct gpu_thread *thread);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The process that loads NVIDIA's library and asks it:
 *
 *	agent: gpu_client ──path of the library──▶ worker: gpu_worker_main()
 *	                  ◀──struct gpu_reading──
 *
 * Unlike other workers, it runs code that is not ours, opens devices, and keeps state: the library
 * stays loaded from one request to the next. It may be killed at any moment. It has no
 * capabilities and no sockets, starts no programs, and writes only to the devices
 * (gpu_files.h). */
#ifndef GPU_GPU_WORKER_H
#define GPU_GPU_WORKER_H

#include "base/err.h"
#include "base/strbuf.h"
#include "worker/worker_channel.h"

#define GPU_WORKER_COMMAND "gpu-worker" /* argv[1] */
#define GPU_WORKER_PATH_BYTES 4096
#define GPU_WORKER_MAX_DATA_BYTES ((size_t)256 << 20) /* limit of its memory (RLIMIT_DATA) */
#define GPU_WORKER_MAX_FDS 1024 /* of descriptors: the library opens several for each device */

/* The command `flamelet gpu-worker`: answers requests until the socket is closed. Returns the exit
 * status. */
int gpu_worker_main(void);

/* Appends the answer to a request of kind 0, whose bytes are the path of the library: a reading.
 * `data` is a struct gpu_devices. Errors: -EINVAL malformed request, -ENOMEM. */
int gpu_worker_answer(struct worker_call *call, struct strbuf *reply, void *data) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the GPU worker (gpu_worker.h), with deadlines. A worker that hangs is killed. After a
 * failure, the next worker is started after a second, and each time after twice as long, up to a
 * minute. Belongs to one thread. */
#ifndef GPU_GPU_CLIENT_H
#define GPU_GPU_CLIENT_H

#include "base/cleanup.h"
#include "base/err.h"
#include "gpu/gpu_reading.h"
#include "worker/worker_client.h"

#include <stdint.h>

#define GPU_CLIENT_READ_NS UINT64_C(3000000000) /* longest time of a reading */
/* The same of a worker's first one: drivers that are not kept loaded take seconds to start. */
#define GPU_CLIENT_OPEN_NS UINT64_C(15000000000)
#define GPU_CLIENT_RETRY_NS UINT64_C(1000000000)
#define GPU_CLIENT_MAX_RETRY_NS UINT64_C(60000000000)

struct gpu_client;

struct gpu_client_stats {
	uint64_t nr_readings; /* that succeeded, of all devices together */
	uint64_t nr_failed; /* the library did not work, the worker died or was too slow */
	uint64_t nr_lost; /* readings of a device that is lost or needs a reset */
	uint64_t nr_device_errors; /* readings of a device that failed otherwise */
	uint64_t nr_dropped; /* devices and processes for which there was no room */
	struct worker_stats worker;
};

/* The strings are borrowed: of the worker (worker_client.h), and of the library. Does not start
 * the worker yet. Errors: -ENOMEM. */
int gpu_client_new(const char *program, const char *library, struct gpu_client **ret_client)
	must_check;

/* Ends the worker. NULL is fine. */
void gpu_client_free(struct gpu_client *client);
DEFINE_FREEP(struct gpu_client, gpu_client_free)

/* Reads all devices. The reading is the caller's to free. At `give_up_ns` (as for
 * worker_client_ask()), it is given up. Errors: -EAGAIN it is too early after a failure;
 * -ECANCELED; -ENOMEM; and, with gpu_client_problem() saying why, -EIO the library does not work,
 * and those of worker_client_ask(). */
int gpu_client_read(struct gpu_client *client, const uint64_t *give_up_ns,
		    struct gpu_reading **ret_reading) must_check;

/* Why the last reading failed; "" if it did not. Borrowed; maybe from the library, so not
 * printable. */
const char *gpu_client_problem(const struct gpu_client *client);

struct gpu_client_stats gpu_client_get_stats(struct gpu_client *client);

#endif

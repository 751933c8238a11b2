/* SPDX-License-Identifier: Apache-2.0 */
/* Reads all GPUs through NVIDIA's library. It runs in the worker (gpu_worker.h) only: the library
 * is not ours, talks to the driver, and may hang. */
#ifndef GPU_GPU_DEVICES_H
#define GPU_GPU_DEVICES_H

#include "base/err.h"
#include "gpu/gpu_reading.h"
#include "gpu/nvml.h"

#include <stdbool.h>
#include <stdint.h>

#define GPU_DEVICES_MAX_SAMPLES 4096 /* of the processes of a device, in one reading */

struct gpu_devices {
	bool is_open;
	struct nvml nvml;
	uint64_t seen_us[GPU_MAX_DEVICES]; /* the newest sample of processes; 0: none yet */
	/* Of the reading in progress: sums and numbers of each process's samples. */
	uint32_t sums[GPU_MAX_PROCESSES], counts[GPU_MAX_PROCESSES];
	struct nvml_process_utilization samples[GPU_DEVICES_MAX_SAMPLES];
	struct nvml_process processes[GPU_MAX_PROCESSES];
};

/* Reads all devices at `now_us` (Unix time). The first call loads the library at that path, or of
 * that name; it stays until the process ends. What goes wrong is in the reading. */
void gpu_devices_read(struct gpu_devices *devices, const char *path, uint64_t now_us,
		      struct gpu_reading *ret_reading);

#endif

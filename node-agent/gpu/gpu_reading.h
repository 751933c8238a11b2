/* SPDX-License-Identifier: Apache-2.0 */
/* What was read of all GPUs at one time, and its bytes on their way from the worker to the
 * agent. */
#ifndef GPU_GPU_READING_H
#define GPU_GPU_READING_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stddef.h>
#include <stdint.h>

#define GPU_MAX_DEVICES 64
#define GPU_MAX_PROCESSES 1024 /* on all devices together */
#define GPU_NAME_BYTES 96
#define GPU_PROBLEM_BYTES 256
#define GPU_READING_MAX_BYTES ((size_t)64 << 10) /* encoded */

#define GPU_HAS_UTILIZATION 1U
#define GPU_HAS_MEMORY 2U

struct gpu_device {
	char name[GPU_NAME_BYTES]; /* "": not known */
	/* The first call that failed (enum nvml_result), or 0. A device that cannot tell something
	 * has not failed. */
	uint32_t error;
	uint32_t has; /* which of the following is known: GPU_HAS_… */
	uint32_t utilization; /* percent of the time in which a kernel ran */
	uint64_t memory_used, memory_total; /* bytes */
};

struct gpu_process {
	uint32_t device; /* index */
	uint32_t pid;
	uint32_t utilization; /* percent of the device's time */
	uint64_t memory; /* bytes on the device; 0: none, or not known */
};

struct gpu_reading {
	char problem[GPU_PROBLEM_BYTES]; /* why there are no devices; "": the library works */
	size_t nr_devices, nr_processes;
	uint64_t nr_dropped; /* devices and processes for which there was no room */
	struct gpu_device devices[GPU_MAX_DEVICES];
	struct gpu_process processes[GPU_MAX_PROCESSES];
};

/* Appends the bytes. Failures are kept in `out`. */
void gpu_reading_encode(const struct gpu_reading *reading, struct strbuf *out);

/* Reads and checks the bytes. Errors: -EBADMSG; the reading is undefined then. */
int gpu_reading_decode(const void *bytes, size_t len, struct gpu_reading *ret_reading) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The part of NVIDIA's management library (NVML) that is used, as its documentation describes the
 * binary interface. Functions whose structures have changed have versions, such as _v2: those here
 * are in all drivers since R450 (2020), or are optional. */
#ifndef GPU_NVML_H
#define GPU_NVML_H

#include <stdint.h>

#define NVML_LIBRARY "libnvidia-ml.so.1"

enum nvml_result {
	NVML_OK = 0,
	NVML_NOT_SUPPORTED = 3, /* by this device, or while it is divided (MIG) */
	NVML_NOT_FOUND = 6, /* nothing ran on the device */
	NVML_INSUFFICIENT_SIZE = 7,
	NVML_GPU_IS_LOST = 15,
	NVML_RESET_REQUIRED = 16,
};

/* Of a process whose memory cannot be told. */
#define NVML_NO_VALUE UINT64_MAX

struct nvml_device; /* opaque */

struct nvml_utilization {
	unsigned int gpu; /* percent of the last sample period in which a kernel ran */
	unsigned int memory; /* the same in which memory was read or written */
};

struct nvml_memory {
	unsigned long long total, free, used; /* bytes */
};

/* The structure of version 1 ends after the memory. */
struct nvml_process {
	unsigned int pid;
	unsigned long long memory; /* bytes, or NVML_NO_VALUE */
	unsigned int gpu_instance, compute_instance;
};
#define NVML_PROCESS_V1_BYTES 16

struct nvml_process_utilization {
	unsigned int pid;
	unsigned long long time_us; /* Unix time */
	unsigned int sm; /* percent of the time since the sample before */
	unsigned int memory, encoder, decoder;
};

typedef int (*nvml_processes_function)(struct nvml_device *device, unsigned int *nr,
				       void *processes);

/* The library's functions, by their names without "nvml". */
struct nvml {
	int (*Init_v2)(void);
	int (*DeviceGetCount_v2)(unsigned int *nr);
	int (*DeviceGetHandleByIndex_v2)(unsigned int index, struct nvml_device **device);
	int (*DeviceGetName)(struct nvml_device *device, char *name, unsigned int size);
	int (*DeviceGetUtilizationRates)(struct nvml_device *device,
					 struct nvml_utilization *utilization);
	int (*DeviceGetMemoryInfo)(struct nvml_device *device, struct nvml_memory *memory);
	/* Optional: NULL in libraries without them. */
	const char *(*ErrorString)(int error);
	int (*DeviceGetProcessUtilization)(struct nvml_device *device,
					   struct nvml_process_utilization *samples,
					   unsigned int *nr, unsigned long long after_us);
	nvml_processes_function DeviceGetComputeRunningProcesses_v3;
	nvml_processes_function DeviceGetComputeRunningProcesses_v2;
	nvml_processes_function DeviceGetComputeRunningProcesses;
	nvml_processes_function DeviceGetGraphicsRunningProcesses_v3;
	nvml_processes_function DeviceGetGraphicsRunningProcesses_v2;
	nvml_processes_function DeviceGetGraphicsRunningProcesses;
};

#endif

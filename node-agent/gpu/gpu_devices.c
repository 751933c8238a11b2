/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/gpu_devices.h"

#include "base/clock.h"
#include "base/minmax.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define PERCENT_MAX 100
#define USEC_PER_SEC (NSEC_PER_SEC / NSEC_PER_USEC)

#define FUNCTION(name, is_required)                                                                \
	{                                                                                          \
		"nvml" #name, offsetof(struct nvml, name), is_required                             \
	}

static const struct {
	const char *symbol;
	size_t offset; /* of the pointer in struct nvml */
	bool is_required;
} functions[] = {
	FUNCTION(Init_v2, true),
	FUNCTION(DeviceGetCount_v2, true),
	FUNCTION(DeviceGetHandleByIndex_v2, true),
	FUNCTION(DeviceGetName, true),
	FUNCTION(DeviceGetUtilizationRates, true),
	FUNCTION(DeviceGetMemoryInfo, true),
	FUNCTION(ErrorString, false),
	FUNCTION(DeviceGetProcessUtilization, false),
	FUNCTION(DeviceGetComputeRunningProcesses_v3, false),
	FUNCTION(DeviceGetComputeRunningProcesses_v2, false),
	FUNCTION(DeviceGetComputeRunningProcesses, false),
	FUNCTION(DeviceGetGraphicsRunningProcesses_v3, false),
	FUNCTION(DeviceGetGraphicsRunningProcesses_v2, false),
	FUNCTION(DeviceGetGraphicsRunningProcesses, false),
};

static void set_problem(struct gpu_reading *reading, const char *what, const char *why)
{
	snprintf(reading->problem, sizeof(reading->problem), "%s%s%s", what, why ? ": " : "",
		 why ? why : "");
}

static int find_functions(struct nvml *nvml, void *library, struct gpu_reading *reading)
{
	for (size_t i = 0; i < array_len(functions); i++) {
		void *address = dlsym(library, functions[i].symbol);

		if (!address && functions[i].is_required) {
			set_problem(reading, "the library lacks a function", functions[i].symbol);
			return -ENOENT;
		}
		memcpy((char *)nvml + functions[i].offset, &address, sizeof(address));
	}
	return 0;
}

static const char *error_text(const struct nvml *nvml, int error)
{
	const char *text = nvml->ErrorString ? nvml->ErrorString(error) : NULL;

	return text ? text : "an error without a name";
}

/* Loads the library and connects to the driver. */
static int open_devices(struct gpu_devices *devices, const char *path, struct gpu_reading *reading)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		set_problem(reading, "cannot load the library", dlerror());
		return -ENOENT;
	}
	int r = find_functions(&devices->nvml, library, reading);
	if (r < 0)
		return r;
	int error = devices->nvml.Init_v2();
	if (error != NVML_OK) {
		set_problem(reading, "the library cannot connect to the driver",
			    error_text(&devices->nvml, error));
		return -EIO;
	}
	devices->is_open = true;
	return 0;
}

static void note_error(struct gpu_device *device, int error)
{
	if (error != NVML_OK && error != NVML_NOT_SUPPORTED && error != NVML_NOT_FOUND &&
	    device->error == 0)
		device->error = (uint32_t)error;
}

static uint32_t percent(uint64_t value)
{
	return (uint32_t)min_u64(value, PERCENT_MAX);
}

static void read_device(const struct nvml *nvml, struct nvml_device *handle,
			struct gpu_device *device)
{
	struct nvml_utilization utilization;
	struct nvml_memory memory;

	int error = nvml->DeviceGetName(handle, device->name, sizeof(device->name));
	device->name[sizeof(device->name) - 1] = '\0';
	note_error(device, error);
	error = nvml->DeviceGetUtilizationRates(handle, &utilization);
	note_error(device, error);
	if (error == NVML_OK) {
		device->has |= GPU_HAS_UTILIZATION;
		device->utilization = percent(utilization.gpu);
	}
	error = nvml->DeviceGetMemoryInfo(handle, &memory);
	note_error(device, error);
	if (error == NVML_OK) {
		device->has |= GPU_HAS_MEMORY;
		device->memory_used = memory.used;
		device->memory_total = memory.total;
	}
}

/* Finds or adds a process of the last device. Returns NULL if there is no room. */
static struct gpu_process *get_process(struct gpu_reading *reading, uint32_t pid)
{
	uint32_t device = (uint32_t)reading->nr_devices - 1;

	for (size_t i = reading->nr_processes; i-- > 0;) {
		struct gpu_process *process = &reading->processes[i];

		if (process->device != device)
			break;
		if (process->pid == pid)
			return process;
	}
	if (reading->nr_processes == GPU_MAX_PROCESSES) {
		reading->nr_dropped++;
		return NULL;
	}
	reading->processes[reading->nr_processes] = (struct gpu_process){ device, pid, 0, 0 };
	return &reading->processes[reading->nr_processes++];
}

/* A process that computes and draws is in both lists with the same memory. */
static void add_memory(struct gpu_reading *reading, uint32_t pid, uint64_t bytes)
{
	struct gpu_process *process = get_process(reading, pid);

	if (process && bytes != NVML_NO_VALUE && bytes > process->memory)
		process->memory = bytes;
}

static void read_processes(struct gpu_devices *devices, struct nvml_device *handle,
			   nvml_processes_function list, size_t bytes_each,
			   struct gpu_reading *reading)
{
	unsigned int nr = GPU_MAX_PROCESSES;
	int error = list(handle, &nr, devices->processes);

	if (error == NVML_INSUFFICIENT_SIZE)
		reading->nr_dropped += nr;
	else
		note_error(&reading->devices[reading->nr_devices - 1], error);
	if (error != NVML_OK)
		return;
	for (size_t i = 0; i < nr && i < GPU_MAX_PROCESSES; i++) {
		struct nvml_process process = { 0 };

		memcpy(&process, (const char *)devices->processes + i * bytes_each, bytes_each);
		add_memory(reading, process.pid, process.memory);
	}
}

static void read_memory(struct gpu_devices *devices, struct nvml_device *handle,
			struct gpu_reading *reading)
{
	const struct nvml *nvml = &devices->nvml;
	const nvml_processes_function lists[][3] = {
		{ nvml->DeviceGetComputeRunningProcesses_v3,
		  nvml->DeviceGetComputeRunningProcesses_v2,
		  nvml->DeviceGetComputeRunningProcesses },
		{ nvml->DeviceGetGraphicsRunningProcesses_v3,
		  nvml->DeviceGetGraphicsRunningProcesses_v2,
		  nvml->DeviceGetGraphicsRunningProcesses },
	};

	for (size_t i = 0; i < array_len(lists); i++) {
		nvml_processes_function newest = lists[i][0] ? lists[i][0] : lists[i][1];

		if (newest)
			read_processes(devices, handle, newest, sizeof(struct nvml_process),
				       reading);
		else if (lists[i][2])
			read_processes(devices, handle, lists[i][2], NVML_PROCESS_V1_BYTES,
				       reading);
	}
}

/* Sums up the samples of each process that are newer than those of the last reading. */
static void add_samples(struct gpu_devices *devices, unsigned int nr, struct gpu_reading *reading)
{
	uint64_t *seen_us = &devices->seen_us[reading->nr_devices - 1];
	uint64_t after_us = *seen_us;

	for (size_t i = 0; i < nr && i < GPU_DEVICES_MAX_SAMPLES; i++) {
		const struct nvml_process_utilization *sample = &devices->samples[i];
		struct gpu_process *process;

		if (sample->time_us <= after_us || !(process = get_process(reading, sample->pid)))
			continue;
		*seen_us = max_u64(*seen_us, sample->time_us);
		devices->sums[process - reading->processes] += percent(sample->sm);
		devices->counts[process - reading->processes]++;
	}
}

static void read_utilization(struct gpu_devices *devices, struct nvml_device *handle,
			     uint64_t now_us, struct gpu_reading *reading)
{
	struct gpu_device *device = &reading->devices[reading->nr_devices - 1];
	uint64_t *seen_us = &devices->seen_us[reading->nr_devices - 1];
	unsigned int nr = GPU_DEVICES_MAX_SAMPLES;

	if (!devices->nvml.DeviceGetProcessUtilization)
		return;
	/* The driver keeps samples of some seconds: those before the first reading are not its. */
	if (*seen_us == 0)
		*seen_us = now_us - USEC_PER_SEC;
	int error = devices->nvml.DeviceGetProcessUtilization(handle, devices->samples, &nr,
							      *seen_us);
	note_error(device, error);
	if (error == NVML_OK)
		add_samples(devices, nr, reading);
}

static void read_index(struct gpu_devices *devices, unsigned int index, uint64_t now_us,
		       struct gpu_reading *reading)
{
	struct gpu_device *device = &reading->devices[reading->nr_devices++];
	struct nvml_device *handle;

	*device = (struct gpu_device){ 0 };
	int error = devices->nvml.DeviceGetHandleByIndex_v2(index, &handle);
	if (error != NVML_OK) {
		device->error = (uint32_t)error;
		return;
	}
	read_device(&devices->nvml, handle, device);
	read_memory(devices, handle, reading);
	read_utilization(devices, handle, now_us, reading);
}

void gpu_devices_read(struct gpu_devices *devices, const char *path, uint64_t now_us,
		      struct gpu_reading *ret_reading)
{
	unsigned int nr = 0;

	memset(ret_reading, 0, sizeof(*ret_reading)); /* too large for the stack */
	if (!devices->is_open && open_devices(devices, path, ret_reading) < 0)
		return;
	int error = devices->nvml.DeviceGetCount_v2(&nr);
	if (error != NVML_OK) {
		set_problem(ret_reading, "the devices cannot be counted",
			    error_text(&devices->nvml, error));
		return;
	}
	memset(devices->sums, 0, sizeof(devices->sums));
	memset(devices->counts, 0, sizeof(devices->counts));
	for (unsigned int i = 0; i < nr && i < GPU_MAX_DEVICES; i++)
		read_index(devices, i, now_us, ret_reading);
	ret_reading->nr_dropped += nr - ret_reading->nr_devices;
	for (size_t i = 0; i < ret_reading->nr_processes; i++)
		if (devices->counts[i] > 0)
			ret_reading->processes[i].utilization = devices->sums[i] /
								devices->counts[i];
}

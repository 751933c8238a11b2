/* SPDX-License-Identifier: Apache-2.0 */
/* Stands for NVIDIA's library, as libnvidia-ml.so.1, where there is no GPU: two devices. Every
 * fifth reading of the second one says that it is lost. The file "control" beside the library has
 * words:
 *
 *	pid N		this process uses both devices
 *	hang		each reading takes ten seconds
 *	unloaded	the driver is not loaded
 *	divided		the devices cannot tell how busy they are, as with MIG
 *	intrude		the first device's name says what the sandbox let through
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "gpu/nvml.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HANG_S 10
#define LOST_EVERY 5
#define DRIVER_NOT_LOADED 9
#define GIBIBYTE (1ULL << 30)
#define NR_DEVICES 2
#define PATH_BYTES 4096

struct nvml_device {
	unsigned int percent, process_percent;
	unsigned long long used, process_used;
};

static struct nvml_device devices[NR_DEVICES] = {
	{ 37, 30, 4 * GIBIBYTE, 3 * GIBIBYTE },
	{ 80, 60, 2 * GIBIBYTE, 1 * GIBIBYTE },
};

static struct {
	unsigned int pid;
	bool hangs, is_unloaded, is_divided, intrudes;
} control;

static unsigned int nr_readings;

/* The library's interface. */
int nvmlInit_v2(void);
const char *nvmlErrorString(int error);
int nvmlDeviceGetCount_v2(unsigned int *nr);
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, struct nvml_device **device);
int nvmlDeviceGetName(struct nvml_device *device, char *name, unsigned int size);
int nvmlDeviceGetUtilizationRates(struct nvml_device *device, struct nvml_utilization *utilization);
int nvmlDeviceGetMemoryInfo(struct nvml_device *device, struct nvml_memory *memory);
int nvmlDeviceGetComputeRunningProcesses_v3(struct nvml_device *device, unsigned int *nr,
					    struct nvml_process *processes);
int nvmlDeviceGetGraphicsRunningProcesses(struct nvml_device *device, unsigned int *nr,
					  void *processes);
int nvmlDeviceGetProcessUtilization(struct nvml_device *device,
				    struct nvml_process_utilization *samples, unsigned int *nr,
				    unsigned long long after_us);

static void take_word(FILE *file, const char *word)
{
	if (strcmp(word, "pid") == 0 && fscanf(file, "%u", &control.pid) != 1)
		control.pid = 0;
	control.hangs |= strcmp(word, "hang") == 0;
	control.is_unloaded |= strcmp(word, "unloaded") == 0;
	control.is_divided |= strcmp(word, "divided") == 0;
	control.intrudes |= strcmp(word, "intrude") == 0;
}

/* Returns a path beside the library. */
static const char *beside(const char *name)
{
	static char path[PATH_BYTES];
	Dl_info info;

	if (dladdr(devices, &info) == 0)
		return "";
	int len = (int)(strrchr(info.dli_fname, '/') - info.dli_fname);
	snprintf(path, sizeof(path), "%.*s/%s", len, info.dli_fname, name);
	return path;
}

static void read_control(void)
{
	FILE *file = fopen(beside("control"), "re");
	char word[16];

	memset(&control, 0, sizeof(control));
	while (file && fscanf(file, "%15s", word) == 1)
		take_word(file, word);
	if (file)
		fclose(file);
}

int nvmlInit_v2(void)
{
	read_control();
	return control.is_unloaded ? DRIVER_NOT_LOADED : NVML_OK;
}

const char *nvmlErrorString(int error)
{
	return error == DRIVER_NOT_LOADED ? "Driver Not Loaded" : "Unknown Error";
}

int nvmlDeviceGetCount_v2(unsigned int *nr)
{
	read_control();
	nr_readings++;
	if (control.hangs)
		sleep(HANG_S);
	*nr = NR_DEVICES;
	return NVML_OK;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, struct nvml_device **device)
{
	*device = &devices[index];
	return NVML_OK;
}

/* Does what a sandbox should not let it do. */
static void intrude(char *name, unsigned int size)
{
	_cleanup_close_ int file = open(beside("made"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	_cleanup_close_ int written = open(beside("control"), O_RDWR | O_CLOEXEC);
	_cleanup_close_ int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	snprintf(name, size, "made%s written%s socket%s child%s", file < 0 ? "-" : "+",
		 written < 0 ? "-" : "+", sock < 0 ? "-" : "+", child < 0 ? "-" : "+");
}

int nvmlDeviceGetName(struct nvml_device *device, char *name, unsigned int size)
{
	if (control.intrudes && device == devices)
		intrude(name, size);
	else
		snprintf(name, size, "Stand-in GPU");
	return NVML_OK;
}

int nvmlDeviceGetUtilizationRates(struct nvml_device *device, struct nvml_utilization *utilization)
{
	if (control.is_divided)
		return NVML_NOT_SUPPORTED;
	if (device == &devices[1] && nr_readings % LOST_EVERY == 0)
		return NVML_GPU_IS_LOST;
	*utilization = (struct nvml_utilization){ device->percent, 0 };
	return NVML_OK;
}

int nvmlDeviceGetMemoryInfo(struct nvml_device *device, struct nvml_memory *memory)
{
	const unsigned long long total = 16 * GIBIBYTE;

	if (device == &devices[1] && nr_readings % LOST_EVERY == 0)
		return NVML_GPU_IS_LOST;
	*memory = (struct nvml_memory){ total, total - device->used, device->used };
	return NVML_OK;
}

int nvmlDeviceGetComputeRunningProcesses_v3(struct nvml_device *device, unsigned int *nr,
					    struct nvml_process *processes)
{
	*nr = control.pid ? 1 : 0;
	if (control.pid)
		processes[0] = (struct nvml_process){ control.pid, device->process_used, UINT32_MAX,
						      UINT32_MAX };
	return NVML_OK;
}

/* Has only the first version, as old drivers do, and processes without a known memory. */
int nvmlDeviceGetGraphicsRunningProcesses(struct nvml_device *device, unsigned int *nr,
					  void *processes)
{
	const struct nvml_process process = { .pid = control.pid, .memory = NVML_NO_VALUE };

	(void)device;
	*nr = control.pid ? 1 : 0;
	if (control.pid)
		memcpy(processes, &process, NVML_PROCESS_V1_BYTES);
	return NVML_OK;
}

/* Two samples in a second, of which the mean is the process's percent, and one that is older. */
int nvmlDeviceGetProcessUtilization(struct nvml_device *device,
				    struct nvml_process_utilization *samples, unsigned int *nr,
				    unsigned long long after_us)
{
	unsigned long long now_us = clock_real_ns() / NSEC_PER_USEC;

	if (!control.pid) {
		*nr = 0;
		return NVML_NOT_FOUND;
	}
	*nr = 3;
	samples[0] = (struct nvml_process_utilization){ control.pid, after_us, 100, 0, 0, 0 };
	samples[1] = (struct nvml_process_utilization){
		control.pid, now_us - 1, device->process_percent - 10, 0, 0, 0
	};
	samples[2] = (struct nvml_process_utilization){
		control.pid, now_us, device->process_percent + 10, 0, 0, 0
	};
	return NVML_OK;
}

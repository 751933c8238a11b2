/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and strings of base/flat.h: problem, devices, processes, dropped. */
#include "gpu/gpu_reading.h"

#include "base/flat.h"

#include <stdio.h>

#define PERCENT_MAX 100
#define PID_MAX (UINT32_C(1) << 22) /* the kernel's PID_MAX_LIMIT */

static void encode_device(const struct gpu_device *device, struct strbuf *out)
{
	flat_put_text(out, device->name);
	flat_put_number(out, device->error);
	flat_put_number(out, device->has);
	flat_put_number(out, device->utilization);
	flat_put_number(out, device->memory_used);
	flat_put_number(out, device->memory_total);
}

static void encode_process(const struct gpu_process *process, struct strbuf *out)
{
	flat_put_number(out, process->device);
	flat_put_number(out, process->pid);
	flat_put_number(out, process->utilization);
	flat_put_number(out, process->memory);
}

void gpu_reading_encode(const struct gpu_reading *reading, struct strbuf *out)
{
	flat_put_text(out, reading->problem);
	flat_put_number(out, reading->nr_devices);
	for (size_t i = 0; i < reading->nr_devices; i++)
		encode_device(&reading->devices[i], out);
	flat_put_number(out, reading->nr_processes);
	for (size_t i = 0; i < reading->nr_processes; i++)
		encode_process(&reading->processes[i], out);
	flat_put_number(out, reading->nr_dropped);
}

static void decode_device(struct flat_reader *reader, struct gpu_device *device)
{
	const char *name = flat_take_text(reader, GPU_NAME_BYTES - 1);

	snprintf(device->name, sizeof(device->name), "%s", name);
	device->error = (uint32_t)flat_take_number(reader, UINT32_MAX);
	device->has = (uint32_t)flat_take_number(reader, GPU_HAS_UTILIZATION | GPU_HAS_MEMORY);
	device->utilization = (uint32_t)flat_take_number(reader, PERCENT_MAX);
	device->memory_used = flat_take_number(reader, UINT64_MAX);
	device->memory_total = flat_take_number(reader, UINT64_MAX);
}

static void decode_process(struct flat_reader *reader, size_t nr_devices,
			   struct gpu_process *process)
{
	process->device = (uint32_t)flat_take_number(reader, nr_devices ? nr_devices - 1 : 0);
	process->pid = (uint32_t)flat_take_number(reader, PID_MAX);
	process->utilization = (uint32_t)flat_take_number(reader, PERCENT_MAX);
	process->memory = flat_take_number(reader, UINT64_MAX);
}

int gpu_reading_decode(const void *bytes, size_t len, struct gpu_reading *ret_reading)
{
	struct flat_reader reader = flat_reader(bytes, len);
	const char *problem = flat_take_text(&reader, GPU_PROBLEM_BYTES - 1);

	snprintf(ret_reading->problem, sizeof(ret_reading->problem), "%s", problem);
	ret_reading->nr_devices = flat_take_number(&reader, GPU_MAX_DEVICES);
	for (size_t i = 0; i < ret_reading->nr_devices; i++)
		decode_device(&reader, &ret_reading->devices[i]);
	ret_reading->nr_processes = flat_take_number(
		&reader, ret_reading->nr_devices ? GPU_MAX_PROCESSES : 0);
	for (size_t i = 0; i < ret_reading->nr_processes; i++)
		decode_process(&reader, ret_reading->nr_devices, &ret_reading->processes[i]);
	ret_reading->nr_dropped = flat_take_number(&reader, UINT64_MAX);
	return flat_reader_finish(&reader);
}

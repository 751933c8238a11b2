/* SPDX-License-Identifier: Apache-2.0 */
/* Tries to read GPUs. */
#include "base/cleanup.h"
#include "base/printable.h"
#include "doctor/doctor.h"
#include "gpu/gpu_client.h"

#include <inttypes.h>
#include <string.h>

#define NAME "GPUs"
#define DETAIL_MAX_BYTES 4096
#define GIBIBYTE ((uint64_t)1 << 30)
#define NO_DEVICE                                                                                  \
	"a container needs the driver's library and devices: with NVIDIA's runtime, set "          \
	"NVIDIA_VISIBLE_DEVICES=all and NVIDIA_DRIVER_CAPABILITIES=utility"
#define FAILING "look at the device with nvidia-smi, and for NVRM in the kernel's log"

static void append_device(const struct gpu_device *device, size_t index, struct strbuf *out)
{
	strbuf_appendf(out, "%s%zu: ", index ? ", " : "", index);
	printable_append(out, device->name[0] ? device->name : "no name");
	if (device->error)
		strbuf_appendf(out, " (NVML error %" PRIu32 ")", device->error);
	else if (!(device->has & GPU_HAS_UTILIZATION))
		strbuf_append_str(out, " (does not tell how busy it is)");
	else
		strbuf_appendf(out, " (%" PRIu32 " %% busy, %" PRIu64 " GiB)", device->utilization,
			       device->memory_total / GIBIBYTE);
}

static void report_devices(const struct gpu_reading *reading, struct doctor_report *report)
{
	_cleanup_(strbuf_done) struct strbuf list = strbuf_with_max(DETAIL_MAX_BYTES);
	bool is_failing = false;

	for (size_t i = 0; i < reading->nr_devices; i++) {
		append_device(&reading->devices[i], i, &list);
		is_failing |= reading->devices[i].error != 0;
	}
	if (reading->nr_devices == 0)
		doctor_report_ok(report, NAME, "the library works and knows no device");
	else
		doctor_report_add(report, is_failing ? FINDING_WARN : FINDING_OK, NAME,
				  is_failing ? FAILING : NULL, "%s", strbuf_str(&list));
}

/* Most machines have none, which is fine unless GPUs are asked for. */
static void report_failure(const struct doctor_host *host, const char *problem,
			   struct doctor_report *report)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(DETAIL_MAX_BYTES);

	printable_append(&text, problem);
	if (host->options->gpu)
		doctor_report_add(report, FINDING_WARN, NAME, NO_DEVICE, "%s", strbuf_str(&text));
	else
		doctor_report_ok(report, NAME, "not available (%s)", strbuf_str(&text));
}

void check_gpu(const struct doctor_host *host, struct doctor_report *report)
{
	_cleanup_(gpu_client_freep) struct gpu_client *client = NULL;
	_cleanup_free_ struct gpu_reading *reading = NULL;

	int r = gpu_client_new(NULL, host->options->gpu_library, &client);
	if (r == 0)
		r = gpu_client_read(client, NULL, &reading);
	if (r == 0)
		report_devices(reading, report);
	else
		report_failure(host, r == -ENOMEM ? strerror(-r) : gpu_client_problem(client),
			       report);
}

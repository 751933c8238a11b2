/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/doctor.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#define DETAIL_MAX_BYTES 1024

static void (*const checks[])(const struct doctor_host *host, struct doctor_report *report) = {
	check_kernel,
	check_btf,
	check_lockdown,
	check_capabilities,
	check_sandbox,
	check_open_files,
	check_memory,
	check_bpf,
	check_tracepoints,
	check_waits,
	check_locks,
	check_growth,
	check_interrupts,
	check_allocations,
	check_perf,
	check_events,
	check_kernel_symbols,
	check_pid_namespace,
	check_cgroups,
	check_configuration,
	check_node_name,
	check_pod_logs,
	check_kubelet,
	check_endpoints,
	check_queue,
	check_caches,
	check_runtimes,
	check_probes,
	check_gpu,
	check_capture_backend,
};

void doctor_add_loss(const struct doctor_host *host, enum backend_set ruled_out,
		     struct doctor_report *report, const char *name, const char *remedy,
		     const char *format, ...)
{
	bool has_other = backend_set_wanted(host->options) & ~ruled_out;
	char detail[DETAIL_MAX_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(detail, sizeof(detail), format, args);
	va_end(args);
	doctor_report_add(report, has_other ? FINDING_WARN : FINDING_FAIL, name, remedy,
			  "%s: this rules out %s", detail, backend_set_words(ruled_out));
}

void doctor_examine(const struct doctor_host *host, struct doctor_report *report)
{
	for (size_t i = 0; i < array_len(checks); i++)
		checks[i](host, report);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/doctor.h"

#include "base/cleanup.h"

static void (*const checks[])(const struct doctor_host *host, struct doctor_report *report) = {
	check_kernel,	       check_btf,	    check_lockdown,	  check_capabilities,
	check_sandbox,	       check_open_files,    check_memory,	  check_bpf,
	check_tracepoints,     check_perf,	    check_kernel_symbols, check_pid_namespace,
	check_cgroups,	       check_configuration, check_node_name,	  check_pod_logs,
	check_kubelet,	       check_endpoints,	    check_queue,	  check_caches,
	check_capture_backend,
};

enum finding_level doctor_level(const struct doctor_host *host, enum backend_set ruled_out)
{
	return backend_set_wanted(host->options) & ~ruled_out ? FINDING_WARN : FINDING_FAIL;
}

void doctor_examine(const struct doctor_host *host, struct doctor_report *report)
{
	for (size_t i = 0; i < array_len(checks); i++)
		checks[i](host, report);
}

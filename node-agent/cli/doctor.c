/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor.h"

#include "base/capabilities.h"
#include "base/cleanup.h"
#include "base/fileio.h"
#include "base/log.h"
#include "cli/commands.h"

#include <sys/utsname.h>
#include <unistd.h>

#define OUTPUT_MAX_BYTES ((size_t)1 << 20)

static void (*const checks[])(const struct doctor_host *host, struct doctor_report *report) = {
	check_kernel,	    check_btf,		 check_lockdown,       check_capabilities,
	check_sandbox,	    check_open_files,	 check_memory,	       check_bpf,
	check_tracepoints,  check_perf,		 check_kernel_symbols, check_pid_namespace,
	check_cgroups,	    check_configuration, check_node_name,      check_pod_logs,
	check_kubelet,	    check_endpoints,	 check_queue,	       check_caches,
	check_capture_path,
};

enum finding_level doctor_level(const struct doctor_host *host, enum capture_paths ruled_out)
{
	return capture_paths_wanted(host->options) & ~ruled_out ? FINDING_WARN : FINDING_FAIL;
}

void doctor_examine(const struct doctor_host *host, struct doctor_report *report)
{
	for (size_t i = 0; i < array_len(checks); i++)
		checks[i](host, report);
}

int doctor_run(const struct options *options,
	       int (*try_capture)(enum capture_paths path, struct strbuf *reterr_msg))
{
	_cleanup_(doctor_report_done) struct doctor_report report = { 0 };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUTPUT_MAX_BYTES);
	struct utsname kernel;

	if (uname(&kernel) < 0) {
		log_error_errno(-errno, "cannot tell the kernel's version");
		return STATUS_FAILED;
	}

	const struct doctor_host host = {
		.proc_dir = "/proc",
		.sys_dir = "/sys",
		.kernel_release = kernel.release,
		.options = options,
		.capabilities = capabilities_effective(),
		.try_capture = try_capture,
	};
	doctor_examine(&host, &report);
	if (options->json)
		doctor_report_append_json(&report, &out);
	else
		doctor_report_append_text(&report, &out);

	int r = report.error < 0 ? report.error : strbuf_error(&out);
	if (r == 0)
		r = fd_write_all(STDOUT_FILENO, out.data, out.len);
	if (r < 0)
		log_error_errno(r, "cannot write the report");
	return r < 0 || doctor_report_count(&report, FINDING_FAIL) > 0 ? STATUS_FAILED : STATUS_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `flamelet doctor`: checks whether this host has everything that profiling needs. */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include "config/options.h"
#include "doctor/doctor_report.h"
#include "privilege/backend_set.h"

#include <stdint.h>

#define DOCTOR_CAPTURE_BACKEND "capture backend"

/* The host that the checks look at; all members are borrowed. */
struct doctor_host {
	const char *proc_dir; /* "/proc" */
	const char *sys_dir; /* "/sys" */
	const char *kernel_release; /* as uname -r prints it */
	const struct options *options;
	uint64_t capabilities; /* the effective set */

	/* Starts the capture backend as the agent does, and stops it. On failure `reterr_msg`
	 * says why, and what to do. */
	int (*try_capture)(enum backend_set backend, struct strbuf *reterr_msg);
};

/* Adds a finding that rules out these capture backends: a failure if the options allow no other
 * backend, else a warning. The detail says which backends. */
void doctor_add_loss(const struct doctor_host *host, enum backend_set ruled_out,
		     struct doctor_report *report, const char *name, const char *remedy,
		     const char *format, ...) printf_like(6, 7);

/* Runs all checks. */
void doctor_examine(const struct doctor_host *host, struct doctor_report *report);

/* The checks. Each adds one finding or more. */
void check_kernel(const struct doctor_host *host, struct doctor_report *report);
void check_btf(const struct doctor_host *host, struct doctor_report *report);
void check_lockdown(const struct doctor_host *host, struct doctor_report *report);
void check_bpf(const struct doctor_host *host, struct doctor_report *report);
void check_tracepoints(const struct doctor_host *host, struct doctor_report *report);
void check_waits(const struct doctor_host *host, struct doctor_report *report);
void check_locks(const struct doctor_host *host, struct doctor_report *report);
void check_growth(const struct doctor_host *host, struct doctor_report *report);
void check_interrupts(const struct doctor_host *host, struct doctor_report *report);
void check_allocations(const struct doctor_host *host, struct doctor_report *report);
void check_perf(const struct doctor_host *host, struct doctor_report *report);
void check_events(const struct doctor_host *host, struct doctor_report *report);
void check_capture_backend(const struct doctor_host *host, struct doctor_report *report);
void check_kernel_symbols(const struct doctor_host *host, struct doctor_report *report);

void check_capabilities(const struct doctor_host *host, struct doctor_report *report);
void check_sandbox(const struct doctor_host *host, struct doctor_report *report);
void check_open_files(const struct doctor_host *host, struct doctor_report *report);
void check_pid_namespace(const struct doctor_host *host, struct doctor_report *report);

void check_runtimes(const struct doctor_host *host, struct doctor_report *report);
void check_probes(const struct doctor_host *host, struct doctor_report *report);
void check_gpu(const struct doctor_host *host, struct doctor_report *report);

void check_memory(const struct doctor_host *host, struct doctor_report *report);
void check_cgroups(const struct doctor_host *host, struct doctor_report *report);

void check_configuration(const struct doctor_host *host, struct doctor_report *report);
void check_node_name(const struct doctor_host *host, struct doctor_report *report);
void check_pod_logs(const struct doctor_host *host, struct doctor_report *report);
void check_kubelet(const struct doctor_host *host, struct doctor_report *report);
void check_endpoints(const struct doctor_host *host, struct doctor_report *report);
void check_queue(const struct doctor_host *host, struct doctor_report *report);
void check_caches(const struct doctor_host *host, struct doctor_report *report);

#endif

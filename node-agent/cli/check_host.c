/* SPDX-License-Identifier: Apache-2.0 */
/* The doctor's look at what the process may do and see: capabilities, processes, cgroups. */
#include "base/cleanup.h"
#include "cli/doctor.h"
#include "cli/privileges.h"
#include "k8s/cgroup_fs.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REMEDY_MAX_BYTES 128

static void add_missing(const struct capability *capability, struct doctor_report *report)
{
	char remedy[REMEDY_MAX_BYTES];

	snprintf(remedy, sizeof(remedy), "run as root; in a pod, %s in capabilities.add",
		 capability->name);
	doctor_report_add(report, capability->is_required ? FINDING_FAIL : FINDING_WARN,
			  "capabilities", remedy, "CAP_%s is missing: %s", capability->name,
			  capability->loss);
}

void check_capabilities(const struct doctor_host *host, struct doctor_report *report)
{
	uint64_t mask;
	bool is_complete = true;

	int r = privileges_read(host->proc_dir, &mask);
	if (r < 0) {
		doctor_report_add(report, FINDING_FAIL, "capabilities", "mount /proc",
				  "%s/self/status: %s", host->proc_dir, strerror(-r));
		return;
	}
	for (size_t i = 0; i < nr_privileges; i++) {
		if (privileges_has(mask, &privileges_table[i]))
			continue;
		add_missing(&privileges_table[i], report);
		is_complete = false;
	}
	if (is_complete)
		doctor_report_add(report, FINDING_OK, "capabilities", NULL, "all there");
}

/* Samples carry the host's process ids; /proc must show the same ones. */
void check_pid_namespace(const struct doctor_host *host, struct doctor_report *report)
{
	char path[PATH_MAX], target[64];

	snprintf(path, sizeof(path), "%s/self/ns/pid", host->proc_dir);
	ssize_t len = readlink(path, target, sizeof(target) - 1);
	if (len < 0) {
		doctor_report_add(report, FINDING_WARN, "process ids", "mount /proc", "%s: %s",
				  path, strerror(errno));
		return;
	}
	target[len] = '\0';
	if (strcmp(target, HOST_PID_NAMESPACE) == 0)
		doctor_report_add(report, FINDING_OK, "process ids", NULL, "the host's");
	else
		doctor_report_add(report, FINDING_WARN, "process ids",
				  "in a pod, hostPID: true; with docker, --pid=host",
				  "not the host's: functions of processes have no names");
}

void check_cgroups(const struct doctor_host *host, struct doctor_report *report)
{
	_cleanup_(cgroup_fs_closep) struct cgroup_fs *fs = NULL;

	int r = cgroup_fs_open(host->options->cgroup_root, &fs);
	if (r == 0)
		doctor_report_add(report, FINDING_OK, "cgroups", NULL, "%s, at %s",
				  cgroup_mode_name(cgroup_fs_mode(fs)), cgroup_fs_root(fs));
	else
		doctor_report_add(report, FINDING_FAIL, "cgroups",
				  "mount the host's /sys/fs/cgroup and name it with --cgroup-root",
				  "%s: %s: samples cannot be attributed to pods",
				  host->options->cgroup_root ? host->options->cgroup_root
							     : "no hierarchy found",
				  strerror(-r));
}

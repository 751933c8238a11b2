/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the privileges and limits of this process: capabilities, sandbox, open files, and whether
 * it sees the host's processes. */
#include "base/capabilities.h"
#include "base/cleanup.h"
#include "base/kernel_file.h"
#include "base/parse.h"
#include "doctor/doctor.h"
#include "privilege/privileges.h"
#include "process/host_pids.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REMEDY_MAX_BYTES 128
#define VALUE_MAX_BYTES 256
#define OPEN_FILES_WANTED 65536

static void add_missing(const struct doctor_host *host, const struct capability *capability,
			struct doctor_report *report)
{
	char remedy[REMEDY_MAX_BYTES];

	snprintf(remedy, sizeof(remedy),
		 "run as root; in a pod, add %s to securityContext.capabilities.add",
		 capability->name);
	if (capability->needed_by == BACKENDS_NONE)
		doctor_report_add(report, FINDING_WARN, "capabilities", remedy,
				  "CAP_%s is missing: %s", capability->name, capability->loss);
	else
		doctor_add_loss(host, capability->needed_by, report, "capabilities", remedy,
				"CAP_%s is missing: %s", capability->name, capability->loss);
}

/* An ordinary user lacks all of them, and one remedy helps. */
static void add_ordinary_user(const struct doctor_host *host, struct doctor_report *report)
{
	_cleanup_(strbuf_done) struct strbuf remedy = strbuf_with_max(VALUE_MAX_BYTES);

	strbuf_append_str(&remedy, "run it with sudo; in a pod, add ");
	for (size_t i = 0; i < nr_privileges; i++)
		strbuf_appendf(&remedy, "%s%s", i > 0 ? ", " : "", privileges_table[i].name);
	strbuf_append_str(&remedy, " to securityContext.capabilities.add");
	doctor_add_loss(host, BACKENDS_ALL, report, "capabilities", strbuf_str(&remedy),
			"none: this user is not root, which is why most checks below fail");
}

void check_capabilities(const struct doctor_host *host, struct doctor_report *report)
{
	bool is_complete = true;

	if (host->capabilities == 0) {
		add_ordinary_user(host, report);
		return;
	}
	for (size_t i = 0; i < nr_privileges; i++) {
		if (capabilities_include(host->capabilities, privileges_table[i].set))
			continue;
		add_missing(host, &privileges_table[i], report);
		is_complete = false;
	}
	if (is_complete)
		doctor_report_ok(report, "capabilities", "all present");
}

/* Checks that /proc shows the host's process ids, because samples have these. */
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
		doctor_report_ok(report, "process ids", "this is the host's PID namespace");
	else
		doctor_report_add(report, FINDING_WARN, "process ids",
				  "in a pod, set hostPID: true; with docker run, --pid=host",
				  "this is not the host's PID namespace: functions of user code "
				  "have no names");
}

/* Appends the words for the number in a line of /proc/self/status, if it has that line. */
static void append_status(const struct doctor_host *host, const char *key,
			  const char *const words[static 3], struct strbuf *out)
{
	_cleanup_(strbuf_done) struct strbuf value = strbuf_with_max(VALUE_MAX_BYTES);
	uint32_t number;

	if (kernel_file_read_line(host->proc_dir, "self/status", key, &value) < 0 ||
	    parse_u32(strbuf_str(&value), &number) < 0 || number > 2)
		return;
	strbuf_appendf(out, "%s%s", out->len > 0 ? ", " : "", words[number]);
}

/* Appends the AppArmor profile and returns whether it is enforced. The default profiles for
 * containers deny reading the memory and maps of processes with other profiles, regardless of
 * capabilities. */
static bool append_apparmor(const struct doctor_host *host, struct strbuf *out)
{
	_cleanup_(strbuf_done) struct strbuf profile = strbuf_with_max(VALUE_MAX_BYTES);

	if (kernel_file_read_line(host->proc_dir, "self/attr/apparmor/current", "", &profile) < 0 ||
	    profile.len == 0)
		return false;
	strbuf_appendf(out, "%sAppArmor %s", out->len > 0 ? ", " : "", strbuf_str(&profile));
	return strstr(strbuf_str(&profile), "(enforce)") != NULL;
}

void check_sandbox(const struct doctor_host *host, struct doctor_report *report)
{
	static const char *const seccomp[] = { "no seccomp filter", "strict seccomp",
					       "a seccomp filter" };
	static const char *const privileges[] = { "no_new_privs is off", "no_new_privs is on", "" };
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(4 * VALUE_MAX_BYTES);

	append_status(host, "Seccomp:", seccomp, &text);
	append_status(host, "NoNewPrivs:", privileges, &text);
	if (append_apparmor(host, &text))
		doctor_report_add(report, FINDING_WARN, "sandbox",
				  "in a pod, set securityContext.appArmorProfile.type: Unconfined",
				  "%s: functions of other processes may have no names",
				  strbuf_str(&text));
	else
		doctor_report_ok(report, "sandbox", "%s",
				 text.len > 0 ? strbuf_str(&text) : "unknown");
}

/* Reads the hard limit, to which the agent raises the soft one; UINT64_MAX for none. */
static int read_open_files_limit(const struct doctor_host *host, uint64_t *ret_limit)
{
	_cleanup_(strbuf_done) struct strbuf value = strbuf_with_max(VALUE_MAX_BYTES);

	int r = kernel_file_read_line(host->proc_dir, "self/limits", "Max open files", &value);
	if (r < 0)
		return r;

	const char *soft_end = strbuf_str(&value) + strcspn(strbuf_str(&value), " ");
	const char *hard = soft_end + strspn(soft_end, " ");
	if (strncmp(hard, "unlimited", strlen("unlimited")) == 0) {
		*ret_limit = UINT64_MAX;
		return 0;
	}
	return parse_digits(&hard, strbuf_str(&value) + value.len, 10, ret_limit);
}

void check_open_files(const struct doctor_host *host, struct doctor_report *report)
{
	uint64_t limit;

	int r = read_open_files_limit(host, &limit);
	if (r < 0)
		doctor_report_add(report, FINDING_WARN, "open files", "mount /proc",
				  "%s/self/limits: %s", host->proc_dir, strerror(-r));
	else if (limit < OPEN_FILES_WANTED)
		doctor_report_add(
			report, FINDING_WARN, "open files",
			"raise the hard limit: LimitNOFILE=65536 in the systemd unit or "
			"the container runtime",
			"limited to %" PRIu64
			": on a machine with many programs, some functions will have no names",
			limit);
	else
		doctor_report_ok(report, "open files", "%s",
				 limit == UINT64_MAX ? "no limit" : "enough");
}

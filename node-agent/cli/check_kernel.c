/* SPDX-License-Identifier: Apache-2.0 */
/* The doctor's look at the kernel: what it is, and whether it lets us do what sampling does. */
#include "base/cleanup.h"
#include "base/parse.h"
#include "cli/doctor.h"
#include "cli/doctor_files.h"
#include "cli/refusal.h"

#include <bpf/bpf.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KERNEL_MAJOR_MIN 5
#define KERNEL_MINOR_MIN 15 /* bpf_task_pt_regs() */
#define KALLSYMS_PROBE_BYTES 65536
#define SMALL_FILE_BYTES 256
#define PROBE_PERIOD_NS 1000000000

/* The value of a file with one number; -1 when it cannot be read. */
static int read_sysctl(const struct doctor_host *host, const char *name)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(SMALL_FILE_BYTES);
	uint64_t value;

	if (doctor_read_head(host->proc_dir, name, &text) < 0)
		return -1;

	const char *digits = strbuf_str(&text);
	if (parse_digits(&digits, digits + text.len, 10, &value) < 0 || value > INT_MAX)
		return -1;
	return (int)value;
}

static int parse_release(const char *release, uint64_t *ret_major, uint64_t *ret_minor)
{
	const char *end = release + strlen(release);

	if (parse_digits(&release, end, 10, ret_major) < 0 || *release != '.')
		return -EBADMSG;
	release++;
	return parse_digits(&release, end, 10, ret_minor) < 0 ? -EBADMSG : 0;
}

void check_kernel(const struct doctor_host *host, struct doctor_report *report)
{
	uint64_t major = 0, minor = 0;

	if (parse_release(host->kernel_release, &major, &minor) < 0)
		doctor_report_add(report, FINDING_WARN, "kernel", NULL,
				  "\"%s\" is no version known here", host->kernel_release);
	else if (major < KERNEL_MAJOR_MIN ||
		 (major == KERNEL_MAJOR_MIN && minor < KERNEL_MINOR_MIN))
		doctor_report_add(report, FINDING_FAIL, "kernel", "boot Linux 5.15 or newer",
				  "%s does not let BPF read the registers of a task",
				  host->kernel_release);
	else
		doctor_report_add(report, FINDING_OK, "kernel", NULL, "%s", host->kernel_release);
}

void check_btf(const struct doctor_host *host, struct doctor_report *report)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/kernel/btf/vmlinux", host->sys_dir);
	if (access(path, R_OK) == 0)
		doctor_report_add(report, FINDING_OK, "kernel types (BTF)", NULL, "%s", path);
	else
		doctor_report_add(report, FINDING_FAIL, "kernel types (BTF)",
				  "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y; in a "
				  "container, mount the host's /sys",
				  "%s: %s", path, strerror(errno));
}

void check_bpf(const struct doctor_host *host, struct doctor_report *report)
{
	_cleanup_close_ int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "flamelet_probe", 0, 0,
						(uint32_t)getpagesize(), NULL);

	if (fd >= 0) {
		doctor_report_add(report, FINDING_OK, "BPF", NULL, "a ring buffer can be made");
		return;
	}
	const struct refusal refusal = refusal_of(host->proc_dir, fd);
	const struct refusal_words words = refusal_explain_bpf(&refusal);
	if (words.cause)
		doctor_report_add(report, FINDING_FAIL, "BPF", words.remedy, "bpf: %s: %s",
				  strerror(-fd), words.cause);
	else
		doctor_report_add(report, FINDING_FAIL, "BPF",
				  "boot a kernel 5.15 or newer with CONFIG_BPF_SYSCALL=y",
				  "no ring buffer can be made: %s", strerror(-fd));
}

/* A CPU timer as the sampler opens it. */
static int open_cpu_timer(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PROBE_PERIOD_NS,
		.disabled = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

void check_perf(const struct doctor_host *host, struct doctor_report *report)
{
	_cleanup_close_ int fd = open_cpu_timer();

	if (fd >= 0) {
		doctor_report_add(report, FINDING_OK, "perf events", NULL,
				  "a CPU timer can be opened");
		return;
	}
	const struct refusal refusal = refusal_of(host->proc_dir, fd);
	const struct refusal_words words = refusal_explain_perf(&refusal);
	if (words.cause)
		doctor_report_add(report, FINDING_FAIL, "perf events", words.remedy,
				  "perf_event_open: %s: %s (kernel.perf_event_paranoid is %d)",
				  strerror(-fd), words.cause, refusal.paranoid);
	else
		doctor_report_add(report, FINDING_FAIL, "perf events",
				  "boot a kernel with CONFIG_PERF_EVENTS=y",
				  "no CPU timer can be opened: %s", strerror(-fd));
}

/* Whether any line "ADDRESS TYPE NAME" has an address that is not 0. */
static bool has_addresses(const char *kallsyms)
{
	for (const char *line = kallsyms; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (line[strspn(line, "0")] != ' ' && strspn(line, "0123456789abcdef") > 0)
			return true;
	}
	return false;
}

void check_kernel_symbols(const struct doctor_host *host, struct doctor_report *report)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(KALLSYMS_PROBE_BYTES);
	int restrict_level = read_sysctl(host, "sys/kernel/kptr_restrict");

	int r = doctor_read_head(host->proc_dir, "kallsyms", &text);
	if (r == 0 && has_addresses(strbuf_str(&text)))
		doctor_report_add(report, FINDING_OK, "kernel symbols", NULL,
				  "/proc/kallsyms has addresses");
	else if (r == 0)
		doctor_report_add(report, FINDING_WARN, "kernel symbols",
				  restrict_level > 1 ? "sysctl kernel.kptr_restrict=1"
						     : "run as root, or add the capability SYSLOG",
				  "addresses are hidden (kptr_restrict %d): kernel functions have "
				  "no names",
				  restrict_level);
	else
		doctor_report_add(report, FINDING_WARN, "kernel symbols",
				  "boot a kernel with CONFIG_KALLSYMS=y",
				  "/proc/kallsyms: %s: kernel functions have no names",
				  strerror(-r));
}

/* Loads a program that does nothing and attaches it for a moment. It is attached as the agent's are, by a
 * descriptor: no tracefs is needed. */
static int try_tracepoint(const char *name)
{
	static const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	_cleanup_close_ int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "flamelet_probe",
					       "GPL", program, array_len(program), NULL);

	if (fd < 0)
		return fd;
	_cleanup_close_ int link_fd = bpf_raw_tracepoint_open(name, fd);
	return link_fd < 0 ? link_fd : 0;
}

void check_tracepoints(const struct doctor_host *host, struct doctor_report *report)
{
	static const struct {
		const char *name;
		const char *loss;
	} tracepoints[] = {
		{ "sched_process_fork", "code of new processes is known late" },
		{ "sched_process_exec", "code of new programs is known late" },
		{ "sched_process_exit", "pids that are used again are mistaken" },
		{ "cgroup_mkdir", "containers that live for moments have no names" },
		{ "cgroup_rmdir", "cgroups that are gone are forgotten late" },
	};
	bool is_complete = true;

	(void)host;
	for (size_t i = 0; i < array_len(tracepoints); i++) {
		int r = try_tracepoint(tracepoints[i].name);
		if (r == 0)
			continue;
		is_complete = false;
		doctor_report_add(
			report, FINDING_FAIL, "tracepoints",
			r == -EPERM ? "run as root, or add the capabilities BPF and PERFMON"
				    : "boot a kernel with CONFIG_TRACEPOINTS=y and "
				      "CONFIG_CGROUPS=y",
			"%s: %s: %s", tracepoints[i].name, strerror(-r), tracepoints[i].loss);
		if (r == -EPERM)
			break;
	}
	if (is_complete)
		doctor_report_add(report, FINDING_OK, "tracepoints", NULL,
				  "processes and cgroups can be followed");
}

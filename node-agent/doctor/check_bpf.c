/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the kernel features that the capture backend bpf needs. The checks do not rely on the
 * kernel's version: they create maps and programs of the kinds that the agent loads, and remove
 * them again. */
#include "base/capabilities.h"
#include "base/cleanup.h"
#include "base/kernel_file.h"
#include "doctor/doctor.h"
#include "privilege/refusal.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define LOCKDOWN_MAX_BYTES 256
#define REMEDY_BPF "boot Linux 5.10 or newer with CONFIG_BPF_SYSCALL=y"
#define BUFFER_BYTES 8

void check_btf(const struct doctor_host *host, struct doctor_report *report)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/kernel/btf/vmlinux", host->sys_dir);
	if (access(path, R_OK) == 0)
		doctor_report_ok(report, "kernel types (BTF)", "found at %s", path);
	else
		doctor_add_loss(host, BACKEND_BPF, report, "kernel types (BTF)",
				"boot a kernel built with CONFIG_DEBUG_INFO_BTF=y; in a "
				"container, mount the host's /sys",
				"%s: %s", path, strerror(errno));
}

/* Checks the kernel's lockdown. The file has all levels, with the current one in brackets: "none
 * [integrity] confidentiality". Only confidentiality keeps BPF from reading memory. All levels
 * allow perf events with the user's stack. */
void check_lockdown(const struct doctor_host *host, struct doctor_report *report)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(LOCKDOWN_MAX_BYTES);

	int r = kernel_file_read_head(host->sys_dir, "kernel/security/lockdown", &text);
	const char *level = r == 0 ? strchr(strbuf_str(&text), '[') : NULL;
	int len = level ? (int)strcspn(level + 1, "]\n") : 0;

	if (!level)
		doctor_report_ok(report, "lockdown", "off (not supported by this kernel)");
	else if (strncmp(level, "[confidentiality]", strlen("[confidentiality]")) == 0)
		doctor_add_loss(host, BACKEND_BPF, report, "lockdown",
				"boot without lockdown=confidentiality",
				"confidentiality: BPF may not read memory");
	else
		doctor_report_ok(report, "lockdown", "%.*s", len, level + 1);
}

static int make_ring_buffer(void)
{
	return bpf_map_create(BPF_MAP_TYPE_RINGBUF, "flamelet_probe", 0, 0, (uint32_t)getpagesize(),
			      NULL);
}

/* Loads a program of the sampler's kind, which a CPU timer can run. Like the sampler, it reads
 * memory of the kernel and of the process: 8 bytes at address 0, which it copies to its stack. */
static int load_sampler(void)
{
#define READ_MEMORY(helper)                                                                        \
	{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10 },      \
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K,                                             \
		  .dst_reg = BPF_REG_1,                                                            \
		  .imm = -BUFFER_BYTES },                                                          \
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K,                                             \
		  .dst_reg = BPF_REG_2,                                                            \
		  .imm = BUFFER_BYTES },                                                           \
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3 },                     \
	{                                                                                          \
		.code = BPF_JMP | BPF_CALL, .imm = (helper)                                        \
	}
	static const struct bpf_insn program[] = {
		READ_MEMORY(BPF_FUNC_probe_read_kernel),
		READ_MEMORY(BPF_FUNC_probe_read_user),
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "flamelet_probe", "GPL", program,
			     array_len(program), NULL);
}

static void add_refused(const struct doctor_host *host, int error, const char *what,
			struct doctor_report *report)
{
	const struct refusal refusal = refusal_of(host->proc_dir, error);
	const struct refusal_words words = refusal_explain_bpf(&refusal);

	doctor_add_loss(host, BACKEND_BPF, report, "BPF", words.cause ? words.remedy : REMEDY_BPF,
			"%s: %s%s%s", what, strerror(-error), words.cause ? ": " : "",
			words.cause ? words.cause : "");
}

void check_bpf(const struct doctor_host *host, struct doctor_report *report)
{
	static const struct {
		int (*make)(void);
		const char *failure;
	} steps[] = {
		{ make_ring_buffer, "no ring buffer can be created" },
		{ load_sampler, "no program that reads memory can be loaded" },
	};

	for (size_t i = 0; i < array_len(steps); i++) {
		_cleanup_close_ int fd = steps[i].make();

		if (fd < 0) {
			add_refused(host, fd, steps[i].failure, report);
			return;
		}
	}
	doctor_report_ok(report, "BPF",
			 "maps can be created, and programs that read memory can be loaded");
}

/* Loads a program that does nothing and attaches it for a moment. Like the agent's programs, it is
 * attached by a descriptor, which does not need tracefs. */
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

struct tracepoint {
	const char *name;
	const char *loss; /* NULL: the capture backend bpf does not work without it */
};

static void add_no_tracepoint(const struct doctor_host *host, const struct tracepoint *tracepoint,
			      int error, struct doctor_report *report)
{
	const char *remedy = error == -EPERM
				     ? "run as root, or add the capabilities BPF and PERFMON"
				     : "boot a kernel with CONFIG_BPF_SYSCALL=y, "
				       "CONFIG_TRACEPOINTS=y and CONFIG_CGROUPS=y";

	if (tracepoint->loss)
		doctor_report_add(report, FINDING_WARN, "tracepoints", remedy, "%s: %s: %s",
				  tracepoint->name, strerror(-error), tracepoint->loss);
	else
		doctor_add_loss(host, BACKEND_BPF, report, "tracepoints", remedy, "%s: %s",
				tracepoint->name, strerror(-error));
}

void check_tracepoints(const struct doctor_host *host, struct doctor_report *report)
{
	static const struct tracepoint tracepoints[] = {
		{ "sched_process_fork", NULL },
		{ "sched_process_exec", NULL },
		{ "sched_process_exit", NULL },
		{ "cgroup_mkdir", "very short-lived containers have no names" },
		{ "cgroup_rmdir", "removed cgroups are forgotten late" },
	};
	bool is_complete = true;

	for (size_t i = 0; i < array_len(tracepoints); i++) {
		int r = try_tracepoint(tracepoints[i].name);
		if (r == 0)
			continue;
		is_complete = false;
		add_no_tracepoint(host, &tracepoints[i], r, report);
		if (r == -EPERM || r == -ENOSYS)
			break;
	}
	if (is_complete)
		doctor_report_ok(report, "tracepoints", "process and cgroup events are available");
}

/* Checks the tracepoint of --kind growth (bpf/shared/growth.h). */
void check_growth(const struct doctor_host *host, struct doctor_report *report)
{
	int r = try_tracepoint("rss_stat");

	(void)host;
	if (r < 0)
		doctor_report_add(report, FINDING_WARN, "growth of memory",
				  "make the capture backend bpf work, as the checks above say",
				  "cannot be recorded: rss_stat: %s", strerror(-r));
	else
		doctor_report_ok(report, "growth of memory", "can be recorded");
}

/* Checks the uprobes of --kind alloc and --kind heap (capture/bpf/heap_links.h). */
void check_allocations(const struct doctor_host *host, struct doctor_report *report)
{
	static const char name[] = "allocations";
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/bus/event_source/devices/uprobe/type", host->sys_dir);
	if (libbpf_find_vmlinux_btf_id("bpf_uprobe_multi_link_attach", BPF_TRACE_FENTRY) > 0)
		doctor_report_ok(report, name, "can be recorded (uprobe_multi)");
	else if (access(path, F_OK) < 0)
		doctor_report_add(report, FINDING_WARN, name,
				  "boot a kernel built with CONFIG_UPROBE_EVENTS=y",
				  "cannot be recorded: this kernel has no uprobes");
	else if (host->capabilities & CAPABILITY(SYS_ADMIN))
		doctor_report_ok(report, name, "can be recorded (uprobes as perf events)");
	else
		doctor_report_add(report, FINDING_WARN, name,
				  "add CAP_SYS_ADMIN, or boot Linux 6.6 or newer",
				  "cannot be recorded: before Linux 6.6, uprobes take "
				  "CAP_SYS_ADMIN");
}

/* Checks the tracepoints of --kind irq (bpf/shared/irq.h). In a real-time kernel, threads handle
 * interrupts. */
void check_interrupts(const struct doctor_host *host, struct doctor_report *report)
{
	char path[PATH_MAX];
	int r = try_tracepoint("softirq_entry");

	snprintf(path, sizeof(path), "%s/kernel/realtime", host->sys_dir);
	if (r < 0)
		doctor_report_add(report, FINDING_WARN, "time in interrupts",
				  "make the capture backend bpf work, as the checks above say",
				  "cannot be recorded: softirq_entry: %s", strerror(-r));
	else if (access(path, F_OK) == 0)
		doctor_report_add(report, FINDING_WARN, "time in interrupts",
				  "look at the CPU time of the threads that handle them",
				  "cannot be recorded: this is a real-time kernel");
	else
		doctor_report_ok(report, "time in interrupts", "can be recorded");
}

/* Checks the tracepoints of --kind offcpu. Without the second one, blocks are chosen by prediction
 * (bpf/shared/off_cpu.h). */
void check_waits(const struct doctor_host *host, struct doctor_report *report)
{
	int r = try_tracepoint("sched_switch");

	(void)host;
	if (r < 0)
		doctor_report_add(report, FINDING_WARN, "off-CPU time",
				  "make the capture backend bpf work, as the checks above say",
				  "cannot be recorded: sched_switch: %s", strerror(-r));
	else if (try_tracepoint("sched_exit_tp") < 0)
		doctor_report_ok(report, "off-CPU time",
				 "can be recorded; rare long waits vary, because this kernel is "
				 "older than 6.15 (no sched_exit_tp)");
	else
		doctor_report_ok(report, "off-CPU time", "can be recorded");
}

/* Checks the tracepoints of --kind lock. */
void check_locks(const struct doctor_host *host, struct doctor_report *report)
{
	(void)host;
	if (try_tracepoint("sched_switch") < 0)
		return; /* check_waits() says so */
	if (try_tracepoint("contention_end") == 0)
		doctor_report_ok(report, "waits for locks", "can be recorded");
	else
		doctor_report_ok(
			report, "waits for locks",
			"those of programs can be recorded, those of the kernel cannot: it "
			"is older than 5.19 (no contention_end)");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Checks perf events, which both capture backends need, and finds out which backend the agent
 * would use. For the latter it starts the agent's own captures and stops them at once. */
#include "base/cleanup.h"
#include "capture/perf_events/counted_event.h"
#include "doctor/doctor.h"
#include "privilege/refusal.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MESSAGE_MAX_BYTES 4096
#define PROBE_PERIOD_NS 1000000000
#define STACK_PROBE_BYTES 4096

#ifdef __aarch64__
#define REGS_PROBE (UINT64_C(1) << 31) /* sp */
#else
#define REGS_PROBE (UINT64_C(1) << 7)
#endif

/* Opens a CPU timer with the attributes that the capture backends use. The size is the oldest one
 * that has all members used here (Linux 3.7). */
static int open_cpu_timer(bool copies_stacks)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER3,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PROBE_PERIOD_NS,
		.disabled = 1,
	};

	if (copies_stacks) {
		attr.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr.sample_regs_user = REGS_PROBE;
		attr.sample_stack_user = STACK_PROBE_BYTES;
	}
	long fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);

	return fd < 0 ? -errno : (int)fd;
}

static void add_no_timer(const struct doctor_host *host, int error, struct doctor_report *report)
{
	const struct refusal refusal = refusal_of(host->proc_dir, error);
	const struct refusal_words words = refusal_explain_perf(&refusal);

	if (words.cause)
		doctor_add_loss(host, BACKENDS_ALL, report, "perf events", words.remedy,
				"perf_event_open: %s: %s (kernel.perf_event_paranoid is %d)",
				strerror(-error), words.cause, refusal.paranoid);
	else
		doctor_add_loss(host, BACKENDS_ALL, report, "perf events",
				"boot a kernel with CONFIG_PERF_EVENTS=y",
				"no CPU timer can be opened: %s", strerror(-error));
}

void check_perf(const struct doctor_host *host, struct doctor_report *report)
{
	_cleanup_close_ int plain_fd = open_cpu_timer(false);
	_cleanup_close_ int copying_fd = open_cpu_timer(true);

	if (plain_fd < 0)
		add_no_timer(host, plain_fd, report);
	else if (copying_fd < 0)
		doctor_add_loss(host, BACKEND_PERF, report, "perf events",
				"boot Linux 3.10 or newer",
				"CPU timers can be opened, but not with copies of stacks: %s",
				strerror(-copying_fd));
	else
		doctor_report_ok(report, "perf events",
				 "CPU timers can be opened, with and without copies of stacks");
}

/* Checks the events of --kind hw:EVENT. Where perf_event_open(2) is not permitted, check_perf()
 * says so. */
void check_events(const struct doctor_host *host, struct doctor_report *report)
{
	static const char *const words[] = { "hw:cycles", "hw:instructions", "hw:cache-misses",
					     "hw:branch-misses" };
	_cleanup_(strbuf_done) struct strbuf counted = strbuf_with_max(MESSAGE_MAX_BYTES);
	int r = 0;

	(void)host;
	for (size_t i = 0; i < array_len(words) && (r == 0 || r == -ENOENT); i++) {
		const struct counted_event *event = counted_event_find(words[i]);

		r = counted_event_try(event);
		if (r == 0)
			strbuf_appendf(&counted, "%s%s", counted.len > 0 ? ", " : "",
				       counted_event_name(event));
	}
	if (counted.len > 0)
		doctor_report_ok(report, "hardware events", "can be counted: %s",
				 strbuf_str(&counted));
	else if (r == -ENOENT)
		doctor_report_ok(report, "hardware events",
				 "are not counted: there is no performance monitoring unit, or the "
				 "hypervisor hides it; CPU time and sw:EVENT do not need one");
}

/* Returns whether a backend works. If not, the message is never empty. */
static bool backend_works(const struct doctor_host *host, enum backend_set backend,
			  struct strbuf *reterr_msg)
{
	int r = host->try_capture(backend, reterr_msg);

	if (r < 0 && reterr_msg->len == 0)
		strbuf_append_str(reterr_msg, strerror(-r));
	return r == 0;
}

/* Adds that no backend works. One of the reasons is empty if the options allow only the other
 * backend. */
static void add_neither(const char *bpf, const char *perf, struct doctor_report *report)
{
	if (*bpf && *perf)
		doctor_report_add(report, FINDING_FAIL, DOCTOR_CAPTURE_BACKEND,
				  "see the checks above", "none: bpf: %s; perf: %s", bpf, perf);
	else
		doctor_report_add(report, FINDING_FAIL, DOCTOR_CAPTURE_BACKEND,
				  "see the checks above, or set --capture=auto",
				  "none: --capture=%s was requested: %s", *bpf ? "bpf" : "perf",
				  *bpf ? bpf : perf);
}

/* Tries the capture backends in the agent's order. A backend that does not work returns a message
 * with the reason. */
void check_capture_backend(const struct doctor_host *host, struct doctor_report *report)
{
	_cleanup_(strbuf_done) struct strbuf bpf = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf perf = strbuf_with_max(MESSAGE_MAX_BYTES);
	enum backend_set wanted = backend_set_wanted(host->options);

	if ((wanted & BACKEND_BPF) && backend_works(host, BACKEND_BPF, &bpf))
		doctor_report_ok(report, DOCTOR_CAPTURE_BACKEND, "bpf%s",
				 wanted == BACKEND_BPF ? ", as requested by --capture" : "");
	else if (!(wanted & BACKEND_PERF) || !backend_works(host, BACKEND_PERF, &perf))
		add_neither(strbuf_str(&bpf), strbuf_str(&perf), report);
	else if (wanted == BACKEND_PERF)
		doctor_report_ok(report, DOCTOR_CAPTURE_BACKEND, "perf, as requested by --capture");
	else
		doctor_report_add(report, FINDING_WARN, DOCTOR_CAPTURE_BACKEND,
				  "see the checks above, or set --capture=perf if this is intended",
				  "perf, which costs more CPU time: %s", strbuf_str(&bpf));
}

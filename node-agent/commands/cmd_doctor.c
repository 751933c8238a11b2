/* SPDX-License-Identifier: Apache-2.0 */
/* flamelet doctor: reports what this host lacks. It tries the agent's own captures to find out
 * whether the host can be sampled. */
#include "agent/agent.h"
#include "agent/capture_choice.h"
#include "base/capabilities.h"
#include "base/cleanup.h"
#include "base/fileio.h"
#include "base/log.h"
#include "base/rlimit.h"
#include "capture/perf_events/ring_room.h"
#include "capture/sideband/sideband.h"
#include "commands/commands.h"
#include "doctor/doctor.h"
#include "privilege/refusal.h"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The defaults of the agent's options, which the doctor does not have. */
#define PROBE_HZ 19
#define PROBE_STACK_BYTES 32768
#define REASON_MAX_BYTES 256
#define OUTPUT_MAX_BYTES ((size_t)1 << 20)

static int open_sideband(int proc_fd, struct strbuf *reterr_msg, struct sideband **ret_sideband)
{
	size_t bytes = ring_room_sideband_bytes(proc_fd, SIDEBAND_RING_BYTES);
	int r = sideband_open(bytes, ret_sideband);

	if (r < 0)
		refusal_append_perf(r, reterr_msg);
	return r;
}

/* Does what the agent does when it starts: opens all rings, loads all programs, and starts the
 * timers for a moment. */
static int try_capture(enum backend_set backend, struct strbuf *reterr_msg)
{
	_cleanup_(sideband_closep) struct sideband *sideband = NULL;
	_cleanup_close_ int proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(strbuf_done) struct strbuf why = strbuf_with_max(REASON_MAX_BYTES);
	_cleanup_(sample_source_closep) struct sample_source *source = NULL;
	struct capture_opts opts = {
		.frequency_hz = PROBE_HZ,
		.poll_interval_ns = AGENT_POLL_NS,
		.stack_copy_bytes = PROBE_STACK_BYTES,
		.proc_fd = proc_fd,
	};
	struct cpu_set_bits restarted;

	rlimit_raise(RLIMIT_MEMLOCK);
	int r = open_sideband(proc_fd, reterr_msg, &sideband);
	if (r < 0)
		return r;
	opts.sideband_bytes = sideband_ring_bytes(sideband);
	r = capture_choice_open(backend == BACKEND_BPF ? OPTION_CAPTURE_BPF : OPTION_CAPTURE_PERF,
				&opts, &why, reterr_msg, &source);
	if (r < 0)
		return r;
	r = sample_source_follow_cpus(source, &restarted);
	if (r < 0)
		refusal_append_perf(r, reterr_msg);
	return r;
}

int cmd_doctor(const struct options *options)
{
	_cleanup_(doctor_report_done) struct doctor_report report = { 0 };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUTPUT_MAX_BYTES);
	struct utsname kernel;

	if (uname(&kernel) < 0) {
		log_error_errno(-errno, "cannot read the kernel's version");
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

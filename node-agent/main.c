/* SPDX-License-Identifier: Apache-2.0 */
/* flamelet: a sampling CPU profiler for Kubernetes nodes and other hosts. */
#include "base/err.h"
#include "commands/commands.h"
#include "gpu/gpu_worker.h"
#include "k8s/kubelet_worker.h"
#include "otlp/transport/transport_worker.h"
#include "probes/probe_worker.h"
#include "runtime/worker/runtime_worker.h"
#include "symbol/debuginfod/debuginfod.h"
#include "symbol/jit/jit_worker.h"
#include "symbol/worker/symbol_worker.h"
#include "unwind/worker/rows_worker.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The first one is the default. */
static const struct command commands[] = {
	{ "record", COMMAND_RECORD, cmd_record, "profile this machine and write files" },
	{ "top", COMMAND_TOP, cmd_top, "show live which applications use the CPU" },
	{ "agent", COMMAND_AGENT, cmd_agent, "profile continuously and send the profiles" },
	{ "query", COMMAND_QUERY, cmd_query, "show a time of the local record" },
	{ "findings", COMMAND_FINDINGS, cmd_findings, "name known causes of CPU time" },
	{ "ui", COMMAND_UI, cmd_ui, "show the local record in a browser" },
	{ "diff", COMMAND_DIFF, cmd_diff, "show what changed between two times, or files" },
	{ "timeline", COMMAND_TIMELINE, cmd_timeline, "print what the node did over time, as CSV" },
	{ "ls", COMMAND_LS, cmd_ls, "list what the local record has" },
	{ "pin", COMMAND_PIN, cmd_pin, "keep a time of the local record longer" },
	{ "dump", COMMAND_DUMP, cmd_dump, "print the stacks of all threads of a process" },
	{ "export", COMMAND_EXPORT, cmd_export,
	  "send recorded pprof files, or a range of a record" },
	{ "doctor", COMMAND_DOCTOR, cmd_doctor,
	  "check whether this host can be profiled, and say how to fix it" },
	{ "health", COMMAND_HEALTH, cmd_health, "check that the local agent is alive, or ready" },
	{ "allow-perf", COMMAND_ALLOW_PERF, cmd_allow_perf,
	  "lower kernel.perf_event_paranoid to 2" },
	{ "copy-heap", COMMAND_COPY_HEAP, cmd_copy_heap,
	  "copy libflamelet-heap.so to where pods find it" },
	{ "version", COMMAND_VERSION, cmd_version, "print the version" },
};

/* Commands of the worker processes that the agent starts. They are not for users. */
static const struct {
	const char *name;
	int (*run)(void); /* returns the exit status */
} workers[] = {
	{ DEBUGINFOD_WORKER_COMMAND, debuginfod_worker_main },
	{ GPU_WORKER_COMMAND, gpu_worker_main },
	{ JIT_WORKER_COMMAND, jit_worker_main },
	{ KUBELET_WORKER_COMMAND, kubelet_worker_main },
	{ PROBE_WORKER_COMMAND, probe_worker_main },
	{ ROWS_WORKER_COMMAND, rows_worker_main },
	{ RUNTIME_WORKER_COMMAND, runtime_worker_main },
	{ SYMBOL_WORKER_COMMAND, symbol_worker_main },
	{ TRANSPORT_WORKER_COMMAND, transport_worker_main },
};

/* A standard descriptor that is closed would be given to the next file that is opened, and messages
 * would be written there. Held like this, writing to it is an error. */
static void hold_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < array_len(workers); i++) {
		if (strcmp(argv[1], workers[i].name) != 0)
			continue;
		prctl(PR_SET_NAME, workers[i].name); /* for ps and top */
		return workers[i].run();
	}
	hold_standard_descriptors();
	return commands_run(commands, array_len(commands), argv);
}

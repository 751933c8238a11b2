/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/ui_process.h"

#include "base/cleanup.h"
#include "base/minmax.h"
#include "ui/ui_files.h"
#include "worker/worker_process.h"
#include "worker/worker_sandbox.h"

#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* The connections, and a few files. */
#define MAX_FDS 128

static bool is_ignored(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static int block_signals(sigset_t *ret_signals)
{
	sigset_t blocked;

	sigemptyset(ret_signals);
	sigaddset(ret_signals, SIGINT);
	sigaddset(ret_signals, SIGTERM);
	if (!is_ignored(SIGHUP))
		sigaddset(ret_signals, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	blocked = *ret_signals;
	sigaddset(&blocked, SIGCHLD);
	return sigprocmask(SIG_BLOCK, &blocked, NULL) < 0 ? -errno : 0;
}

/* The parent may have ended before the child was tied to it. */
static int tie_to_parent(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return -errno;
	return getppid() == parent ? 0 : -ESRCH;
}

int ui_process_start(struct ui_process *ret_process)
{
	_cleanup_(ui_process_done) struct ui_process process = UI_PROCESS_NONE;
	pid_t parent = getpid();

	int r = block_signals(&process.signals);
	if (r < 0)
		return r;
	process.stop_fd = signalfd(-1, &process.signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (process.stop_fd < 0)
		return -errno;
	process.pid = fork();
	if (process.pid < 0)
		return -errno;
	r = process.pid == 0 ? tie_to_parent(parent) : 0;
	if (r < 0)
		return r;
	*ret_process = process;
	process.stop_fd = -EBADF;
	return 0;
}

void ui_process_done(struct ui_process *process)
{
	cleanup_closep(&process->stop_fd);
}

static int lower_limit(__rlimit_resource_t resource, rlim_t value)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) < 0)
		return -errno;
	limit.rlim_max = min_u64(limit.rlim_max, value);
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(resource, &limit) < 0 ? -errno : 0;
}

int ui_process_confine(const char *const *paths, size_t nr_paths)
{
	int r = ui_files_confine(paths, nr_paths);

	if (r < 0 && r != -EOPNOTSUPP)
		return r;
	if ((r = lower_limit(RLIMIT_CORE, 0)) < 0 || (r = lower_limit(RLIMIT_NOFILE, MAX_FDS)) < 0)
		return r;
	if (!WORKER_PROCESS_IS_SANITIZED &&
	    (r = lower_limit(RLIMIT_DATA, UI_PROCESS_MAX_BYTES)) < 0)
		return r;
	return worker_sandbox_filter_calls(WORKER_SANDBOX_SERVER);
}

void ui_process_wait(const struct ui_process *process, struct ui_process_end *ret_end)
{
	sigset_t signals = process->signals;
	int status = 0;

	sigaddset(&signals, SIGCHLD);
	while (waitpid(process->pid, &status, WNOHANG) == 0) {
		int number = sigwaitinfo(&signals, NULL);

		if (number > 0 && number != SIGCHLD)
			kill(process->pid, number);
	}
	*ret_end = (struct ui_process_end){
		.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
		.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
	};
}

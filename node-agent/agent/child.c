/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/child.h"

#include "base/cleanup.h"
#include "base/fileio.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_NOT_FOUND 127 /* as in shells */
#define EXIT_NOT_RELEASED 125

/* Runs in the child: waits for a byte in the pipe, then becomes the command. If the pipe closes
 * without one, the parent has ended. */
static void become_command(int wait_fd, char *const *args)
{
	char go;

	if (fd_read(wait_fd, &go, 1) != 1)
		_exit(EXIT_NOT_RELEASED);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	execvp(args[0], args);
	fprintf(stderr, "flamelet: cannot run %s: %s\n", args[0], strerror(errno));
	_exit(EXIT_NOT_FOUND);
}

/* Libraries of the user's choice stay. */
static void set_preload(const char *library)
{
	_cleanup_free_ char *path = realpath(library, NULL), *all = NULL;
	const char *others = getenv("LD_PRELOAD");

	if (asprintf(&all, "%s%s%s", path ? path : library, others ? ":" : "",
		     others ? others : "") > 0)
		setenv("LD_PRELOAD", all, 1);
}

int child_start(char *const *args, bool stdout_to_stderr, const char *preload,
		struct child *ret_child)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	pid_t pid = fork();
	if (pid < 0) {
		int r = -errno;

		close(fds[0]);
		close(fds[1]);
		return r;
	}
	if (pid == 0) {
		close(fds[1]);
		if (stdout_to_stderr)
			dup2(STDERR_FILENO, STDOUT_FILENO);
		if (preload)
			set_preload(preload);
		become_command(fds[0], args);
	}
	close(fds[0]);
	*ret_child = (struct child){ .pid = pid, .hold_fd = fds[1] };
	return 0;
}

static void close_hold(struct child *child)
{
	cleanup_closep(&child->hold_fd);
	child->hold_fd = -EBADF;
}

int child_release(struct child *child)
{
	int r = child->hold_fd >= 0 ? fd_write_all(child->hold_fd, "g", 1) : 0;

	close_hold(child);
	return r;
}

bool child_has_exited(struct child *child)
{
	if (child->pid > 0 && !child->has_exited)
		child->has_exited = waitpid(child->pid, &child->status, WNOHANG) == child->pid;
	return child->has_exited;
}

bool child_was_not_found(const struct child *child)
{
	return child->has_exited && WIFEXITED(child->status) &&
	       WEXITSTATUS(child->status) == EXIT_NOT_FOUND;
}

void child_done(struct child *child)
{
	if (child->hold_fd < 0)
		return;
	if (!child_has_exited(child)) {
		kill(child->pid, SIGKILL);
		child->has_exited = waitpid(child->pid, &child->status, 0) == child->pid;
	}
	close_hold(child);
}

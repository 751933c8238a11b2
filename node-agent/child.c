/* SPDX-License-Identifier: Apache-2.0 */
#include "child.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_NOT_FOUND 127 /* as shells say it */

/* Runs in the child: waits for the other end of the pipe to close, then becomes the command. */
static void become_command(int wait_fd, char *const *args)
{
	char byte;

	while (read(wait_fd, &byte, 1) < 0 && errno == EINTR)
		;
	signal(SIGPIPE, SIG_DFL);
	execvp(args[0], args);
	fprintf(stderr, "flamelet: cannot run %s: %s\n", args[0], strerror(errno));
	_exit(EXIT_NOT_FOUND);
}

int child_start(char *const *args, struct child *ret_child)
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
		become_command(fds[0], args);
	}
	close(fds[0]);
	*ret_child = (struct child){ .pid = pid, .hold_fd = fds[1] };
	return 0;
}

void child_release(struct child *child)
{
	cleanup_closep(&child->hold_fd);
	child->hold_fd = -EBADF;
}

bool child_has_exited(struct child *child)
{
	if (child->pid > 0 && !child->has_exited)
		child->has_exited = waitpid(child->pid, &child->status, WNOHANG) == child->pid;
	return child->has_exited;
}

void child_done(struct child *child)
{
	if (child->hold_fd < 0)
		return;
	if (!child_has_exited(child)) {
		kill(child->pid, SIGKILL);
		child->has_exited = waitpid(child->pid, &child->status, 0) == child->pid;
	}
	child_release(child);
}

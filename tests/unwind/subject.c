/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unwind/subject.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "base/parse.h"
#include "base/strbuf.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_NS (10 * NSEC_PER_SEC)
#define POLL_NS (20 * NSEC_PER_MSEC)
#define MAX_COMMAND_LINE_BYTES 65536

static void run(char *const *command)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	dup2(null_fd, STDIN_FILENO);
	dup2(null_fd, STDOUT_FILENO);
	dup2(null_fd, STDERR_FILENO);
	execvp(command[0], command);
	_exit(127);
}

/* Arguments are separated by NULs; each is looked at. */
static bool command_line_has(const char *pid, const char *part)
{
	_cleanup_(strbuf_done) struct strbuf line = strbuf_with_max(MAX_COMMAND_LINE_BYTES);
	char path[300];

	snprintf(path, sizeof(path), "/proc/%s/cmdline", pid);
	if (file_read_at(AT_FDCWD, path, &line) < 0)
		return false;
	return line.len > 0 && memmem(line.data, line.len, part, strlen(part));
}

static pid_t find_part(pid_t group, const char *part)
{
	_cleanup_closedir_ DIR *proc = opendir("/proc");
	const struct dirent *entry;
	uint64_t pid;

	while (proc && (entry = readdir(proc))) {
		if (parse_u64(entry->d_name, &pid) < 0 || getpgid((pid_t)pid) != group)
			continue;
		if (command_line_has(entry->d_name, part))
			return (pid_t)pid;
	}
	return -ESRCH;
}

static pid_t wait_for_part(pid_t group, const char *part)
{
	const struct timespec pause = clock_timespec(POLL_NS);
	uint64_t deadline_ns = clock_mono_ns() + WAIT_NS;
	pid_t pid;

	do {
		nanosleep(&pause, NULL);
		pid = find_part(group, part);
	} while (pid < 0 && clock_mono_ns() < deadline_ns);
	return pid;
}

int subject_start(char *const *command, const char *part, struct subject *ret_subject)
{
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0)
		run(command);
	setpgid(pid, pid);
	struct subject subject = { .group = pid, .pid = pid };
	if (part)
		subject.pid = wait_for_part(pid, part);
	if (subject.pid < 0) {
		subject_stop(&subject);
		return subject.pid;
	}
	subject.start_ns = clock_mono_ns();
	*ret_subject = subject;
	return 0;
}

bool subject_is_alive(const struct subject *subject)
{
	return waitpid(subject->group, NULL, WNOHANG) == 0;
}

void subject_stop(struct subject *subject)
{
	if (subject->group == 0)
		return;
	kill(-subject->group, SIGKILL);
	waitpid(subject->group, NULL, 0);
	subject->group = 0;
}

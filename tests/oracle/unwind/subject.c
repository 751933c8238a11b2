/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/oracle/unwind/subject.h"

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

#define WAIT_NS (30 * NSEC_PER_SEC)
#define POLL_NS (500 * NSEC_PER_MSEC)
#define BUSY_TICKS 10
#define BUSY_POLLS 6 /* in a row: others are busy for a second or two while they start */
#define MAX_PARTS 16
#define MAX_COMMAND_LINE_BYTES 65536
#define MAX_STAT_BYTES 4096

/* A process of the group that was asked for. */
struct part {
	pid_t pid;
	uint64_t ticks;
};

struct parts {
	struct part of[MAX_PARTS];
	size_t nr;
};

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

/* CPU time of its threads in user mode, in clock ticks; 0: cannot be told. */
static uint64_t user_ticks(const char *pid)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_STAT_BYTES);
	unsigned long ticks = 0;
	char path[300];

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	if (file_read_at(AT_FDCWD, path, &text) < 0)
		return 0;
	const char *behind_name = strrchr(strbuf_str(&text), ')');
	if (!behind_name ||
	    sscanf(behind_name, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu", &ticks) != 1)
		return 0;
	return ticks;
}

static struct parts find_parts(pid_t group, const char *part)
{
	_cleanup_closedir_ DIR *proc = opendir("/proc");
	struct parts parts = { 0 };
	const struct dirent *entry;
	uint64_t pid;

	while (proc && parts.nr < MAX_PARTS && (entry = readdir(proc))) {
		if (parse_u64(entry->d_name, &pid) < 0 || getpgid((pid_t)pid) != group)
			continue;
		if (command_line_has(entry->d_name, part))
			parts.of[parts.nr++] = (struct part){
				.pid = (pid_t)pid,
				.ticks = user_ticks(entry->d_name),
			};
	}
	return parts;
}

static uint64_t ticks_of(const struct parts *parts, pid_t pid)
{
	for (size_t i = 0; i < parts->nr; i++)
		if (parts->of[i].pid == pid)
			return parts->of[i].ticks;
	return 0;
}

/* Returns the process that did the most work between the two readings; -ESRCH if none did any. */
static pid_t find_busiest(const struct parts *before, const struct parts *now)
{
	uint64_t most = BUSY_TICKS;
	pid_t busiest = -ESRCH;

	for (size_t i = 0; i < now->nr; i++) {
		uint64_t ticks = now->of[i].ticks - ticks_of(before, now->of[i].pid);

		if (ticks >= most) {
			most = ticks;
			busiest = now->of[i].pid;
		}
	}
	return busiest;
}

static pid_t wait_for_part(pid_t group, const char *part)
{
	const struct timespec pause = clock_timespec(POLL_NS);
	uint64_t deadline_ns = clock_mono_ns() + WAIT_NS;
	struct parts before, now = { 0 };
	unsigned int nr_polls = 0;
	pid_t last, pid = -ESRCH;

	do {
		nanosleep(&pause, NULL);
		before = now;
		now = find_parts(group, part);
		last = pid;
		pid = before.nr > 0 ? find_busiest(&before, &now) : -ESRCH;
		nr_polls = pid > 0 && pid == last ? nr_polls + 1 : 1;
	} while ((pid < 0 || nr_polls < BUSY_POLLS) && clock_mono_ns() < deadline_ns);
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

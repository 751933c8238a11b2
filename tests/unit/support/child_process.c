/* SPDX-License-Identifier: Apache-2.0 */
#include "child_process.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "base/parse.h"
#include "unit.h"
#include "worker/worker_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX_BYTES 8192

static struct {
	const char *name;
	int signal;
	uint64_t delay_ns;
} order;

static bool read_proc(pid_t pid, const char *name, struct strbuf *text)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return file_read_at(AT_FDCWD, path, text) == 0;
}

/* Workers are found by their argument, because the name in stat is the test's. */
static bool is_child(pid_t pid, const char *name)
{
	_cleanup_(strbuf_done) struct strbuf stat = strbuf_with_max(TEXT_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf args = strbuf_with_max(TEXT_MAX_BYTES);
	int parent = 0;

	if (!read_proc(pid, "stat", &stat) || !read_proc(pid, "cmdline", &args))
		return false;
	const char *behind = strrchr(strbuf_str(&stat), ')');
	if (!behind || sscanf(behind, ") %*c %d", &parent) != 1 || parent != getpid())
		return false;
	const char *argument = strbuf_str(&args) + strlen(strbuf_str(&args)) + 1;
	return argument < strbuf_str(&args) + args.len && strcmp(argument, name) == 0;
}

pid_t find_child(const char *name)
{
	_cleanup_closedir_ DIR *dir = opendir("/proc");
	const struct dirent *entry;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		uint32_t pid;

		if (parse_u32(entry->d_name, &pid) == 0 && is_child((pid_t)pid, name))
			return (pid_t)pid;
	}
	return 0;
}

static void *signal_later(void *data)
{
	const struct timespec pause = clock_timespec(10 * NSEC_PER_MSEC);
	const struct timespec delay = clock_timespec(order.delay_ns);
	pid_t pid;

	(void)data;
	while ((pid = find_child(order.name)) == 0)
		nanosleep(&pause, NULL);
	nanosleep(&delay, NULL);
	kill(pid, order.signal);
	return NULL;
}

void signal_child_later(const char *name, int signal, uint64_t delay_ns)
{
	pthread_t thread;

	order.name = name;
	order.signal = signal;
	order.delay_ns = delay_ns;
	assert_int_equal(pthread_create(&thread, NULL, signal_later, NULL), 0);
	pthread_detach(thread);
}

void assert_unprivileged(pid_t pid)
{
	static const char *const lines[] = {
		"CapInh:\t0000000000000000",
		"CapPrm:\t0000000000000000",
		"CapEff:\t0000000000000000",
		"CapAmb:\t0000000000000000",
		"NoNewPrivs:\t1",
	};
	_cleanup_(strbuf_done) struct strbuf status = strbuf_with_max(TEXT_MAX_BYTES);

	assert_true(read_proc(pid, "status", &status));
	for (size_t i = 0; i < array_len(lines); i++)
		assert_non_null(strstr(strbuf_str(&status), lines[i]));
	if (!WORKER_PROCESS_IS_SANITIZED)
		assert_non_null(strstr(strbuf_str(&status), "Seccomp:\t2"));
}

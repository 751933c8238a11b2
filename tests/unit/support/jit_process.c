/* SPDX-License-Identifier: Apache-2.0 */
#include "jit_process.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fileio.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void jit_process_write(int proc_fd, uint32_t pid, const char *name, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "%u/%s", pid, name);
	_cleanup_close_ int fd = openat(proc_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
					0600);
	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
}

void jit_process_put(int proc_fd, uint32_t pid, const char *map)
{
	static const char *const dirs[] = { "", "root", "root/tmp" };
	char text[96];

	for (size_t i = 0; i < array_len(dirs); i++) {
		snprintf(text, sizeof(text), "%u/%s", pid, dirs[i]);
		assert_int_equal(mkdirat(proc_fd, text, 0700), 0);
	}
	snprintf(text, sizeof(text), "%u/mountinfo", pid);
	assert_int_equal(symlinkat("/proc/self/mountinfo", proc_fd, text), 0);
	snprintf(text, sizeof(text), "Uid:\t%u\t%u\t0\t0\nNSpid:\t%u\t7\n", geteuid(), geteuid(),
		 pid);
	jit_process_write(proc_fd, pid, "status", text);
	if (map)
		jit_process_write(proc_fd, pid, "root/tmp/perf-7.map", map);
}

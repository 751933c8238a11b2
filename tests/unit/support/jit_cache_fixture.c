/* SPDX-License-Identifier: Apache-2.0 */
#include "jit_cache_fixture.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fileio.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct jit_cache *jit_cache_fixture_new_cache(const struct jit_cache_fixture *fixture,
					      size_t max_bytes, const char *worker_program)
{
	const struct jit_cache_opts opts = {
		.proc_fd = fixture->proc.proc_fd,
		.max_bytes = max_bytes,
		.worker_program = worker_program,
	};
	struct jit_cache *cache = NULL;

	assert_int_equal(jit_cache_new(&opts, &cache), 0);
	return cache;
}

int jit_cache_fixture_setup(void **state)
{
	struct jit_cache_fixture *fixture = calloc(1, sizeof(*fixture));

	proc_fixture_init(&fixture->proc, 8);
	fixture->cache = jit_cache_fixture_new_cache(fixture, JIT_CACHE_FIXTURE_MAX_BYTES, NULL);
	*state = fixture;
	return 0;
}

int jit_cache_fixture_teardown(void **state)
{
	struct jit_cache_fixture *fixture = *state;

	jit_cache_free(fixture->cache);
	proc_fixture_done(&fixture->proc);
	free(fixture);
	return 0;
}

void jit_cache_fixture_write(const struct jit_cache_fixture *fixture, uint32_t pid,
			     const char *name, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "%u/%s", pid, name);
	_cleanup_close_ int fd = openat(fixture->proc.proc_fd, path,
					O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
}

void jit_cache_fixture_put(const struct jit_cache_fixture *fixture, uint32_t pid, const char *map)
{
	static const char *const dirs[] = { "", "root", "root/tmp" };
	char text[96];

	for (size_t i = 0; i < array_len(dirs); i++) {
		snprintf(text, sizeof(text), "%u/%s", pid, dirs[i]);
		assert_int_equal(mkdirat(fixture->proc.proc_fd, text, 0700), 0);
	}
	snprintf(text, sizeof(text), "%u/mountinfo", pid);
	assert_int_equal(symlinkat("/proc/self/mountinfo", fixture->proc.proc_fd, text), 0);
	snprintf(text, sizeof(text), "Uid:\t%u\t%u\t0\t0\nNSpid:\t%u\t7\n", geteuid(), geteuid(),
		 pid);
	jit_cache_fixture_write(fixture, pid, "status", text);
	if (map)
		jit_cache_fixture_write(fixture, pid, "root/tmp/perf-7.map", map);
}

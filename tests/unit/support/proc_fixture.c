/* SPDX-License-Identifier: Apache-2.0 */
#include "proc_fixture.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "remove_tree.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void proc_fixture_init(struct proc_fixture *fixture, size_t max_processes)
{
	snprintf(fixture->dir, sizeof(fixture->dir), "/tmp/proc_fixture.XXXXXX");
	assert_non_null(mkdtemp(fixture->dir));
	fixture->proc_fd = open(fixture->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fixture->proc_fd >= 0);
	assert_int_equal(process_table_new(fixture->proc_fd, max_processes, &fixture->table), 0);
}

void proc_fixture_done(struct proc_fixture *fixture)
{
	process_table_free(fixture->table);
	close(fixture->proc_fd);
	remove_tree(fixture->dir);
}

static void write_file(const struct proc_fixture *fixture, uint32_t pid, const char *name,
		       const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%u", fixture->dir, pid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%u/%s", fixture->dir, pid, name);
	assert_int_equal(file_write_atomic(path, text, strlen(text)), 0);
}

void proc_fixture_put_stat(const struct proc_fixture *fixture, uint32_t pid, uint64_t start_ns,
			   char state, unsigned int nr_threads)
{
	uint64_t ticks = start_ns / (NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
	char text[256];

	snprintf(text, sizeof(text),
		 "%u (a (b) c) %c 1 1 1 0 -1 4194304 97 0 0 0 0 0 0 0 20 0 %u 0 %llu 3133440 361\n",
		 pid, state, nr_threads, (unsigned long long)ticks);
	write_file(fixture, pid, "stat", text);
}

void proc_fixture_put(const struct proc_fixture *fixture, uint32_t pid, uint64_t start_ns,
		      const char *maps)
{
	proc_fixture_put_stat(fixture, pid, start_ns, 'S', 1);
	write_file(fixture, pid, "maps", maps);
}

void proc_fixture_remove(const struct proc_fixture *fixture, uint32_t pid)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%u", fixture->dir, pid);
	remove_tree(path);
}

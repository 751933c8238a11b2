/* SPDX-License-Identifier: Apache-2.0 */
/* A directory like /proc, and a process table over it. */
#ifndef TESTS_UNIT_PROC_FIXTURE_H
#define TESTS_UNIT_PROC_FIXTURE_H

#include "process/process_table.h"

#include <stdint.h>

struct proc_fixture {
	char dir[64];
	int proc_fd;
	struct process_table *table;
};

void proc_fixture_init(struct proc_fixture *fixture, size_t max_processes);
void proc_fixture_done(struct proc_fixture *fixture);

/* Writes PID/stat of a process that started at `start_ns` with one thread, and PID/maps. */
void proc_fixture_put(const struct proc_fixture *fixture, uint32_t pid, uint64_t start_ns,
		      const char *maps);

/* Writes PID/stat alone. */
void proc_fixture_put_stat(const struct proc_fixture *fixture, uint32_t pid, uint64_t start_ns,
			   char state, unsigned int nr_threads);

void proc_fixture_remove(const struct proc_fixture *fixture, uint32_t pid);

#endif

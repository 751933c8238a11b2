/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/PID/stat (proc_pid_stat(5)): whether a process still runs, and which of those that had
 * its pid it is. */
#ifndef PROCESS_PROC_STAT_H
#define PROCESS_PROC_STAT_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proc_stat {
	char state; /* field 3, of the first thread */
	uint64_t flags; /* field 9: PF_… of the kernel's sched.h */
	uint64_t nr_threads; /* field 20; counts a first thread that has ended before the others */
	uint64_t start_ticks; /* field 22, since boot */
};

/* Errors: -EBADMSG. */
int proc_stat_parse(const char *text, size_t len, struct proc_stat *ret_stat) must_check;

/* Reads PID/stat below `proc_fd`. Errors: -ESRCH, -EBADMSG, what open() and read() say. */
int proc_stat_read(int proc_fd, uint32_t pid, struct proc_stat *ret_stat) must_check;

/* The same below the directory of a process or of a thread. */
int proc_stat_read_at(int dir_fd, struct proc_stat *ret_stat) must_check;

bool proc_stat_is_kernel_thread(const struct proc_stat *stat);

/* Whether the first thread has ended; the process is waiting to be reaped, or lives on in
 * others. */
bool proc_stat_is_leader_dead(const struct proc_stat *stat);

/* Whether nothing is left of the process but an exit status for its parent. */
bool proc_stat_is_zombie(const struct proc_stat *stat);

/* Whether a process that started `start_ns` after boot can be this one. The file has clock
 * ticks, so both are compared at that resolution, give or take one. */
bool proc_stat_started_at(const struct proc_stat *stat, uint64_t start_ns);

/* Checks that the process that has the pid now started at `start_ns`; with 0 any process will
 * do. When this returns 0, everything that was read from /proc/PID before is that process's.
 * Errors: -ESRCH it is another process; as proc_stat_read(). */
int proc_stat_verify_start(int proc_fd, uint32_t pid, uint64_t start_ns) must_check;

#endif

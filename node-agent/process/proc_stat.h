/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/PID/stat (proc_pid_stat(5)): the state of a process, and its start time, which tells
 * processes that had the same pid apart. */
#ifndef PROCESS_PROC_STAT_H
#define PROCESS_PROC_STAT_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proc_stat {
	char state; /* field 3, of the first thread */
	uint64_t flags; /* field 9: PF_… of the kernel's sched.h */
	uint64_t nr_threads; /* field 20; includes a first thread that ended before the others */
	uint64_t start_ticks; /* field 22, since boot */
};

/* Errors: -EBADMSG. */
int proc_stat_parse(const char *text, size_t len, struct proc_stat *ret_stat) must_check;

/* Reads PID/stat below `proc_fd`. Errors: -ESRCH, -EBADMSG, those of open(2) and read(2). */
int proc_stat_read(int proc_fd, uint32_t pid, struct proc_stat *ret_stat) must_check;

/* The same below the directory of a process or of a thread. */
int proc_stat_read_at(int dir_fd, struct proc_stat *ret_stat) must_check;

bool proc_stat_is_kernel_thread(const struct proc_stat *stat);

/* Returns whether the first thread has ended: the process is waiting to be reaped, or lives on in
 * other threads. */
bool proc_stat_is_leader_dead(const struct proc_stat *stat);

/* Returns whether nothing is left of the process but an exit status for its parent. */
bool proc_stat_is_zombie(const struct proc_stat *stat);

/* Returns whether this process can have started `start_ns` after boot. The file has clock ticks, so
 * the times may differ by one tick. */
bool proc_stat_started_at(const struct proc_stat *stat, uint64_t start_ns);

/* Checks that the process that has the pid now started at `start_ns`; with 0 any process will
 * do. When this returns 0, everything that was read from /proc/PID before is that process's.
 * Errors: -ESRCH it is another process; as proc_stat_read(). */
int proc_stat_verify_start(int proc_fd, uint32_t pid, uint64_t start_ns) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Translates perf's records to events of processes:
 *
 *	COMM with COMM_EXEC	PROC_EXEC	other COMM records rename a thread
 *	COMM of a first thread	PROC_EXEC	where the kernel marks none (before Linux 3.16)
 *	FORK			PROC_FORK	PROC_THREAD when it reports a thread
 *	EXIT			PROC_EXIT	of the first thread only
 *	MMAP2			PROC_MMAP	if executable
 *	MMAP			PROC_MMAP	before Linux 3.16: a path, but inode 0
 *	KSYMBOL			PROC_KERNEL_CODE
 *
 * The kernel reports the exit of every thread, and marks none as the last. The first thread's
 * exit is taken for the process's, as it nearly always is; process_table.h checks in /proc. Pid
 * 0 (the idle task, and every process of a pid namespace we cannot see) and -1 (reaped already)
 * are ignored. Kernel threads need no check: they descend from one that is in no process table. */
#ifndef CAPTURE_SIDEBAND_SIDEBAND_EVENT_H
#define CAPTURE_SIDEBAND_SIDEBAND_EVENT_H

#include "capture/perf_events/perf_record.h"
#include "process/proc_event.h"

#include <stdbool.h>

/* Sets the event that a record reports, with the record's time and path (borrowed from it);
 * returns whether it reports one. `marks_execs` says whether attr.comm_exec was set. */
bool sideband_event_read(const struct perf_record *record, bool marks_execs,
			 struct proc_event *ret_event);

#endif

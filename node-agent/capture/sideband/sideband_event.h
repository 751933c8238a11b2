/* SPDX-License-Identifier: Apache-2.0 */
/* What perf's records say of processes:
 *
 *	COMM with COMM_EXEC	PROC_EXEC	other COMM records rename a thread
 *	COMM of a first thread	PROC_EXEC	where the kernel does not mark them (before Linux 3.16)
 *	FORK			PROC_FORK	PROC_THREAD when it tells of a thread
 *	EXIT			PROC_EXIT	of the first thread only
 *	MMAP2			PROC_MMAP	if executable
 *	MMAP			PROC_MMAP	(before Linux 3.16) of a file that is not told: inode 0, but a path
 *	KSYMBOL			PROC_KERNEL_CODE
 *
 * An EXIT comes for every thread, and none says that it is the last. The first thread's is taken for the
 * process's, as it nearly always is; process_table.h finds out in /proc where it was not. Pid 0 (the idle
 * task, and every process of a pid namespace we cannot see) and -1 (reaped already) are of no interest.
 * Kernel threads are not told apart: they descend from one that is in no process table. */
#ifndef CAPTURE_SIDEBAND_SIDEBAND_EVENT_H
#define CAPTURE_SIDEBAND_SIDEBAND_EVENT_H

#include "capture/perf_events/perf_record.h"
#include "process/proc_event.h"

#include <stdbool.h>

/* Sets the event that a record reports, with the record's time and path (borrowed from it); returns whether it reports one.
 * `marks_execs` says whether attr.comm_exec was set. */
bool sideband_event_read(const struct perf_record *record, bool marks_execs,
			 struct proc_event *ret_event);

#endif

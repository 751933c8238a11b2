/* SPDX-License-Identifier: Apache-2.0 */
/* The records that the kernel writes about tasks into a perf ring buffer (perf_event_open(2)), for events
 * opened with mmap, mmap2, comm, comm_exec, task, sample_id_all and sample_type PERF_SAMPLE_TIME alone: so
 * the last eight bytes of each record are its time.
 *
 *	COMM with COMM_EXEC	PROC_EXEC	other COMM records rename a thread
 *	COMM of a first thread	PROC_EXEC	where the kernel does not mark them (before Linux 3.16)
 *	FORK			PROC_FORK	PROC_THREAD when it tells of a thread
 *	EXIT			PROC_EXIT	of the first thread only
 *	MMAP2			PROC_MMAP	if executable
 *	MMAP			PROC_MMAP	(before Linux 3.16) of a file that is not told: inode 0, but a path
 *	LOST			how many records found no room
 *
 * An EXIT comes for every thread, and none says that it is the last. The first thread's is taken for the
 * process's, as it nearly always is; process_table.h finds out in /proc where it was not. Pid 0 (the idle
 * task, and every process of a pid namespace we cannot see) and -1 (reaped already) are of no interest.
 * Kernel threads are not told apart: they descend from one that is in no process table. */
#ifndef CAPTURE_PERF_EVENTS_PERF_RECORD_H
#define CAPTURE_PERF_EVENTS_PERF_RECORD_H

#include "base/err.h"
#include "process/proc_event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_record {
	bool has_event;
	struct proc_event event; /* its path is borrowed from the record's bytes */
	uint64_t nr_lost; /* records that the kernel could not write before this one */
};

/* Parses the `len` bytes of one record, header included; `marks_execs` says whether attr.comm_exec was set. Records of no interest, also of kinds not known
 * here, have neither an event nor losses. Errors: -EBADMSG. */
int perf_record_parse(const void *bytes, size_t len, bool marks_execs,
		      struct perf_record *ret_record) must_check;

#endif

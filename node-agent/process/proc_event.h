/* SPDX-License-Identifier: Apache-2.0 */
/* An event in the life of a process: the input of process_table.h, in the kernel's order. */
#ifndef PROCESS_PROC_EVENT_H
#define PROCESS_PROC_EVENT_H

#include <stdint.h>

enum proc_event_kind {
	PROC_FORK, /* a new process (not a thread) with its parent's mappings */
	PROC_THREAD, /* the process has made another thread */
	PROC_EXEC, /* all mappings are gone; those of the new program follow */
	PROC_MMAP, /* a new executable mapping */
	PROC_EXIT, /* the process has ended, or its first thread before the others */
	PROC_KERNEL_CODE, /* no process: code was added to the kernel, or removed */
};

struct proc_event {
	enum proc_event_kind kind;
	uint32_t pid;
	uint32_t parent_pid; /* PROC_FORK */
	uint64_t time_ns; /* CLOCK_MONOTONIC */

	/* PROC_MMAP. Old kernels do not identify the file: then the inode is 0, with the path of
	 * a file. */
	uint64_t start;
	uint64_t len;
	uint64_t file_offset;
	uint64_t inode;
	uint64_t inode_generation; /* tells files with a reused inode number apart; 0: unknown */
	uint32_t dev_major;
	uint32_t dev_minor;
	const char
		*path; /* borrowed for the call; "//anon", "[vdso]" where there is no file; may end
			   * in " (deleted)" */
};

#endif

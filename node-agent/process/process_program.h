/* SPDX-License-Identifier: Apache-2.0 */
/* The program that a process runs.
 *
 * It is known from events, in the order of the samples: a child runs its parent's program, and
 * the first file that is mapped after an exec() is the program. For processes that were started
 * before the first event, /proc/PID/exe is read once; if they have ended by then, the file
 * mapped at the lowest address is taken. */
#ifndef PROCESS_PROCESS_PROGRAM_H
#define PROCESS_PROCESS_PROGRAM_H

#include "process/process_set.h"

/* Each process has a copy of the path. Of a longer path only the last component is kept. */
#define PROCESS_PROGRAM_MAX 512

/* Call it when the process has called exec(). */
void process_program_replace(struct process *process);

/* Call it when the process has mapped a file, or memory with a name. */
void process_program_see_file(struct process *process, const char *path, uint64_t now_ns);

/* Returns the path, without " (deleted)", in the mount namespace of the process; "" if it is not
 * known. Borrowed until the process calls exec() or its entry is removed. A path from before
 * `lost_ns`, when events were lost, is read again. */
const char *process_program(struct process *process, int proc_fd, uint64_t lost_ns);

#endif

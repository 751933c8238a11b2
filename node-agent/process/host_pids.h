/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROCESS_HOST_PIDS_H
#define PROCESS_HOST_PIDS_H

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* Target of the link /proc/self/ns/pid of a process of the host (the kernel's
 * PROC_PID_INIT_INO). */
#define HOST_PID_NAMESPACE "pid:[4026531836]"

/* Returns whether we are in the host's pid namespace, also if the link cannot be read. `proc_fd` is
 * a directory like /proc. */
static inline bool host_pids_are_ours(int proc_fd)
{
	char target[64] = "";

	return readlinkat(proc_fd, "self/ns/pid", target, sizeof(target) - 1) <= 0 ||
	       strcmp(target, HOST_PID_NAMESPACE) == 0;
}

#endif

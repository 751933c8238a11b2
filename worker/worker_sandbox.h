/* SPDX-License-Identifier: Apache-2.0 */
/* Confines this process permanently: it loses its capabilities, other processes of the same user
 * cannot trace it, and it can only make the system calls on a list. */
#ifndef WORKER_SANDBOX_H
#define WORKER_SANDBOX_H

#include "base/err.h"

enum worker_sandbox {
	/* Reads files that it received as descriptors. Opening files by name fails with EACCES,
	 * which libraries tolerate. Any other call that is not on the list kills the process. */
	WORKER_SANDBOX_FILES,
	/* Uses the network: internet sockets, threads, and files opened by name for reading. Other
	 * calls fail with ENOSYS. Calls that run, trace or signal another process, or change the
	 * machine, kill the process. */
	WORKER_SANDBOX_NETWORK,
	/* The same, and also creates, writes and removes files. */
	WORKER_SANDBOX_DOWNLOAD,
	/* Answers the clients of a socket from files that it opens by name for reading. Calls that
	 * run, trace or signal another process, open or use another socket, or change the machine,
	 * kill the process. Other calls fail with ENOSYS. */
	WORKER_SANDBOX_SERVER,
	/* Runs the library of a vendor, whose calls are not known beforehand: it loads code, opens
	 * devices and starts threads. Calls that make, remove or rename files, open them for
	 * writing only, use sockets or start processes fail. Calls that run, trace or signal
	 * another process, or change the machine, kill the process. */
	WORKER_SANDBOX_DEVICES,
};

/* Enters the sandbox. The process must have one thread. With sanitizers, system calls are not
 * filtered. Errors: those of prctl(2) and capset(2); -EINVAL if the kernel has no seccomp
 * filters. */
int worker_sandbox_enter(enum worker_sandbox kind) must_check;

/* Only filters the system calls. The process must have set no_new_privs. With sanitizers, nothing
 * is done. Errors: as above. */
int worker_sandbox_filter_calls(enum worker_sandbox kind) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Takes away from this process, for good, all that its work does not need: capabilities, being
 * looked into by others of the same user, and all system calls but those on its list. */
#ifndef WORKER_SANDBOX_H
#define WORKER_SANDBOX_H

#include "base/err.h"

enum worker_sandbox {
	/* Reads files that it was handed. What asks for files by name fails (EACCES: libraries
	 * do so, and can do without), any other call that is not on the list kills. */
	WORKER_SANDBOX_FILES,
	/* Talks to the network: internet sockets, threads of its own, files opened by name for
	 * reading. Other calls fail (ENOSYS), but those that run, look into or signal another
	 * process, or change the machine, kill. */
	WORKER_SANDBOX_NETWORK,
	/* The same, and makes, writes and removes files. */
	WORKER_SANDBOX_DOWNLOAD,
};

/* All of it. For a process of one thread. Under sanitizers system calls are not filtered.
 * Errors: what prctl(2) and capset(2) say; -EINVAL when the kernel has no seccomp filters. */
int worker_sandbox_enter(enum worker_sandbox kind) must_check;

#endif

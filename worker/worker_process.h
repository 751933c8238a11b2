/* SPDX-License-Identifier: Apache-2.0 */
/* A helper process: this program again, told by its first argument to do one thing (`flamelet
 * symbol-worker`), at the other end of a socket pair.
 *
 * What it starts with: the descriptors 0 and 1 on /dev/null, 2 as ours,
 * WORKER_PROCESS_SOCKET_FD, no others; no signal blocked or ignored; a session of its own, so
 * that Ctrl-C is not for it; no new privileges, no core file, few descriptors; lower priority,
 * and first in line when memory runs out. It is killed when the thread that started it ends. */
#ifndef WORKER_PROCESS_H
#define WORKER_PROCESS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WORKER_PROCESS_OWN_PROGRAM "/proc/self/exe"
#define WORKER_PROCESS_SOCKET_FD 3 /* in the worker: SOCK_STREAM */
#define WORKER_PROCESS_MAX_FDS 64

/* Sanitizers reserve terabytes and make system calls of their own: where they are compiled in,
 * memory is not limited and system calls are not filtered. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WORKER_PROCESS_IS_SANITIZED true
#elif defined(__has_feature)
#define WORKER_PROCESS_IS_SANITIZED                                                                \
	(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define WORKER_PROCESS_IS_SANITIZED false
#endif

struct worker_process_opts {
	const char *program; /* NULL: /proc/self/exe */
	const char *command; /* argv[1] */
	char *const *envp; /* NULL: an empty environment */
	uint64_t max_data_bytes; /* RLIMIT_DATA; 0: as ours */
};

struct worker_process {
	pid_t pid; /* 0: none, or it has ended and was waited for */
	int socket; /* our end, owned; -EBADF when closed */
	int status; /* as waitpid(2) gives it, once it has ended */
	uint64_t cpu_ns; /* that it took, once it has ended */
	uint64_t max_data_bytes; /* that it was started with */
};

#define WORKER_PROCESS_NONE ((struct worker_process){ .socket = -EBADF })

struct worker_process_usage {
	uint64_t cpu_ns;
	uint64_t resident_bytes; /* 0 once it has ended */
};

/* Returns when the program runs. Errors: what socketpair(2), clone(2) and execve(2) say;
 * -ENOMEM. */
int worker_process_start(const struct worker_process_opts *opts, struct worker_process *ret_worker)
	must_check;

/* Whether it has ended; does not wait. True when there is none. */
bool worker_process_has_ended(struct worker_process *worker);

/* Kills it and closes the socket; returns whether it has ended. It may not have after
 * `timeout_ns` when it hangs in the kernel: call again later, then. */
bool worker_process_stop(struct worker_process *worker, uint64_t timeout_ns);

/* Has the kernel take back the memory of a worker that was killed and has not ended. Errors:
 * -ENOSYS before Linux 5.15; what else pidfd_open(2) and process_mrelease(2) say. */
int worker_process_release_memory(const struct worker_process *worker) must_check;

/* Lets it have so many seconds of CPU time from now on, and one more; 0: no limit. Then the
 * kernel ends it by SIGXCPU. Where that is refused it has none. */
void worker_process_limit_cpu(const struct worker_process *worker, uint64_t nr_seconds);

struct worker_process_usage worker_process_get_usage(const struct worker_process *worker);

#endif

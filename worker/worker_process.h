/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a worker: this program with an argument for its task (`flamelet symbol-worker`), at the
 * other end of a socket pair.
 *
 * A worker starts with descriptors 0 and 1 on /dev/null, our descriptor 2,
 * WORKER_PROCESS_SOCKET_FD, and no others. No signal is blocked or ignored. It has a session of its
 * own, so that Ctrl-C does not reach it; no new privileges, no core files, and few descriptors; a
 * lower priority; and the OOM killer prefers it. It is killed when the thread that started it
 * ends. */
#ifndef WORKER_PROCESS_H
#define WORKER_PROCESS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WORKER_PROCESS_OWN_PROGRAM "/proc/self/exe"
#define WORKER_PROCESS_SOCKET_FD 3 /* in the worker: SOCK_STREAM */
#define WORKER_PROCESS_MAX_FDS 64

/* Sanitizers reserve terabytes and make system calls of their own. With sanitizers, memory is not
 * limited and system calls are not filtered. */
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
	uint64_t max_fds; /* RLIMIT_NOFILE; 0: WORKER_PROCESS_MAX_FDS */
};

struct worker_process {
	pid_t pid; /* 0: none, or it has ended */
	int socket; /* our end, owned; -EBADF when closed */
	int status; /* of waitpid(2), once it has ended */
	uint64_t cpu_ns; /* used, once it has ended */
	uint64_t max_data_bytes; /* limit that it was started with */
};

#define WORKER_PROCESS_NONE ((struct worker_process){ .socket = -EBADF })

struct worker_process_usage {
	uint64_t cpu_ns;
	uint64_t resident_bytes; /* 0 once it has ended */
};

/* Returns once the program runs. Errors: those of socketpair(2), clone(2) and execve(2);
 * -ENOMEM. */
int worker_process_start(const struct worker_process_opts *opts, struct worker_process *ret_worker)
	must_check;

/* Returns whether the worker has ended, without waiting. True if there is none. */
bool worker_process_has_ended(struct worker_process *worker);

/* Kills the worker and closes the socket. Returns whether it ended within `timeout_ns`. If not, it
 * hangs in the kernel and the caller calls again later. */
bool worker_process_stop(struct worker_process *worker, uint64_t timeout_ns);

/* Makes the kernel reclaim the memory of a killed worker that has not ended. Errors: -ENOSYS before
 * Linux 5.15; other errors of pidfd_open(2) and process_mrelease(2). */
int worker_process_release_memory(const struct worker_process *worker) must_check;

/* Limits the worker's CPU time from now on to that many seconds and one more; 0: no limit. At the
 * limit, the kernel ends it with SIGXCPU. If the limit cannot be set, there is none. */
void worker_process_limit_cpu(const struct worker_process *worker, uint64_t nr_seconds);

struct worker_process_usage worker_process_get_usage(const struct worker_process *worker);

#endif

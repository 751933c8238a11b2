/* SPDX-License-Identifier: Apache-2.0 */
/* The server's own process. It reads what others wrote, so it can do little else: it cannot write
 * files, run programs, or open sockets. The process that started it passes signals on to it, and
 * cleans up when it has ended.
 *
 *	ui_process_start() ─▶ the child: ui_process_confine(), then it serves until `stop_fd`
 *	                   ─▶ the parent: ui_process_wait() */
#ifndef UI_UI_PROCESS_H
#define UI_UI_PROCESS_H

#include "base/err.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Of memory; for the largest answer, its profile and the compressed answer. */
#define UI_PROCESS_MAX_BYTES (UINT64_C(4) << 30)

struct ui_process {
	pid_t pid; /* of the child; in the child itself 0 */
	int stop_fd; /* owned; readable when the server is to end */
	sigset_t signals; /* that end it; blocked */
};

#define UI_PROCESS_NONE ((struct ui_process){ .stop_fd = -EBADF })

struct ui_process_end {
	int status; /* with which it exited */
	int signal; /* that killed it; 0: it exited */
};

/* Starts a child, and returns in both. SIGINT, SIGTERM and SIGHUP are blocked from now on, and
 * SIGPIPE is ignored; SIGHUP stays ignored if it was (nohup(1)). The child is killed when the
 * parent ends. The process must have one thread. Errors: those of signalfd(2) and fork(2). */
int ui_process_start(struct ui_process *ret_process) must_check;
void ui_process_done(struct ui_process *process);

/* Confines this process permanently; it must have set no_new_privs. It can only read the record:
 * the given directories and files (ui_files.h). If the kernel has no Landlock, it can read others,
 * too. Its memory is limited to UI_PROCESS_MAX_BYTES, or less if it was already. Errors: those of
 * prctl(2), setrlimit(2) and ui_files_confine(). */
int ui_process_confine(const char *const *paths, size_t nr_paths) must_check;

/* Waits until the child has ended, and passes on signals meanwhile. */
void ui_process_wait(const struct ui_process *process, struct ui_process_end *ret_end);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The command of `record -- CMD`: started, but held before its first
 * instruction until sampling runs. */
#ifndef AGENT_CHILD_H
#define AGENT_CHILD_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct child {
	pid_t pid; /* 0: none */
	int hold_fd; /* owned; closing it lets the command go */
	bool has_exited;
	int status; /* as waitpid(2) gives it, once it has */
};

#define CHILD_NONE ((struct child){ .hold_fd = -EBADF })

/* Starts the command and holds it. `args` ends with NULL; the program is looked up in PATH. With
 * `stdout_to_stderr` its output goes to standard error. `preload` is a library that is put in front
 * of its libraries (LD_PRELOAD); NULL: none. Errors: those of fork(2) and pipe(2). */
int child_start(char *const *args, bool stdout_to_stderr, const char *preload,
		struct child *ret_child) must_check;

/* Lets the command run, if there is one. Errors: -EPIPE if it is gone. */
int child_release(struct child *child) must_check;

/* Returns whether the command has ended, without waiting. False if there is none. */
bool child_has_exited(struct child *child);

/* Returns whether it has ended because there is no such program; standard error has a message. */
bool child_was_not_found(const struct child *child);

/* Kills a command that was never released, and closes the descriptor. */
void child_done(struct child *child);

#endif

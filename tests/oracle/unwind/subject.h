/* SPDX-License-Identifier: Apache-2.0 */
/* The program under test: a command in a process group of its own, with nothing to read and
 * nobody to read what it writes. */
#ifndef TESTS_UNWIND_SUBJECT_H
#define TESTS_UNWIND_SUBJECT_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct subject {
	pid_t group; /* the command itself, and its process group */
	pid_t pid; /* whom to look at */
	uint64_t start_ns;
};

/* Looks at the command itself, or (`part` is not NULL) at the busiest process of its group that has
 * this text in its command line: a browser has more renderers than the one with the page. Errors:
 * -ESRCH none within 20 seconds, what fork(2) says. */
int subject_start(char *const *command, const char *part, struct subject *ret_subject) must_check;

/* Returns whether the subject still runs. */
bool subject_is_alive(const struct subject *subject);

/* Ends all of the group, if it was not done before. */
void subject_stop(struct subject *subject);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The process that test_unwind.c samples: the test program itself, started anew with an argument,
 * in functions that are compiled as programs usually are, without frame pointers. Each has a
 * section of its own, so that its bounds are known. */
#ifndef TESTS_BPF_KERNEL_SUBJECT_H
#define TESTS_BPF_KERNEL_SUBJECT_H

#include <sys/types.h>

/* X(name) */
#define SUBJECT_FUNCTIONS(X)                                                                       \
	X(spin)                                                                                    \
	X(obey)                                                                                    \
	X(inner)                                                                                   \
	X(middle)                                                                                  \
	X(outer)                                                                                   \
	X(recurse)                                                                                 \
	X(descend)                                                                                 \
	X(read_zeros)                                                                              \
	X(burn_in_handler)                                                                         \
	X(handle_alarm)                                                                            \
	X(load_plugin)                                                                             \
	X(become_subject)                                                                          \
	X(main)

#define SUBJECT(name) __attribute__((noinline, section("subject_" #name)))

/* Begins with "main" when the program was started as a subject: does not return then. */
void become_subject(int argc, char **argv);

/* Starts one. It goes from main() by outer(), middle() and inner() into what the mode says:
 *
 *	spin	spin(), where SIGUSR1 makes it fork, and SIGUSR2 call execve(2) with the same mode
 *	deep	recurse() N times, then spin()
 *	signal	spin(), and soon a signal handler on a stack of its own that never returns
 *	calls	system calls in read_zeros()
 *	plugin	spin(), where SIGUSR1 makes it load the plugin whose path is the argument, and spin there
 */
pid_t subject_start(const char *mode, const char *argument);
void subject_stop(pid_t pid);

#endif

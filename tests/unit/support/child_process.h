/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that a test's workers are. */
#ifndef TESTS_UNIT_CHILD_PROCESS_H
#define TESTS_UNIT_CHILD_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

/* A child of this process that calls itself `name`; 0: there is none. */
pid_t find_child(const char *name);

/* Starts a thread that sends `signal` to that child when it has been there for
 * `delay_ns`; ends with it. */
void signal_child_later(const char *name, int signal, uint64_t delay_ns);

/* Fails unless a process has no capabilities, can gain none, and has a filter of system calls. */
void assert_unprivileged(pid_t pid);

#endif

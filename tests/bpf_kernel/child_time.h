/* SPDX-License-Identifier: Apache-2.0 */
/* Waits by the CPU time of a child instead of the clock, because a busy machine leaves a
 * child little of its time. */
#ifndef TESTS_BPF_KERNEL_CHILD_TIME_H
#define TESTS_BPF_KERNEL_CHILD_TIME_H

#include <stdint.h>
#include <sys/types.h>

/* Returns when the child has used that much more CPU time, or after 60 s. */
void child_time_wait(pid_t pid, uint64_t cpu_ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Processes with a JIT compiler's list, in a directory like /proc. */
#ifndef TESTS_UNIT_JIT_PROCESS_H
#define TESTS_UNIT_JIT_PROCESS_H

#include <stdint.h>

/* Writes PID/name, anew if it is there. */
void jit_process_write(int proc_fd, uint32_t pid, const char *name, const char *text);

/* Makes a process whose own pid is 7 and whose root has a /tmp, with a perf
 * map unless `map` is NULL. */
void jit_process_put(int proc_fd, uint32_t pid, const char *map);

#endif

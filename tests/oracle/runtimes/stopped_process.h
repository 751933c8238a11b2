/* SPDX-License-Identifier: Apache-2.0 */
/* A process with a language runtime, as the kernel side's unwinder sees it: with what the agent
 * would have told of its mappings and of the runtime. A program has one. */
#ifndef TESTS_ORACLE_STOPPED_PROCESS_H
#define TESTS_ORACLE_STOPPED_PROCESS_H

#include "runtime/runtime.h"
#include "tests/bpf_host/tracee.h"

/* Reads the mappings of a process of this mount namespace, makes the row tables of its files, and
 * inspects its runtime. `memory_fd` is of /proc/PID/mem, borrowed. Errors: -ENOENT it has none that
 * is ready; -ENOSPC too many mappings; -ENOMEM; what reading /proc says. */
int stopped_process_read(const struct runtime_ops *ops, const char *pid, int memory_fd) must_check;

/* Unwinds a thread of it. The frames are in fake_event(). Returns an enum unwind_result. */
int stopped_process_unwind(const struct tracee_registers *registers);

/* Returns what names of the process's frames need; see runtime_ops.name(). */
const uint64_t *stopped_process_naming(void);

#endif
